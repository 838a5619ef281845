"""The choice: of all layouts and patterns that apply the one that fits the goals, and the table of the others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ...dsl import typed
from ...dsl.settings import MOST_WORKERS
from ...dsl.span import NOWHERE
from ..artifacts.graph import Graph
from ..artifacts.plan_file import PlanFile
from ..artifacts.profile import Keys, Profile
from ..patterns import PATTERNS
from ..patterns.completed import completions, degrees_up_to
from ..patterns.forced import why_not
from ..patterns.load import Machine
from .compose import Model, Unit, Whole, costly, fused, staged, units_of
from .segments import segments_of
from .sharing import shared_windows
from .traffic import entered_once, loads_of, wanted_rate

WORTH = 1.05  # what a thread more must at least gain when no rate is known
LEAVING = 1.2  # what threads must promise over one thread: its own prediction is sure, theirs is within 20 %
_SEQUENTIAL = typed.Pattern("sequential", NOWHERE)
_SHARING = ("sequential", "key_partitioning")
_ELASTIC = ("sequential", "farm", "key_partitioning")  # what differs in the number of workers only
_SHORTENING = ("pane_farming", "window_partitioning", "nesting")  # a result comes sooner than one worker has a window
_ROUNDS = 2
_UNBOUNDED = 1e6
_FASTEST, _SURE = "the highest throughput", "nothing promises 20 % more, which predictions may be off by"
_SAME = 0.05  # goals that are missed by nearly as much are missed alike


@dataclass(frozen=True, slots=True)
class Request:
    """What the user gives: cores, a profile, forced patterns, a plan file. taken: the program is built as chosen, since
    somebody asked for that. elastic: a controller has the number of workers. this_machine: nobody said how many cores.
    """

    cores: int = 1
    profile: Profile | None = None
    forced: Mapping[str, typed.Pattern] = field(default_factory=dict)
    keys: Mapping[str, Keys] = field(default_factory=dict)
    routing: str = "hash"
    file: PlanFile | None = None
    taken: bool = True
    elastic: bool = False
    this_machine: bool = False

    @property
    def fixed(self) -> bool:
        """Whether the plan has the patterns and degrees that are chosen."""
        return self.taken and not self.elastic


@dataclass(frozen=True, slots=True)
class Goals:
    """wanted: tuples a second that must be taken. latency: nanoseconds. Weights are those of the program."""

    wanted: float | None
    latency: float | None
    weight_rate: float = 1.0
    weight_latency: float = 1.0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One pattern for one operator: the best settings, what the program would do with them, why it was not taken
    ('' for the one that was)."""

    pattern: typed.Pattern
    whole: Whole | None
    applies: bool
    chosen: bool
    why: str


@dataclass(frozen=True, slots=True)
class Choice:
    model: Model
    goals: Goals
    best: Whole
    rows: Mapping[str, tuple[Row, ...]]
    why: str
    needed: str  # what would be needed when the goals are not met
    request: Request = field(default_factory=Request, compare=False)

    @property
    def forced(self) -> frozenset[str]:
        """Operators whose pattern was asked for."""
        return frozenset(self.request.forced)


# --- goals ------------------------------------------------------------------------------------------


def goals_of(program: typed.Program, wanted: float | None) -> Goals:
    """The goals that a plan can be judged by. Without any, the rate of the sources is what must be met."""
    notes: list[str] = []
    latency, ratio, weights = None, 1.0, {"latency": 1.0, "throughput": 1.0}
    for goal in program.goals:
        weights[goal.metric] = goal.weight
        if goal.metric == "latency":
            latency = min(goal.bound, latency or math.inf)
            if goal.statistic not in ("", "mean"):
                notes.append(f"the model predicts mean latency; the goal for {goal.statistic} is compared with that")
        elif goal.metric == "throughput":
            ratio = goal.bound
            if wanted is None:
                notes.append("the rate of the sources is not known, so the throughput goal can't be judged: "
                             "give a profile with rates")
    return Goals(None if wanted is None else wanted * ratio, latency, weights["throughput"], weights["latency"],
                 tuple(notes))


