"""From operators to the whole program: a pipeline is as fast as its busiest thread, and all share the cores.

In the generated program emitters and collectors need no threads of their own: the segment before routes, or keeps the
tuples; the segment after restores the order. So their work is added to those threads. Links are bounded, so a slow
stage slows all before it down (backpressure): one rate holds for the whole program. Sources that are parsed ahead have
a thread for that, which the reader helps where it can.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.parts import divided
from ..artifacts.plan import Segment, Sharing
from ..patterns import PATTERNS
from ..patterns.crowding import TUPLES, counting, handing, lost, workers_of
from ..patterns.load import SECOND, Load, Machine, Prediction, Stage, fastest, kingman
from .collecting import freely_collected
from .costs import DEFAULT
from .reading import helping, in_blocks
from .segments import Crossing, segments_of
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
    shared: tuple[Sharing, ...] = ()
    along: frozenset[str] = frozenset()  # stateless steps that could be farmed out of the segment they run along in
    cuts: dict = field(default_factory=dict, compare=False)  # what `cut` has found

    def cut(self, patterns: Mapping[str, typed.Pattern]) -> tuple[tuple[Segment, ...], dict[Crossing, int]]:
        """The segments that these patterns give, and the relays between them. Degrees are the predictions' to say."""
        return self._cut(patterns)[0]

    def freely_collected(self, patterns: Mapping[str, typed.Pattern]) -> frozenset[str]:
        """Steps whose results, with these patterns, are all taken as they come."""
        return self._cut(patterns)[1]

    def _cut(self, patterns: Mapping[str, typed.Pattern]) -> tuple:
        patterns = self.cutting(patterns)
        shape = tuple((name, one.name, one.style, one.merge, (one.merge_workers or 1) > 1, one.reduce)
                      for name, one in sorted(patterns.items()))
        if shape not in self.cuts:
            parts = divided(self.graph, patterns)
            cut = segments_of(parts, self.shared, patterns)
            self.cuts[shape] = (cut, freely_collected(parts, *cut))
        return self.cuts[shape]

    def cutting(self, patterns: Mapping[str, typed.Pattern]) -> dict[str, typed.Pattern]:
        """Those that say where a step runs: what is not farmed out, though it could be, stays where it stands."""
        return {name: one for name, one in patterns.items() if one.name != "sequential" or name not in self.along}

    def sharing(self, unit: str) -> tuple[str, ...]:
        """The windows that take their panes from this one."""
        return next((one.others for one in self.shared if one.first == unit), ())

    def unit(self, name: str) -> Unit:
        return next(unit for unit in self.units if unit.name == name)


def costly(loads: Mapping[str, StepLoad], segments: tuple[Segment, ...], machine: Machine) -> frozenset[str]:
    """Stateless steps that are known to cost more than passing their tuples to workers and back, and run along with
    others: those of a farm are farmed out as they are."""
    passing = machine.emit + machine.take + machine.collect
    return frozenset(name for segment in segments if segment.kind != "farm" for name in segment.steps
                     if loads[name].function.stateless and loads[name].cost.origin != DEFAULT
                     and loads[name].load.costs.tuple > passing)


def units_of(loads: Mapping[str, StepLoad], segments: tuple[Segment, ...], apart: Collection[str]) -> tuple[Unit, ...]:
    """`apart`: steps that may have another pattern than what they run along with."""
    found: list[Unit] = []
    for segment in segments:
        alone = [name for name in segment.steps
                 if name in apart or segment.kind == "single" and loads[name].function.windowed]
        if segment.replicated:
            first, *others = segment.steps
            found.append(_unit(loads, segment.number, (first, *_behind(loads, others, apart))))
            alone = [name for name in alone if name != first]
        found += [_unit(loads, segment.number, (name,)) for name in alone]
    return tuple(found)


def _behind(loads: Mapping[str, StepLoad], steps: Iterable[str], apart: Collection[str]) -> Iterator[str]:
    """Those that run along with the first step of their segment, whatever patterns the others have."""
    away = set()
    for name in steps:
        if name in apart or not away.isdisjoint(loads[name].step.inputs):
            away.add(name)
        else:
            yield name


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
        costs = replace(costs, window=costs.window + extra, merge=costs.merge + extra,
                        whole=costs.whole + extra if costs.whole else 0.0)
    return Unit(steps[0], segment, replace(head.load, costs=costs), head.tuples_in, steps)


