"""What the parts of the checker share: the tables of declared names, and the way to report a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, count

from . import typed
from .diagnostics import Diagnostic, Diagnostics, Note
from .mistake import Mistake
from .span import Span
from .suggest import listing, nearest
from .types import Field, Record, Type

# Mistakes that a missing file would explain: unknown streams, records, functions and parameters.
_NAMES = frozenset(("E0101", "E0102", "E0103", "E0309"))


@dataclass(frozen=True, slots=True)
class Signature:
    """A `fn` or `aggregate` of the program, as its callers see it."""

    name: str
    params: tuple[tuple[str, Type], ...]
    result: Type
    span: Span


@dataclass(slots=True)
class Context:
    """The tables grow while declarations are checked; names stand in them even when their check failed."""

    diagnostics: Diagnostics
    texts: dict[str, str]
    records: dict[str, Record] = field(default_factory=dict)
    params: dict[str, typed.Param] = field(default_factory=dict)
    functions: dict[str, Signature] = field(default_factory=dict)
    aggregates: dict[str, Signature] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    places: dict[tuple[str, str], Span] = field(default_factory=dict)  # (kind, name) → declaration
    lost: set[str] = field(default_factory=set)  # names whose declaration could not be read
    broken: set[tuple[str, int]] = field(default_factory=set)  # (file, line) of declarations that can't be read
    incomplete: bool = False  # a file could not be read, so that names may be missing
    used_params: set[str] = field(default_factory=set)
    inferred: dict[str, Record] = field(default_factory=dict)  # in order of appearance
    c_files: dict[str, None] = field(default_factory=dict)  # in order of appearance

    def report(self, mistake: Mistake) -> None:
        if self._follows(mistake):
            return
        item = Diagnostic(mistake.code, mistake.span, mistake.message, mistake.expected,
                          mistake.fix or self._around(mistake), mistake.notes)
        if item not in self.diagnostics.items:
            self.diagnostics.items.append(item)

    def _follows(self, mistake: Mistake) -> bool:
        """Whether another mistake, already reported, explains this one."""
        spans = [mistake.span, *(note.span for note in mistake.notes if note.span)]
        if mistake.name in self.lost or any((span.file, span.line) in self.broken for span in spans):
            return True
        return self.incomplete and bool(mistake.name) and mistake.code in _NAMES

    def warn(self, code: str, span: Span, message: str, *, expected: str = "", notes: tuple[Note, ...] = ()) -> None:
        self.diagnostics.add(code, span, message, expected=expected, notes=notes, severity="warning")

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """A mistake raised inside is reported, and what follows the block goes on."""
        try:
            yield
        except Mistake as mistake:
            self.report(mistake)

    def declared_at(self, kind: str, name: str, message: str = "") -> tuple[Note, ...]:
        """A note that points at a declaration, when there is one."""
        span = self.places.get((kind, name))
        return (Note(message or f"{name} is declared here", span),) if span else ()

    def owner(self, record: str) -> tuple[str, tuple[Note, ...]]:
        """How messages call a record, and where it comes from: nobody knows the names of inferred ones."""
        if record.endswith(".state"):
            return "the state", ()
        if record in self.inferred:
            return "the stream at this point", self.declared_at("record", record, "its fields come from here")
        return record, self.declared_at("record", record)

    def infer(self, step: str, fields: tuple[Field, ...], span: Span) -> Record:
        """A record for a stream that names none: called after its step, unlike every other record."""
        base = "".join(part[:1].upper() + part[1:] for part in step.replace(".", "_").split("_"))
        candidates = chain([base], (f"{base}_{n}" for n in count(2)))
        name = next(name for name in candidates if name not in self.records and name not in self.inferred)
        self.inferred[name] = Record(name, fields)
        self.places["record", name] = span
        return self.inferred[name]

    def written(self, span: Span) -> str:
        """The text of a span on one line, '' when it is not at hand."""
        lines = self.texts.get(span.file, "").split("\n")
        if span.line != span.end_line or span.line > len(lines):
            return ""
        return lines[span.line - 1][span.column - 1: span.end_column - 1]

    def _around(self, mistake: Mistake) -> str:
        text = self.written(mistake.span) if mistake.around else ""
        return mistake.around.replace("{}", text) if text else ""


def unknown(code: str, span: Span, kind: str, name: str, choices: list[str], *, where: str = "",
            notes: tuple[Note, ...] = ()) -> Mistake:
    """`no stream `qoutes``, with the near name and the choices."""
    place = f" in {where}" if where else ""
    return Mistake(code, span, f"no {kind} `{name}`{place}", expected=listing(choices),
                   fix=nearest(name, choices), notes=notes, name=name)
