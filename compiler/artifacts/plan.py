"""The plan: which steps run together, which of them are replicated, and how tuples get from one to the next.

A plan is data with its reasons. The selector writes it, `dfc explain` prints it, code generation only reads it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps that one thread runs as a fused chain.

    kind: `read` (the sources), `keyed` (replicated, divided by the key of its first step), `farm`
    (replicated, stateless) or `single`. Segments are numbered so that edges go forward.
    """

    number: int
    kind: str
    steps: tuple[str, ...]
    why: str

    @property
    def replicated(self) -> bool:
        return self.kind in ("keyed", "farm")


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream from a step of one segment to an input of a step of another.

    routing: `key` (by the hash of the consumer's key), `deal` (blocks of events in turn), `all` (to
    every replica) or `one`.
    markers: `event` (each watermark in order with the tuples) or `round` (the last one of a round).
    onward: the stream goes through a segment that only puts it in order; this edge takes it on from there.
    """

    number: int
    producer: str
    consumer: str
    port: int
    source: int
    target: int
    routing: str
    markers: str
    onward: int | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """The alternate of an operator that runs, and why."""

    operator: str
    alternate: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    segments: tuple[Segment, ...]
    edges: tuple[Edge, ...]
    alternates: tuple[Alternative, ...]
    stores: tuple[tuple[str, str], ...]  # windowed step → how its windows are kept, and why
    buffered: tuple[str, ...]  # steps whose inputs can meet in one event, and wait for its end

    def segment_of(self, step: str) -> Segment:
        return next(segment for segment in self.segments if step in segment.steps)


def to_text(plan: Plan) -> str:
    """The plan, a line a decision."""
    lines = [f"segment {s.number} {s.kind}: {', '.join(s.steps)}  -- {s.why}" for s in plan.segments]
    lines += [f"edge {e.number}: {e.producer} -> {e.consumer}[{e.port}] from {e.source} to {e.target}, "
              f"routing {e.routing}, watermarks by {e.markers}" for e in plan.edges]
    lines += [f"alternate {a.operator} = {a.alternate}  -- {a.why}" for a in plan.alternates]
    lines += [f"store {step}: {how}" for step, how in plan.stores]
    lines += [f"buffered {step}" for step in plan.buffered]
    return "".join(line + "\n" for line in lines)


def verify(plan: Plan) -> None:
    """Every step is in one segment; edges go forward and end in the segments of their steps."""
    placed = [step for segment in plan.segments for step in segment.steps]
    assert len(placed) == len(set(placed)), "a step stands in two segments"
    assert all(s.number == i for i, s in enumerate(plan.segments)), "segments are not numbered in order"
    second = {edge.onward for edge in plan.edges}
    for edge in plan.edges:
        assert edge.source < edge.target, f"edge {edge.number} does not go forward"
        begins = edge.producer in plan.segments[edge.source].steps
        assert begins or edge.number in second, f"edge {edge.number} begins elsewhere"
        ends = edge.consumer in plan.segments[edge.target].steps
        assert ends or edge.onward is not None, f"edge {edge.number} ends elsewhere"