def violation(whole: Whole, goals: Goals) -> float:
    """How far the goals are missed; 0 when they are met."""
    missed = 0.0
    if goals.wanted is not None:
        missed += goals.weight_rate * max(0.0, goals.wanted / whole.rate - 1)
    if goals.latency is not None:
        over = whole.latency / goals.latency - 1
        missed += goals.weight_latency * min(max(0.0, over), _UNBOUNDED)
    return missed


def better(one: Whole, other: Whole, goals: Goals) -> bool:
    """First the goals; then, when the rate is known, fewer threads; else more throughput, if it is worth a thread."""
    left, right = violation(one, goals), violation(other, goals)
    if abs(left - right) > _SAME * max(left, right):
        return left < right
    if goals.wanted is None or left > 0:
        if one.rate > WORTH * other.rate or other.rate > WORTH * one.rate:
            return one.rate > other.rate
    if one.threads != other.threads:
        return one.threads < other.threads
    mine, its = min(one.latency, 1e30), min(other.latency, 1e30)
    if abs(mine - its) > 0.01 * max(mine, its):
        return mine < its
    return one.memory < other.memory


def _leaves(many: Whole, one: Whole, goals: Goals) -> bool:
    """Whether a layout with more threads is to be preferred to one without: to one thread, or without a pattern."""
    surely = violation(one, goals) > 0 or goals.wanted is not None or many.rate > LEAVING * one.rate
    return surely and better(many, one, goals)


# --- search -----------------------------------------------------------------------------------------


def choose_patterns(graph: Graph, request: Request) -> Choice:
    model, goals = model_of(graph, request)
    best = _search(model, goals, request)
    rows = {unit.name: tuple(_rows(model, goals, request, unit, best)) for unit in model.units}
    return Choice(model, goals, best, rows, _why(model, goals, request, best, rows),
                  _needed(graph, request, goals, best), request)


def model_of(graph: Graph, request: Request) -> tuple[Model, Goals]:
    shared, _ = shared_windows(graph, request.forced)
    segments, _ = segments_of(graph, shared, {})
    loads = entered_once(loads_of(graph, request.profile, request.keys), shared)
    wanted = wanted_rate(graph, request.profile)
    machine = machine_of(request)
    along = costly(loads, segments, machine) - set(request.forced)
    units = units_of(loads, segments, along | set(request.forced))
    return Model(graph, loads, segments, units, machine, wanted, shared, along), goals_of(graph.program, wanted)


def machine_of(request: Request) -> Machine:
    """As measured, else as usual. A controller also moves keys, so that they are even."""
    measured = request.profile.machine if request.profile else {}
    costs = {name.removesuffix("_ns"): value for name, value in measured.items() if name != "clock_ns"}
    return Machine(cores=request.cores, routing="balanced" if request.elastic else request.routing,
                   crowded=request.profile.crowded if request.profile else {}, **costs)


def _search(model: Model, goals: Goals, request: Request) -> Whole:
    """One thread against the best layout with many. Operators are improved one after the other, twice."""
    start = {unit.name: request.forced.get(unit.name, _SEQUENTIAL) for unit in model.units}
    allowed = {unit.name: tuple(_candidates(model, request, unit)) for unit in model.units}
    patterns = dict(start)
    for _ in range(_ROUNDS):
        for unit in model.units:
            patterns[unit.name] = _best_pattern(model, goals, patterns, unit, allowed[unit.name])[0]
    many = staged(model, patterns)
    if any(pattern.name != "sequential" for pattern in request.forced.values()):
        return many
    one = fused(model, {unit.name: _SEQUENTIAL for unit in model.units})
    return many if _leaves(many, one, goals) else one