def predict_units(model: Model, patterns: Mapping[str, typed.Pattern]) -> dict[str, Prediction]:
    free = model.freely_collected(patterns)
    return {name: PATTERNS[pattern.name].cost(replace(model.unit(name).load, ordered=name not in free), model.machine,
                                              pattern) for name, pattern in patterns.items()}


# --- one thread -------------------------------------------------------------------------------------


def fused(model: Model, patterns: Mapping[str, typed.Pattern]) -> Whole:
    """Everything in one thread, by calls."""
    work = sum(load.work for load in model.loads.values())
    chosen = predict_units(model, patterns)
    stages = (Stage("the one thread", 1, work, work),)
    longest = max((unit.load.ending for unit in model.units), default=0.0)
    queue = 0.0 if model.wanted is None else kingman(model.wanted * work / SECOND, 1.0, 0.0, max(longest, work))
    own = {unit.name: unit.load.costs.tuple + (unit.load.at_once + 1) / 2 * unit.load.ending for unit in model.units}
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
    chosen = predict_units(model, patterns)
    threads = _Threads(model, chosen)
    stages = threads.stages()
    a_tuple, limit = fastest(stages, model.machine.cores)
    running = sum(stage.threads for stage in stages)
    if running > model.machine.cores:
        a_tuple += _lost(model, chosen, running)
    memory = sum(one.memory for one in chosen.values())
    memory += model.machine.link_bytes * max(0, len(threads.segments) - 1)
    latency = _longest_way(model, {name: one.latency for name, one in chosen.items()}, threads.hop)
    return Whole(STAGED, chosen, stages, SECOND / a_tuple if a_tuple else float("inf"), limit, latency, memory)


def _lost(model: Model, chosen: Mapping[str, Prediction], running: int) -> float:
    """For each tuple, where so many threads share the cores: by what each pattern hands its workers, and of what goes
    from thread to thread besides. Blocks of CSV are so large that handing them over does not count."""
    counting_one = replace(model, machine=counting(model.machine))
    counted = predict_units(counting_one, {name: one.pattern for name, one in chosen.items()})
    threads, machine = _Threads(model, chosen), model.machine
    between = _work(_Threads(counting_one, counted).stages()) - _work(threads.stages())
    between += sum(one.tuples_in for one in model.loads.values() if one.parsing > 0 and not in_blocks(one.step))
    total = 0.0
    for name in sorted(threads.parallel):
        own = (_work(counted[name].stages) - _work(chosen[name].stages)) * model.unit(name).tuples_in
        pattern, between = chosen[name].pattern, between - own
        total += own * lost(machine, handing(pattern), workers_of(pattern), running)
    return total + max(0.0, between) * lost(machine, TUPLES, 1, running)


def _work(stages: Iterable[Stage]) -> float:
    return sum(stage.work for stage in stages)


