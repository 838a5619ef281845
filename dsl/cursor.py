"""A place inside a declaration that is being parsed: what can come next, and the step forward.

Lark's own answer (`choices`) is imprecise, since LALR merges states; `fits` follows the reductions and is
exact. It decides which words are keywords, where a declaration ends, and what a message says was expected.
"""

from __future__ import annotations

from typing import Any

from .grammar import Grammar
from .lexer import END, Lexeme


class Cursor:
    def __init__(self, grammar: Grammar, parser: Any = None):
        self._grammar = grammar
        self._parser = parser or grammar.lark.parse_interactive()

    def fits(self, terminal: str) -> bool:
        """Can the terminal stand here? Runs the reductions it asks for on a copy of the top of the stack."""
        state = self._parser.parser_state
        table, end, shift = state.parse_conf.states, state.parse_conf.end_state, self._grammar.shift
        stack, kept, pushed = state.state_stack, len(state.state_stack), []
        top = stack[-1]
        while step := table[top].get(terminal):
            action, rule = step
            if action is shift:
                return True
            missing = len(rule.expansion) - len(pushed)
            del pushed[max(0, -missing):]
            kept -= max(0, missing)
            below = pushed[-1] if pushed else stack[kept - 1]
            top = table[below][rule.origin.name][1]
            if terminal == END and top == end:
                return True
            pushed.append(top)
        return False

    def expected(self) -> set[str]:
        """All terminals that can stand here."""
        return {name for name in self._parser.choices() if name.isupper() and self.fits(name)}

    def takes(self, lexeme: Lexeme) -> bool:
        return self.fits(self._terminal(lexeme))

    def advance(self, lexeme: Lexeme) -> bool:
        """One token forward, if it fits."""
        terminal = self._terminal(lexeme)
        if not self.fits(terminal):
            return False
        self._parser.feed_token(self._grammar.token(
            terminal, lexeme.text, lexeme.offset, lexeme.line, lexeme.column, lexeme.line,
            lexeme.end_column, lexeme.offset + len(lexeme.text)))
        return True

    def _terminal(self, lexeme: Lexeme) -> str:
        return self._grammar.vocabulary.terminal(lexeme, self.fits)

    def retract(self) -> None:
        """Take the last token back. Exact when another one of the same kind of literal follows."""
        self._parser.parser_state.state_stack.pop()
        self._parser.parser_state.value_stack.pop()

    def after(self, lexeme: Lexeme) -> Cursor:
        """A second cursor one token further, which must fit; this one stays."""
        further = Cursor(self._grammar, self._parser.copy(deepcopy_values=False))
        further.advance(lexeme)
        return further

    def finish(self) -> Any:
        """The parse tree of the declaration; $END must fit."""
        return self._parser.feed_eof()