def _candidates(model: Model, request: Request, unit: Unit) -> Iterator[typed.Pattern]:
    """What applies to a unit; of a forced pattern its open settings only."""
    forced, function = request.forced.get(unit.name), model.loads[unit.name].function
    if forced is not None:
        yield from completions(unit.load, function, forced, model.machine.cores)
        return
    for name, module in PATTERNS.items():
        if module.applies(function) is None and (name in _ELASTIC or not request.elastic):
            yield from _all_configurations(model, unit, name)


def _all_configurations(model: Model, unit: Unit, name: str) -> Iterator[typed.Pattern]:
    """Windows that share their panes stay together: only what divides them by their keys can be chosen for all."""
    function = model.loads[unit.name].function
    if model.sharing(unit.name) and name not in _SHARING:
        return
    for workers in ([1] if name == "sequential" else degrees_up_to(model.machine.cores)):
        for pattern in PATTERNS[name].configurations(unit.load, workers):
            if why_not(function, pattern) is None:
                yield pattern


def _best_pattern(model: Model, goals: Goals, patterns: Mapping[str, typed.Pattern], unit: Unit,
                  candidates: Iterable[typed.Pattern]) -> tuple[typed.Pattern, Whole | None]:
    """The best for one unit while the others stay. Workers must promise as much over none as threads over one."""
    alone: tuple[typed.Pattern, Whole | None] = (patterns[unit.name], None)
    best = alone
    for pattern in candidates:
        whole = staged(model, {**patterns, unit.name: pattern})
        if pattern.name == "sequential":
            alone = (pattern, whole)
        elif best[1] is None or better(whole, best[1], goals):
            best = (pattern, whole)
    return alone if best[1] is None or alone[1] is not None and not _leaves(best[1], alone[1], goals) else best


# --- the table --------------------------------------------------------------------------------------


def _rows(model: Model, goals: Goals, request: Request, unit: Unit, best: Whole) -> Iterator[Row]:
    function = model.loads[unit.name].function
    taken = {name: one.pattern for name, one in best.patterns.items()}
    forced = request.forced.get(unit.name)
    for name, module in PATTERNS.items():
        refused = module.applies(function)
        if refused is not None:
            yield Row(typed.Pattern(name, NOWHERE), None, False, False, f"does not apply: {refused}")
            continue
        if taken[unit.name].name == name:
            yield Row(taken[unit.name], best, True, True, "")
            continue
        candidates = tuple(_all_configurations(model, unit, name))
        if not candidates and model.sharing(unit.name):
            yield Row(typed.Pattern(name, NOWHERE), None, True, False,
                      f"would have to give up the panes that it shares with {', '.join(model.sharing(unit.name))}")
            continue
        if not candidates:
            yield Row(typed.Pattern(name, NOWHERE), None, True, False,
                      f"has no configuration within {model.machine.cores} core{'s' * (model.machine.cores > 1)}")
            continue
        if name == "sequential":
            pattern, whole = _SEQUENTIAL, _alone(model, goals, taken, unit)
        else:
            pattern, whole = _best_pattern(model, goals, taken, unit, candidates)
        why = "another pattern is forced" if forced else _why_not(whole, best, goals)
        if request.elastic and name not in _ELASTIC:
            why = "not taken where a controller has the number of workers; `--cores` or `--pattern` takes it"
        yield Row(pattern, whole, True, False, why)


def _alone(model: Model, goals: Goals, taken: Mapping[str, typed.Pattern], unit: Unit) -> Whole:
    """The operator without a pattern: in a thread of its own, or, if no other has a pattern, all in one thread."""
    others = [name for name, pattern in taken.items() if name != unit.name and pattern.name != "sequential"]
    many = staged(model, {**taken, unit.name: _SEQUENTIAL})
    if others:
        return many
    one = fused(model, {other.name: _SEQUENTIAL for other in model.units})
    return many if _leaves(many, one, goals) else one


