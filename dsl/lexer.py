"""Text to tokens. The grammar's terminals say what a token is; which words are keywords is left open,
because it depends on the place: the parser asks `Vocabulary.terminal`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .span import Span

if TYPE_CHECKING:
    from lark import Lark

RESERVED = frozenset(("and", "or", "not", "if", "then", "else", "true", "false"))

WORD, BAD, END = "NAME", "BAD", "$END"
OPEN_SETTINGS = "_OPEN_SETTINGS"

# What no terminal takes, cut so that a message can name the whole of it: an open string, a string in
# single quotes, a number with something attached, operators of other languages, any other character.
_BAD = r"""'[^'\n]*'?|"[^\n]*|[0-9][\w.]*|&&|\|\||[^\W\d]\w*|(?s:.)"""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of text: a word (`kind` is NAME, whatever it will mean), a literal, punctuation, BAD or $END."""

    kind: str
    text: str
    offset: int
    line: int
    column: int
    first_on_line: bool

    @property
    def end_column(self) -> int:
        return self.column + len(self.text)

    def span(self, file: str) -> Span:
        return Span(file, self.line, self.column, self.line, self.end_column)


@dataclass(frozen=True, slots=True)
class Comment:
    """`// …` without the line's end; `own_line` when nothing but space stands before it."""

    text: str
    line: int
    column: int
    own_line: bool


class Vocabulary:
    """The terminals of the grammar: one expression that finds tokens, and the names of the words."""

    def __init__(self, grammar: Lark):
        from lark.lexer import PatternStr

        strings = {t.pattern.value: t.name for t in grammar.terminals if isinstance(t.pattern, PatternStr)}
        patterns = sorted((t for t in grammar.terminals if not isinstance(t.pattern, PatternStr)),
                          key=lambda terminal: -terminal.priority)
        self.keywords = {text: name for text, name in strings.items() if text.isidentifier()}
        self.punctuation = {text: name for text, name in strings.items() if text not in self.keywords}
        self.spelling = {**{name: text for text, name in strings.items()}, OPEN_SETTINGS: "{"}
        marks = sorted(self.punctuation, key=len, reverse=True)
        self._token = re.compile("|".join([
            *(f"(?P<{terminal.name}>{terminal.pattern.to_regexp()})" for terminal in patterns),
            f"(?P<MARK>{'|'.join(map(re.escape, marks))})", f"(?P<{BAD}>{_BAD})"]))

    def terminal(self, lexeme: Lexeme, fits: Callable[[str], bool]) -> str:
        """What the lexeme is at a place: a word is a keyword only where that keyword fits."""
        if lexeme.kind == OPEN_SETTINGS and not fits(OPEN_SETTINGS):  # after a name that is spelt `pattern`
            return self.punctuation["{"]
        if lexeme.kind != WORD:
            return lexeme.kind
        keyword = self.keywords.get(lexeme.text)
        if keyword and (lexeme.text in RESERVED or fits(keyword)):
            return keyword
        return WORD

    def read(self, text: str) -> tuple[list[Lexeme], list[Comment]]:
        """All tokens, the last of kind $END, and all comments."""
        lexemes: list[Lexeme] = []
        comments: list[Comment] = []
        line, line_start, fresh = 1, 0, True
        for match in self._token.finditer(text, 1 if text.startswith("\ufeff") else 0):
            kind, piece, column = match.lastgroup, match[0], match.start() - line_start + 1
            if kind == "WHITESPACE":
                if breaks := piece.count("\n"):
                    line, line_start, fresh = line + breaks, match.start() + piece.rindex("\n") + 1, True
                continue
            if kind == "COMMENT":
                comments.append(Comment(piece.rstrip(), line, column, fresh))
                continue
            if kind == "MARK":
                kind = self.punctuation[piece]
            lexemes.append(Lexeme(kind, piece, match.start(), line, column, fresh))
            fresh = False
        lexemes.append(Lexeme(END, "", len(text), line, len(text) - line_start + 1, True))
        return [_in_context(lexeme, lexemes, i) for i, lexeme in enumerate(lexemes)], comments


def _in_context(lexeme: Lexeme, lexemes: list[Lexeme], i: int) -> Lexeme:
    """`pattern farm { workers: 3 }` has settings, `pattern farm { alternate a = … }` none: one token ahead does not
    tell, so the brace is told here."""
    if lexeme.text != "{" or i < 2 or lexemes[i - 2].text != "pattern" or lexemes[i - 1].kind != WORD:
        return lexeme
    empty, setting = lexemes[i + 1].text == "}", lexemes[i + 1].kind == WORD and lexemes[i + 2].text == ":"
    return replace(lexeme, kind=OPEN_SETTINGS) if empty or setting else lexeme
