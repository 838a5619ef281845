"""A mistake on its way from the rule that sees it to the node that reports it, and the type that hides followers."""

from __future__ import annotations

from dataclasses import dataclass

from . import typed
from .diagnostics import Note
from .span import Span


@dataclass(frozen=True, slots=True)
class Wrong:
    """The type of an expression whose mistake has been reported; every rule takes it in silence."""

    def __str__(self) -> str:
        return "unknown"


WRONG = Wrong()


class Mistake(Exception):
    """What a `Diagnostic` says. `around` is a fix that wraps the marked text, such as `u64(…)`; `name` is the
    name that was not found, if that is the mistake."""

    def __init__(self, code: str, span: Span, message: str, *, expected: str = "", fix: str = "",
                 around: str = "", notes: tuple[Note, ...] = (), name: str = ""):
        super().__init__(message)
        self.code, self.span, self.message = code, span, message
        self.expected, self.fix, self.around, self.notes, self.name = expected, fix, around, notes, name


def wrong(span: Span) -> typed.Expr:
    """The expression that stands where a mistake was."""
    return typed.Literal(0, WRONG, span)


def is_wrong(*exprs: typed.Expr) -> bool:
    return any(expr.type == WRONG for expr in exprs)