def _why_not(whole: Whole, best: Whole, goals: Goals) -> str:
    """In what `best` is better."""
    if violation(whole, goals) > violation(best, goals) * (1 + _SAME) + 1e-3:
        return _missed(whole, goals)
    slower = whole.rate * WORTH < best.rate
    if slower and goals.wanted is None:
        return f"gives {whole.rate / best.rate:.0%} of the throughput"
    if whole.threads > best.threads and WORTH * best.rate < whole.rate and goals.wanted is None:
        return f"{whole.rate / best.rate - 1:.0%} more, by a prediction that may be off by 20 %"
    if whole.threads > best.threads:
        return f"no gain for {whole.threads - best.threads} more threads"
    if slower:
        return f"gives {whole.rate / best.rate:.0%} of the throughput"
    if whole.latency > 1.01 * best.latency:
        return f"the same throughput, {whole.latency / best.latency:.1f} times the latency"
    return "no better, and needs more memory" if whole.memory > best.memory else "no better"


def _missed(whole: Whole, goals: Goals) -> str:
    if goals.latency is not None and not whole.latency <= goals.latency:
        return f"misses the latency goal: {time_text(whole.latency)} instead of {time_text(goals.latency)}"
    return f"does not take the rate: {rate_text(whole.rate)} instead of {rate_text(goals.wanted or 0)}"


# --- reasons ----------------------------------------------------------------------------------------


def _why(model: Model, goals: Goals, request: Request, best: Whole, rows: Mapping[str, tuple[Row, ...]]) -> str:
    met = violation(best, goals) == 0
    if best.layout == "fused" and goals.wanted is not None and met:
        return f"one thread is enough: it takes {rate_text(best.rate)}, and {rate_text(goals.wanted)} are wanted"
    if best.layout == "fused" and model.machine.cores == 1:
        return "there is one core: threads would only add the cost of passing tuples between them"
    limit = "the cores are" if best.limit == "cores" else f"{best.limit} is"
    if goals.wanted is not None and met:
        return f"the fewest threads that meet the goals{_within(request)}; {limit} the next limit, " \
               f"at {rate_text(best.rate)}"
    what = _ahead(goals, best, _weighed(model, request, best, rows)) if met else "the nearest to the goals"
    if best.layout == "fused" and what in (_FASTEST, _SURE):
        return "no layout with threads promises 20 % more: passing tuples costs what parallel work gains"
    return f"{what}{_within(request)}; {limit} the limit, at {rate_text(best.rate)}"


def _ahead(goals: Goals, best: Whole, others: list[Whole]) -> str:
    """What the chosen layout has before the others, where the rate of the sources is not known and goals are met."""
    keeping = [one for one in others if violation(one, goals) == 0]
    if any(one.rate > WORTH * best.rate for one in keeping):
        return _SURE
    if all(one.rate <= WORTH * best.rate for one in others):
        return _FASTEST
    return f"{_FASTEST} that keeps the latency goal" if keeping else "the only one that keeps the latency goal"


def _weighed(model: Model, request: Request, best: Whole, rows: Mapping[str, tuple[Row, ...]]) -> list[Whole]:
    """What else could have been: other patterns where none is forced, one thread, and threads without patterns."""
    found = [row.whole for name in rows if name not in request.forced for row in rows[name]
             if row.whole is not None and not row.chosen and (row.pattern.name in _ELASTIC or not request.elastic)]
    alone = {unit.name: _SEQUENTIAL for unit in model.units}
    if all(pattern.name == "sequential" for pattern in request.forced.values()):
        found.append(staged(model, alone) if best.layout == "fused" else fused(model, alone))
    return found


def _within(request: Request) -> str:
    return " with what is forced" if request.forced else " of what a controller can have" if request.elastic else ""


