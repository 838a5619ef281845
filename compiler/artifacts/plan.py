"""The plan: which steps run together, which of them are replicated, and how tuples get from one to the next.

A plan is data with its reasons. The selector writes it, `dfc explain` prints it, code generation only reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...dsl import typed
from .plan_file import PlanFile
from .step_text import pattern_text


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps that one thread runs as a fused chain.

    kind: `read` (the sources), `keyed` (replicated, divided by the key of its first step), `farm`
    (replicated, stateless), `work` (replicated, on windows that another segment keeps), `owners` (every
    replica sees all tuples and has some of the windows) or `single`. Segments are
    numbered so that edges go forward. degree: how many replicas are planned; 0 for what is not replicated.
    behind: of a farm, that others than the reader feed it.
    """

    number: int
    kind: str
    steps: tuple[str, ...]
    why: str
    degree: int = 0
    behind: bool = False

    @property
    def replicated(self) -> bool:
        return self.degree > 0

    @property
    def elastic(self) -> bool:
        """Whether the number of its replicas may change while the program runs: not where each has windows of its own,
        of tuples that all of them see."""
        return self.kind in ("keyed", "farm", "work")

    @property
    def numbered(self) -> bool:
        """Whether it passes on the number of what it got; others number what they put out. A farm that the reader feeds
        has all tuples of an event in one replica, so that it can number them."""
        return self.kind in ("keyed", "work", "owners") or self.kind == "farm" and self.behind


@dataclass(frozen=True, slots=True)
class Edge:
    """A stream from a step of one segment to an input of a step of another.

    routing: `key` (by the hash of the consumer's key), `deal` (blocks of events in turn), `turn` (one tuple after the
    other in turn), `all` (to every replica), `task` (to the worker that the store names) or `one`.
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
class Estimate:
    """What the model predicts: tuples a second, nanoseconds from a window's last tuple to its result, bytes, threads,
    copies of a tuple."""

    rate: float
    latency: float
    memory: float
    threads: int
    replication: float = 1.0


@dataclass(frozen=True, slots=True)
class Decision:
    """The pattern of a step, with all its settings; what is predicted of it; why it was taken; whether by the user."""

    step: str
    pattern: typed.Pattern
    predicted: Estimate
    why: str
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How the whole program runs: `fused` (one thread) or `staged`, for so many cores, with the prediction."""

    kind: str
    cores: int
    predicted: Estimate
    why: str


@dataclass(frozen=True, slots=True)
class Sharing:
    """Windows over one stream that have one index, one group a key and one set of panes. The first of them takes
    the stream for all."""

    steps: tuple[str, ...]
    why: str

    @property
    def first(self) -> str:
        return self.steps[0]

    @property
    def others(self) -> tuple[str, ...]:
        return self.steps[1:]


@dataclass(frozen=True, slots=True)
class Collecting:
    """How a single segment takes what replicas give, where one of its sinks asks for less than the whole order:
    `freely`, as it comes from each of them, or in the order of the sequential program."""

    segment: int
    freely: bool
    why: str


