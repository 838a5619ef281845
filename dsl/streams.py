"""The streams of a program by name, and the steps that make them, while they are being checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import ast, typed
from .context import Context, unknown
from .mistake import Mistake
from .span import Span
from .types import Record


@dataclass(frozen=True, slots=True)
class Stream:
    """What a user of a stream needs to know. `record` is None when a mistake hid it."""

    step: str
    record: Record | None
    unit: str | None
    span: Span
    ports: tuple[str, ...] = ()


LOST = "?"  # the step of a stream that could not be checked


def lost(span: Span) -> Stream:
    """Stands for a stream with a mistake: its users are not troubled with it again."""
    return Stream(LOST, None, None, span)


@dataclass(slots=True)
class Streams:
    """Streams by name (also `op.port`) and the steps so far, inputs before users."""

    context: Context
    by_name: dict[str, Stream] = field(default_factory=dict)
    declared: dict[str, tuple[str, Span]] = field(default_factory=dict)  # name → what it is, where
    steps: list[typed.Step] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def add(self, name: str, inputs: tuple[str, ...], body: typed.Body | None, record: Record | None,
            unit: str | None, span: Span) -> Stream:
        """A step and the stream it makes; without a body or record (a mistake) only the stream."""
        if LOST in inputs:
            return lost(span)
        if body is not None and record is not None:
            self.steps.append(typed.Step(name, inputs, body, record, unit, span))
        return Stream(name, record, unit, span)

    def find(self, ref: ast.StreamRef) -> Stream:
        """The stream that is referred to; a mistake is reported and gives a lost one."""
        try:
            return self._find(ref)
        except Mistake as mistake:
            self.context.report(mistake)
            return lost(ref.span)

    def _find(self, ref: ast.StreamRef) -> Stream:
        name = ref.name.text
        self.used.add(name)
        kind, span = self.declared.get(name, ("", None))
        if not kind:
            choices = [n for n, (k, _) in self.declared.items() if k != "sink"]
            raise unknown("E0101", ref.name.span, "stream", name, choices)
        if kind == "sink":
            raise Mistake("E0116", ref.name.span, f"`{name}` is a sink: what goes in does not come out",
                          expected="the stream that the sink takes", notes=self.context.declared_at("stream", name))
        stream = self.by_name.get(name) or lost(span)
        return self._port(stream, ref) if ref.port or stream.ports else stream

    def _port(self, stream: Stream, ref: ast.StreamRef) -> Stream:
        name, notes = ref.name.text, self.context.declared_at("stream", ref.name.text)
        if ref.port is None:
            raise Mistake("E0118", ref.span, f"`{name}` has several outputs", fix=f"{name}.{stream.ports[0]}",
                          expected=" or ".join(f"{name}.{port}" for port in stream.ports), notes=notes)
        if stream.record is None:
            return stream
        if not stream.ports:
            raise Mistake("E0118", ref.port.span, f"`{name}` has one output and no ports", expected=name, notes=notes)
        if ref.port.text not in stream.ports:
            raise unknown("E0118", ref.port.span, "port", ref.port.text, list(stream.ports), where=name, notes=notes)
        return self.by_name[f"{name}.{ref.port.text}"]


def written_name(ref: ast.StreamRef) -> str:
    """The name that qualifies the stream's fields in a join."""
    return f"{ref.name.text}.{ref.port.text}" if ref.port else ref.name.text