def _needed(graph: Graph, request: Request, goals: Goals, best: Whole) -> str:
    """What would meet the goals when these cores do not: the fewest cores, or what stands in the way."""
    if violation(best, goals) < 1e-3:
        return ""
    everything = replace(request, cores=MOST_WORKERS)
    model, _ = model_of(graph, everything)
    too_slow = _too_slow(model, everything, goals)
    if too_slow:
        rate = replace(goals, latency=None)
        enough = _enough_cores(graph, request, rate) if violation(best, rate) >= 1e-3 else None
        return too_slow + (f"; {enough[0]} cores would take the rate{_how(enough[1])}" if enough else "")
    enough = _enough_cores(graph, request, goals)
    if enough is not None:
        return f"{enough[0]} cores would meet the goals{_how(enough[1])}"
    whole = _search(model, goals, everything)
    return f"more cores alone do not meet the goals: with {MOST_WORKERS} it is {rate_text(whole.rate)} and " \
           f"{time_text(whole.latency)}; the limit is {whole.limit}"


def _too_slow(model: Model, request: Request, goals: Goals) -> str:
    """Where a result takes longer than the latency goal though nobody waits: then no number of cores helps. Says whose
    windows it is that take so long."""
    if goals.latency is None:
        return ""
    idle = replace(model, wanted=None, units=tuple(replace(unit, load=replace(unit.load, rate=None))
                                                   for unit in model.units))
    shortest = _search(idle, Goals(None, goals.latency), request)
    if shortest.latency <= goals.latency:
        return ""
    said = f"no number of cores meets the latency goal of {time_text(goals.latency)}: a result takes " \
           f"{time_text(shortest.latency)} when none waits"
    slowest = max(shortest.patterns, key=lambda name: shortest.patterns[name].latency, default=None)
    return said if slowest is None else f"{said}, {_whose(model, request, shortest, slowest)}"


def _whose(model: Model, request: Request, shortest: Whole, name: str) -> str:
    """Of the shortest latency the part of one operator, and why it is no shorter."""
    one, function = shortest.patterns[name], model.loads[name].function
    what = f"{time_text(one.latency)} of it one {'window' if function.windowed else 'tuple'} of {name}"
    if name in request.forced:
        return f"{what} with {_short(one.pattern)}, which is forced"
    divides = not request.elastic and any(PATTERNS[pattern].applies(function) is None for pattern in _SHORTENING)
    return f"{what} with {_short(one.pattern)}" if divides else f"{what}, which no pattern that applies divides"


def _how(whole: Whole) -> str:
    patterns = ", ".join(f"{name}: {_short(one.pattern)}" for name, one in whole.patterns.items()
                         if one.pattern.name != "sequential")
    return f" ({patterns or 'a thread for each segment'})"


def _enough_cores(graph: Graph, request: Request, goals: Goals) -> tuple[int, Whole] | None:
    """The fewest cores that meet the goals, and how; first in large steps, then in the last of them one by one."""
    below = request.cores
    for cores in (n for n in degrees_up_to(MOST_WORKERS) if n > request.cores):
        if violation(_on(graph, request, goals, cores), goals) < 1e-3:
            for fewer in range(below + 1, cores + 1):
                whole = _on(graph, request, goals, fewer)
                if violation(whole, goals) < 1e-3:
                    return fewer, whole
        below = cores
    return None


def _on(graph: Graph, request: Request, goals: Goals, cores: int) -> Whole:
    """The best layout for so many cores."""
    more = replace(request, cores=cores)
    return _search(model_of(graph, more)[0], goals, more)


def _short(pattern: typed.Pattern) -> str:
    degrees = [str(n) for n in (pattern.workers, pattern.merge_workers, pattern.inner_workers) if n is not None]
    return pattern.name + (":" + ",".join(degrees) if degrees else "")


def rate_text(rate: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.3g} {unit}/s"
    return f"{rate:.3g}/s"


def time_text(nanoseconds: float) -> str:
    if math.isinf(nanoseconds):
        return "without end"
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"