@dataclass(frozen=True, slots=True)
class HeavyKeys:
    """The heaviest keys of a step in its trace, numbers or the texts of symbols, with their shares of all tuples."""

    step: str
    field: str
    keys: tuple[tuple[int | str, float], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    segments: tuple[Segment, ...]
    edges: tuple[Edge, ...]
    alternates: tuple[Alternative, ...]
    stores: tuple[tuple[str, str], ...]  # windowed step → how its windows are kept, and why
    buffered: tuple[str, ...]  # steps whose inputs can meet in one event, and wait for its end
    layout: Layout | None = None  # with `decisions`, when cores, a profile or patterns were given
    decisions: tuple[Decision, ...] = ()
    light: str = ""  # why one thread can do everything but parse, so that a second worker helps to parse; '' when not
    shared: tuple[Sharing, ...] = ()
    forecast: tuple[tuple[str, float], ...] = ()  # weights of the forecaster that were fitted to a trace
    delays: tuple[tuple[str, float], ...] = ()  # source → longest delay of its trace, in seconds
    file: PlanFile | None = None  # what a search found; controllers begin with it
    heavy: tuple[HeavyKeys, ...] = ()  # where keys are divided: those that begin with routes of their own
    collecting: tuple[Collecting, ...] = ()

    def sharing_of(self, step: str) -> Sharing | None:
        return next((one for one in self.shared if step in one.steps), None)

    def collects_freely(self, segment: Segment) -> bool:
        return any(one.freely for one in self.collecting if one.segment == segment.number)

    def segment_of(self, step: str) -> Segment:
        return next(segment for segment in self.segments if step in segment.steps)


def patterns_of(decisions: Iterable[Decision], layout: Layout | None) -> dict[str, typed.Pattern]:
    """The pattern of each operator that has one. Where one thread does everything none has, unless it was asked for:
    `--workers` may still give it threads."""
    staged = layout is not None and layout.kind == "staged"
    return {one.step: one.pattern for one in decisions if staged or one.forced}


def to_text(plan: Plan) -> str:
    """The plan, a line a decision."""
    lines = [f"segment {s.number} {s.kind}{f' x{s.degree}' if s.degree > 1 else ''}: {', '.join(s.steps)}  -- {s.why}"
             for s in plan.segments]
    lines += [f"edge {e.number}: {e.producer} -> {e.consumer}[{e.port}] from {e.source} to {e.target}, "
              f"routing {e.routing}, watermarks by {e.markers}" for e in plan.edges]
    lines += [f"segment {one.segment} collects {'freely' if one.freely else 'in order'}  -- {one.why}"
              for one in plan.collecting]
    lines += [f"alternate {a.operator} = {a.alternate}  -- {a.why}" for a in plan.alternates]
    lines += [f"store {step}: {how}" for step, how in plan.stores]
    lines += [f"shared panes: {', '.join(one.steps)}  -- {one.why}" for one in plan.shared]
    lines += [f"buffered {step}" for step in plan.buffered]
    if plan.layout is not None:
        lines.append(f"layout {plan.layout.kind} on {plan.layout.cores} cores: {_estimate(plan.layout.predicted)}"
                     f"  -- {plan.layout.why}")
    lines += [f"pattern {d.step} = {pattern_text(d.pattern)}: {_estimate(d.predicted)}  -- {d.why}"
              for d in plan.decisions]
    if plan.forecast:
        weights = ", ".join(f"{name} {value:g}" for name, value in plan.forecast)
        lines.append(f"forecast {weights}  -- fitted to the trace")
    if plan.file is not None:
        control = plan.file.control
        lines.append(f"control {control['policy']} every {control['step']:g} s  -- by the plan file")
    lines += [f"delay {source}: up to {delay:g} s  -- in the trace" for source, delay in plan.delays]
    lines += [f"two workers: fused, both parse  -- {plan.light}"] if plan.light else []
    return "".join(line + "\n" for line in lines)


def _estimate(predicted: Estimate) -> str:
    return f"{predicted.rate:.0f} tuples/s, {predicted.latency / 1e3:.1f} us, {predicted.threads} threads"


def verify(plan: Plan) -> None:
    """Every step is in one segment; edges go forward and end in the segments of their steps."""
    placed = [step for segment in plan.segments for step in segment.steps]
    assert len(placed) == len(set(placed)), "a step stands in two segments"
    decided = [decision.step for decision in plan.decisions]
    assert len(decided) == len(set(decided)) and set(decided) <= set(placed), \
        "a decision about no step, or two about one"
    assert all(s.number == i for i, s in enumerate(plan.segments)), "segments are not numbered in order"
    second = {edge.onward for edge in plan.edges}
    for edge in plan.edges:
        assert edge.source < edge.target, f"edge {edge.number} does not go forward"
        begins = edge.producer in plan.segments[edge.source].steps
        assert begins or edge.number in second, f"edge {edge.number} begins elsewhere"
        ends = edge.consumer in plan.segments[edge.target].steps
        assert ends or edge.onward is not None, f"edge {edge.number} ends elsewhere"
    for one in plan.collecting:
        assert plan.segments[one.segment].kind == "single", f"segment {one.segment} is no collector"
        assert not (one.freely and any(edge.source == one.segment for edge in plan.edges)), \
            f"segment {one.segment} collects freely and hands on"
    for one in plan.shared:
        assert len(one.steps) > 1, f"{one.first} shares with nobody"
        assert set(one.steps) <= set(plan.segment_of(one.first).steps), f"{one.steps} are not in one segment"
        assert not any(edge.consumer in one.others for edge in plan.edges), f"{one.first} does not take for all"
