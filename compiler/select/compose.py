"""From operators to the whole program: a pipeline is as fast as its busiest thread, and all share the cores.

In the generated program a pattern has no emitter and collector threads of its own: the segment before it routes, the
segment after it restores the order. So their work is added to those threads. Links are bounded, so a slow
stage slows all before it down (backpressure): one rate holds for the whole program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.plan import Segment
from ..patterns import PATTERNS
from ..patterns.load import SECOND, Load, Machine, Prediction, Stage, fastest, kingman
from .traffic import StepLoad

FUSED, STAGED = "fused", "staged"


@dataclass(frozen=True, slots=True)
class Unit:
    """A step that can have a pattern, with the stateless steps that run behind it in its segment."""

    name: str
    segment: int
    load: Load
    tuples_in: float
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A program's prediction. rate: tuples a second from all sources; latency: the longest way to a sink."""

    layout: str
    patterns: Mapping[str, Prediction]
    stages: tuple[Stage, ...]
    rate: float
    limit: str
    latency: float
    memory: float

    @property
    def threads(self) -> int:
        return sum(stage.threads for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that predictions of one program are made from."""

    graph: Graph
    loads: Mapping[str, StepLoad]
    segments: tuple[Segment, ...]
    units: tuple[Unit, ...]
    machine: Machine
    wanted: float | None

    def unit(self, name: str) -> Unit:
        return next(unit for unit in self.units if unit.name == name)


def units_of(loads: Mapping[str, StepLoad], segments: tuple[Segment, ...]) -> tuple[Unit, ...]:
    found: list[Unit] = []
    for segment in segments:
        if segment.replicated:
            found.append(_unit(loads, segment.number, segment.steps))
        elif segment.kind == "single":
            found += [_unit(loads, segment.number, (name,)) for name in segment.steps if loads[name].function.windowed]
    return tuple(found)


def _unit(loads: Mapping[str, StepLoad], segment: int, steps: tuple[str, ...]) -> Unit:
    """What runs behind the first step is paid for each of its results."""
    head = loads[steps[0]]
    behind = sum(loads[name].work for name in steps[1:])
    results = head.tuples_in / head.load.slide
    extra = behind / results if results else 0.0
    costs = head.load.costs
    if not head.function.windowed:
        costs = replace(costs, tuple=costs.tuple + extra)
    else:
        costs = replace(costs, window=costs.window + extra, merge=costs.merge + extra)
    return Unit(steps[0], segment, replace(head.load, costs=costs), head.tuples_in, steps)


def predict_unit(model: Model, unit: Unit, pattern: typed.Pattern) -> Prediction:
    return PATTERNS[pattern.name].cost(unit.load, model.machine, pattern)


# --- one thread -------------------------------------------------------------------------------------


def fused(model: Model, patterns: Mapping[str, typed.Pattern]) -> Whole:
    """Everything in one thread, by calls."""
    work = sum(load.work for load in model.loads.values())
    chosen = {name: predict_unit(model, model.unit(name), pattern) for name, pattern in patterns.items()}
    stages = (Stage("the one thread", 1, work, work),)
    longest = max((unit.load.costs.window for unit in model.units), default=0.0)
    queue = 0.0 if model.wanted is None else kingman(model.wanted * work / SECOND, 1.0, 0.0, max(longest, work))
    own = {unit.name: unit.load.costs.tuple + unit.load.costs.window for unit in model.units}
    latency = _longest_way(model, own) + queue
    memory = sum(unit.load.store_bytes for unit in model.units)
    return Whole(FUSED, chosen, stages, SECOND / work if work else float("inf"), stages[0].name, latency, memory)


def _longest_way(model: Model, own: Mapping[str, float], hop: Callable[[str, str], float] = lambda *_: 0.0) -> float:
    """The largest sum of latencies from a source to a sink. `own` has the units; other steps take their work."""
    ends: dict[str, float] = {}
    for step in model.graph.steps:
        costs = model.loads[step.name].load.costs
        before = max((ends[name] + hop(name, step.name) for name in step.inputs), default=0.0)
        ends[step.name] = before + own.get(step.name, costs.tuple + costs.window)
    return max(ends.values())


# --- many threads -----------------------------------------------------------------------------------


def staged(model: Model, patterns: Mapping[str, typed.Pattern]) -> Whole:
    """A thread for each segment, several where a pattern says so."""
    chosen = {name: predict_unit(model, model.unit(name), pattern) for name, pattern in patterns.items()}
    threads = _Threads(model, chosen)
    stages = threads.stages()
    a_tuple, limit = fastest(stages, model.machine.cores)
    memory = sum(one.memory for one in chosen.values())
    memory += model.machine.link_bytes * max(0, len(model.segments) - 1)
    latency = _longest_way(model, {name: one.latency for name, one in chosen.items()}, threads.hop)
    return Whole(STAGED, chosen, stages, SECOND / a_tuple if a_tuple else float("inf"), limit, latency, memory)


class _Threads:
    """The work of every thread for one tuple that is read, gathered segment by segment."""

    def __init__(self, model: Model, chosen: Mapping[str, Prediction]):
        self.model, self.chosen = model, chosen
        self.home = {name: segment for segment in model.segments for name in segment.steps}
        self.parallel = {name for name, one in chosen.items() if one.pattern.name != "sequential"}
        self.own = {segment.number: 0.0 for segment in model.segments}
        self.extra: dict[str, float] = {}  # unit → work that its workers do for their neighbours
        self._steps()
        self._edges()

    def stages(self) -> tuple[Stage, ...]:
        found = [Stage(_thread_name(segment), 1, self.own[segment.number], self.own[segment.number])
                 for segment in self.model.segments if self._has_thread(segment)]
        for name in sorted(self.parallel):
            found += self._workers(name)
        return tuple(found)

    def hop(self, before: str, after: str) -> float:
        """Time from thread to thread; the ways into and out of a pattern are in its own prediction."""
        counted = after in self.parallel or self._unit_of(before) is not None
        return 0.0 if counted or self.home[before] is self.home[after] else self.model.machine.hop

    def _has_thread(self, segment: Segment) -> bool:
        return not segment.replicated or not segment.steps or segment.steps[0] not in self.parallel

    def _steps(self) -> None:
        within = {step for name in self.parallel for step in self.model.unit(name).steps}
        for name, load in self.model.loads.items():
            if name not in within and name in self.home:
                self.own[self.home[name].number] += load.work

    def _edges(self) -> None:
        machine = self.model.machine
        for step in self.model.graph.steps:
            for name in step.inputs:
                if not self._crosses(name, step.name):
                    continue
                tuples = self.model.loads[name].tuples_out
                sent = self._stage(step.name, "emitter") if step.name in self.parallel else tuples * machine.emit
                self._charge(name, sent)
                if step.name not in self.parallel:
                    unit = self._unit_of(name)
                    self._charge(step.name, self._stage(unit, "collector") if unit else tuples * machine.take)

    def _crosses(self, before: str, after: str) -> bool:
        return self.home[before] is not self.home[after] or after in self.parallel or self._unit_of(before) is not None \
            and self._unit_of(before) != self._unit_of(after)

    def _unit_of(self, step: str) -> str | None:
        return next((name for name in self.parallel if step in self.model.unit(name).steps), None)

    def _charge(self, step: str, work: float) -> None:
        unit = self._unit_of(step)
        if unit is None:
            self.own[self.home[step].number] += work
        else:
            self.extra[unit] = self.extra.get(unit, 0.0) + work

    def _stage(self, unit: str, name: str) -> float:
        tuples = self.model.unit(unit).tuples_in
        return sum(stage.work for stage in self.chosen[unit].stages if stage.name == name) * tuples

    def _workers(self, name: str) -> list[Stage]:
        tuples, extra = self.model.unit(name).tuples_in, self.extra.get(name, 0.0)
        inner = [stage for stage in self.chosen[name].stages if stage.name not in ("emitter", "collector")]
        return [Stage(f"{name} ({stage.name})", stage.threads,
                      stage.work * tuples + (extra if stage is inner[-1] else 0.0),
                      stage.peak * tuples + (extra / stage.threads if stage is inner[-1] else 0.0)) for stage in inner]


def _thread_name(segment: Segment) -> str:
    if segment.kind == "read":
        return "the reader"
    return f"the thread of {', '.join(segment.steps)}" if segment.steps else f"segment {segment.number}"