class _Threads:
    """The work of each thread for one tuple that is read, gathered segment by segment: as the plan cuts the program."""

    def __init__(self, model: Model, chosen: Mapping[str, Prediction]):
        self.model, self.chosen = model, chosen
        self.segments, self.relays = model.cut({name: one.pattern for name, one in chosen.items()})
        self.home = {name: segment for segment in self.segments for name in segment.steps}
        self.parallel = {name for name, one in chosen.items()
                         if one.pattern.name != "sequential" and self._divides(name)}
        self.found = {segment.number: Stage(_thread_name(segment), 1, 0.0, 0.0) for segment in self.segments}
        self.parsers = {name: load.parsing for name, load in model.loads.items() if load.parsing > 0}
        self._steps()
        self._patterns()
        self._edges()

    def stages(self) -> tuple[Stage, ...]:
        reader, *others = self.found.values()
        blocks = [name for name in self.parsers if in_blocks(self.model.graph.step(name))]
        most = helping(reader.work, [self.parsers[name] for name in blocks])
        left = {name: min(work, most) if name in blocks else work for name, work in self.parsers.items()}
        helped = reader.work + sum(self.parsers.values()) - sum(left.values())
        return (replace(reader, work=helped, peak=helped), *others,
                *(Stage(f"the parser of {name}", 1, work, work) for name, work in left.items()))

    def hop(self, before: str, after: str) -> float:
        """Time from thread to thread; the ways into and out of a pattern are in its own prediction."""
        counted = after in self.parallel or self._unit_of(before) is not None
        return 0.0 if counted or self.home[before] is self.home[after] else self.model.machine.hop

    def _divides(self, name: str) -> bool:
        """Not where another pattern draws a stateless step into the thread that feeds it."""
        return self.home[name].replicated or f"{name}.windows" in self.home

    def _unit_of(self, step: str) -> str | None:
        """Whose workers run a step; also of one that runs along since it reads what they give."""
        home = self.home[step]
        return next((name for name in sorted(self.parallel) if step in self.model.unit(name).steps
                     or home.replicated and home is self.home[name]), None)

    def _add(self, segment: int, work: float) -> None:
        old = self.found[segment]
        self.found[segment] = replace(old, work=old.work + work, peak=old.peak + work / old.threads)

    def _steps(self) -> None:
        within = {step for name in self.parallel for step in self.model.unit(name).steps}
        for name, load in self.model.loads.items():
            if name not in within:
                self._add(self.home[name].number, load.beside)

    def _patterns(self) -> None:
        """Workers have segments of their own; what one thread does for a pattern it does besides its other work."""
        for name in sorted(self.parallel):
            tuples = self.model.unit(name).tuples_in
            for stage in self.chosen[name].stages:
                place = self._place(name, stage.name)
                if place is not None and stage.name in ("emitter", "reduce", "collector"):
                    self._add(place, stage.work * tuples)
                elif place is not None:
                    self.found[place] = _joined(name, stage, tuples, self.found[place].work)

    def _place(self, name: str, stage: str) -> int | None:
        """The segment of a stage; None for what the threads before and after do."""
        keeping, work = self.home.get(f"{name}.windows"), self.home.get(f"{name}.work")
        match stage:
            case "emitter":
                return keeping.number if keeping else None
            case "collector":
                return None if self.home[name].replicated else self.home[name].number
            case "merge workers":
                return self.home[name].number
            case "reduce":
                return self.home[f"{name}.reduced"].number
            case "second workers":
                return self.home[f"{name}.second"].number
            case "merge emitter":
                return self.relays[f"{name}.work", name]
        return (work or self.home[name]).number

    def _edges(self) -> None:
        for step in self.model.graph.steps:
            for name in step.inputs:
                target = self.home.get(f"{step.name}.windows", self.home[step.name])
                if self.home[name] is not target:
                    self._edge(name, step.name, target)

    def _edge(self, before: str, after: str, target: Segment) -> None:
        tuples, machine = self.model.loads[before].tuples_out, self.model.machine
        routed = after in self.parallel and f"{after}.windows" not in self.home
        self._add(self.home[before].number, self._stage(after, "emitter") if routed else tuples * machine.emit)
        unit = self._unit_of(before)
        if unit is not None and self.home[unit].replicated:
            self._add(target.number, self._stage(unit, "collector"))
        elif not routed:
            self._add(target.number, tuples * machine.taking())
        if (before, after) in self.relays:
            self._add(self.relays[before, after], tuples * (machine.taking() + machine.emit))

    def _stage(self, unit: str, name: str) -> float:
        tuples = self.model.unit(unit).tuples_in
        return sum(stage.work for stage in self.chosen[unit].stages if stage.name == name) * tuples


def _joined(name: str, stage: Stage, tuples: float, along: float) -> Stage:
    """The workers of a pattern; steps that run along with them are divided as their own work is."""
    work = stage.work * tuples
    share = stage.peak / stage.work if stage.work else 1 / stage.threads
    return Stage(f"{name} ({stage.name})", stage.threads, work + along, stage.peak * tuples + along * share)


def _thread_name(segment: Segment) -> str:
    if segment.kind == "read":
        return "the reader"
    return f"the thread of {', '.join(segment.steps)}" if segment.steps else f"segment {segment.number}"
