"""Diagnostics are values: made where a mistake is seen, collected, and rendered last."""

from __future__ import annotations

from dataclasses import dataclass, field

from .span import Span


@dataclass(frozen=True, slots=True)
class Note:
    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`message` says what is wrong, `expected` what would be right, `fix` the text to put in place."""

    code: str
    span: Span
    message: str
    expected: str = ""
    fix: str = ""
    notes: tuple[Note, ...] = ()
    severity: str = "error"


@dataclass(slots=True)
class Diagnostics:
    """The collector that is handed through the stages."""

    items: list[Diagnostic] = field(default_factory=list)

    def add(self, code: str, span: Span, message: str, *, expected: str = "", fix: str = "",
            notes: tuple[Note, ...] = (), severity: str = "error") -> None:
        self.items.append(Diagnostic(code, span, message, expected, fix, notes, severity))

    @property
    def failed(self) -> bool:
        return any(item.severity == "error" for item in self.items)

    def sorted(self) -> list[Diagnostic]:
        return sorted(self.items, key=lambda item: (item.span, item.code))


class ProgramError(Exception):
    """The program is wrong; the diagnostics say where."""

    def __init__(self, diagnostics: Diagnostics):
        super().__init__(diagnostics)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        """A line a diagnostic, for whoever meets this in Python."""
        return "\n".join(f"{one.span}: {one.severity}[{one.code}]: {one.message}" for one in self.diagnostics.sorted())
