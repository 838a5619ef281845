"""Text to untyped tree. Never raises: mistakes become diagnostics, and the next declaration is read."""

from __future__ import annotations

from dataclasses import replace

from . import ast
from .cursor import Cursor
from .diagnostics import Diagnostics
from .grammar import Grammar, load_grammar
from .lexer import BAD, END, WORD, Comment, Lexeme
from .span import Span
from .syntax_errors import MAX_MISTAKES, Place, begins_next, explain, opens_declaration, too_many
from .tree_builder import TreeBuilder


def parse(text: str, file: str, diagnostics: Diagnostics) -> ast.Program:
    """The tree of all declarations that are well formed."""
    return parse_with_comments(text, file, diagnostics)[0]


def parse_with_comments(text: str, file: str, diagnostics: Diagnostics) -> tuple[ast.Program, list[Comment]]:
    grammar = load_grammar()
    lexemes, comments = grammar.vocabulary.read(text)
    end = lexemes[-1]
    declarations = _Reader(grammar, lexemes, file, diagnostics).declarations()
    return ast.Program(declarations, Span(file, 1, 1, end.line, end.column)), comments


class _Reader:
    """Reads declaration after declaration. Every mistake moves the position on, so reading is linear."""

    def __init__(self, grammar: Grammar, lexemes: list[Lexeme], file: str, diagnostics: Diagnostics):
        self.grammar = grammar
        self.lexemes = lexemes
        self.file = file
        self.diagnostics = diagnostics
        self.position = 0
        self.mistakes = 0

    def declarations(self) -> tuple[ast.Decl, ...]:
        found = []
        while self.lexemes[self.position].kind != END:
            declaration = self._declaration()
            if declaration:
                found.append(declaration)
        return tuple(found)

    def _declaration(self) -> ast.Decl | None:
        """The declaration at the position; the position moves behind it, or behind its mistake."""
        start, cursor = self.position, Cursor(self.grammar)
        while True:
            lexeme = self.lexemes[self.position]
            if lexeme.kind != END and cursor.advance(lexeme):
                self.position += 1
            elif lexeme.text == ">=" and cursor.fits("GT"):  # `text<32>= "…"`
                cursor.advance(replace(lexeme, kind="GT", text=">"))
                self.lexemes[self.position] = replace(
                    lexeme, kind=self.grammar.vocabulary.punctuation["="], text="=", offset=lexeme.offset + 1,
                    column=lexeme.column + 1)
            elif self._is_over(cursor, start):
                break
            elif lexeme.kind == END and self.position == start:  # a stray mark was all there was
                return None
            elif not self._mend(self._place(cursor, start)):
                self._skip(start)
                break
        if not cursor.fits(END):
            return None
        return TreeBuilder(self.file, self.diagnostics).build(cursor.finish())

    def _is_over(self, cursor: Cursor, start: int) -> bool:
        """The declaration is complete, and the next one opens here."""
        lexeme = self.lexemes[self.position]
        if not cursor.fits(END):
            return False
        if lexeme.kind == END or opens_declaration(lexeme):
            return True
        return self.mistakes < MAX_MISTAKES and begins_next(self._place(cursor, start))

    def _place(self, cursor: Cursor, start: int) -> Place:
        return Place(cursor, self.grammar.vocabulary, self.lexemes, start, self.position, self.file)

    def _mend(self, place: Place) -> bool:
        """Report the mistake, and put right what leaves no doubt about what was meant."""
        self.mistakes += 1
        if self.mistakes > MAX_MISTAKES:
            if self.mistakes == MAX_MISTAKES + 1:
                too_many(place.span, self.diagnostics)
            return False
        finding = explain(place)
        self.diagnostics.add(finding.code, finding.span, finding.message, expected=finding.expected,
                             fix=finding.fix, notes=finding.notes)
        for _ in range(finding.back):
            place.cursor.retract()
        if finding.instead is None:
            return False
        self.position -= finding.back
        self.lexemes[self.position:place.position + 1] = finding.instead
        return True

    def _skip(self, start: int) -> None:
        """Go on at the next line that looks like a declaration: the mistake's own line may be one, when
        something is not closed before it."""
        line = self.lexemes[self.position].line
        while self.position > start + 1 and self.lexemes[self.position - 1].line == line:
            self.position -= 1
        self.position = max(self.position, start + 1)
        while not self._looks_like_declaration():
            self.position += 1

    def _looks_like_declaration(self) -> bool:
        """Inside of a broken declaration the word may also be a field's name, at the start of its line."""
        lexeme = self.lexemes[self.position]
        if lexeme.kind == END:
            return True
        if not (lexeme.first_on_line and opens_declaration(lexeme)):
            return False
        following = self.lexemes[self.position + 1]
        return lexeme.column == 1 or following.kind in (WORD, "STRING", BAD) or following.text == "{"
