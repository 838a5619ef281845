"""Tables of the simulation: throughput and latency by degree, and how far each pattern scales (002 Tab. 4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...dsl import typed
from ..artifacts.profile import Keys
from ..patterns import PATTERNS
from ..patterns.forced import why_not
from ..patterns.function import Function
from ..patterns.load import Load, Machine
from ..select.traffic import key_shares, skewed, with_heaviest
from .patterns import Played, Scene, play

SCENARIOS = {"uniform": None, "0.03": 0.03, "0.16": 0.16}  # share of the heaviest key
_RESULTS, _MOST_RESULTS, _MOST_TUPLES = 1500, 40_000, 40_000
_SLIDE = 20  # tuples of a slide that are told apart
_AT_ONCE = 1000  # results of one tuple, at most: of one that has more a part is played at a time
_DEGREES = ("workers", "merge_workers", "inner_workers")
_SETTINGS = (*_DEGREES, "batch", "schedule", "style", "merge", "reduce", "partition", "outer")
_HALF_LOAD = 0.5  # of what it can take, where latency is measured and no rate is known


@dataclass(frozen=True, slots=True)
class Operator:
    """What is simulated: the load, with the work of the threads before and after it, and of the one that parses for
    the thread before it, which that one may help. `alone`: the work before it where everything is one thread. `free`:
    patterns whose results are taken as they come. `forced`: the pattern that it must have, with what is open in it."""

    name: str
    function: Function
    load: Load
    keys: Keys
    before: float
    after: float
    parsing: float = 0.0
    helps: bool = False
    alone: float | None = None
    free: frozenset[str] = frozenset()
    forced: typed.Pattern | None = None


@dataclass(frozen=True, slots=True)
class Point:
    degree: int
    pattern: typed.Pattern
    rate: float
    scaling: float
    latency: float
    at_rate: float  # where latency was measured
    model_rate: float
    threads: int


def scenario_keys(count: int, name: str) -> Keys:
    heaviest = SCENARIOS.get(name)
    if heaviest is None and name != "uniform":
        heaviest = float(name)
    return skewed(count, 0.0) if heaviest is None else with_heaviest(count, heaviest)


def with_keys(operator: Operator, keys: Keys) -> Operator:
    spread = sum(share * share for share in key_shares(keys))
    return replace(operator, keys=keys, load=replace(operator.load, keys=keys.count, p_max=keys.p_max, spread=spread))


def played_patterns(operator: Operator) -> dict[str, str | None]:
    """Every pattern that applies, or the forced one, with the routing of its keys: key partitioning in both ways."""
    found: dict[str, str | None] = {}
    applying = (name for name, module in PATTERNS.items()
                if module.applies(operator.function) is None and name != "sequential")
    for name in applying if operator.forced is None else (operator.forced.name,):
        if name == "key_partitioning":
            found |= {"key_partitioning": "hash", "key_partitioning, balanced": "balanced"}
        else:
            found[name] = None
    return found


def series(operator: Operator, title: str, routing: str | None, machine: Machine, degrees: Sequence[int],
           rate: float | None = None, seed: int = 1) -> list[Point]:
    """A pattern for each degree. Scaling is measured against one worker."""
    machine = replace(machine, routing=routing or machine.routing)
    name = title.split(",")[0]
    alone = _configuration(_with_open_degrees(operator), name, machine, 1)
    one = play(_scene(operator, machine, alone, None, seed)) if alone is not None else None
    points: list[Point] = []
    for degree in degrees:
        pattern = _configuration(operator, name, machine, degree)
        if pattern is None:
            continue
        full = one if pattern == alone else play(_scene(operator, machine, pattern, None, seed))
        at = rate if rate is not None else _HALF_LOAD * full.rate
        slow = play(_scene(operator, machine, pattern, at, seed)) if at < full.rate else None
        model = PATTERNS[name].cost(operator.load, machine, pattern)
        shown = degree if operator.forced is None else degree_of(pattern)
        points.append(Point(shown, pattern, full.rate, full.rate / (one or full).rate,
                            slow.latency if slow else float("inf"), at, model.rate, full.threads))
    return points


def degree_of(pattern: typed.Pattern) -> int | None:
    """All workers of a pattern; None where their number is open."""
    if pattern.name == "sequential":
        return 1
    if pattern.workers is None:
        return None
    return pattern.workers * (pattern.inner_workers or 1) + (pattern.merge_workers or 0)


def _with_open_degrees(operator: Operator) -> Operator:
    if operator.forced is None:
        return operator
    return replace(operator, forced=replace(operator.forced, **dict.fromkeys(_DEGREES)))


def _configuration(operator: Operator, name: str, machine: Machine, degree: int) -> typed.Pattern | None:
    """The settings that the model thinks best for so many workers. A degree beyond the bound of key partitioning is
    played too: that it brings nothing is what the table shows."""
    found = [one for one in _configurations(operator, name, machine, degree) if why_not(operator.function, one) is None]
    return max(found, key=lambda one: PATTERNS[name].cost(operator.load, machine, one).rate, default=None)


def _configurations(operator: Operator, name: str, machine: Machine, degree: int) -> Iterator[typed.Pattern]:
    fixed = _fixed(operator.forced)
    if name == "key_partitioning":
        yield typed.Pattern(name, _nowhere(), workers=degree)
        return
    found: Iterable[typed.Pattern] = PATTERNS[name].configurations(operator.load, degree)
    if name == "nesting" and degree < 4:
        found = [typed.Pattern(name, _nowhere(), workers=1, inner_workers=degree, outer="window_farming")]
    for one in found:
        whole = replace(one, **fixed)
        if fixed and "workers" not in fixed and name != "sequential":
            whole = replace(whole, workers=(degree - (whole.merge_workers or 0)) // (whole.inner_workers or 1))
        fits = degree_of(whole) == degree or name == "nesting" and degree_of(whole) < degree
        if not fixed or fits and (whole.workers is None or whole.workers > 0):
            yield whole
    if "workers" in fixed:  # its other degrees may be open, and the model has a default for them
        yield PATTERNS[name].cost(operator.load, machine, operator.forced).pattern


def _fixed(forced: typed.Pattern | None) -> dict[str, object]:
    """The settings that are forced."""
    return {} if forced is None else {name: value for name in _SETTINGS
                                      if (value := getattr(forced, name)) is not None}


def _nowhere():
    from ...dsl.span import NOWHERE

    return NOWHERE


def _scene(operator: Operator, machine: Machine, pattern: typed.Pattern, rate: float | None, seed: int,
           apart: bool = False) -> Scene:
    slide, grain = operator.load.slide, _grain(operator)
    count = min(_MOST_TUPLES, max(_MOST_TUPLES / 4, _RESULTS * slide / grain), _MOST_RESULTS * slide / grain)
    before, parsing = operator.before, operator.parsing
    if pattern.name == "sequential" and not apart and operator.alone is not None:
        before, parsing = operator.alone, 0.0
    load = replace(operator.load, ordered=pattern.name not in operator.free)
    return Scene(load, machine, pattern, key_shares(operator.keys), int(count) * grain, rate, seed, before,
                 operator.after, grain, parsing, operator.helps, apart)


def _grain(operator: Operator) -> float:
    if not operator.function.windowed:
        return 1
    slide = operator.load.slide
    return slide * _AT_ONCE if slide * _AT_ONCE < 1 else max(1, int(slide // _SLIDE))


def scaling_table(operator: Operator, machine: Machine, degrees: Sequence[int],
                  scenarios: Sequence[str]) -> dict[str, dict[str, list[Point]]]:
    """Pattern → scenario → points."""
    count = max(operator.keys.count, 1)
    found: dict[str, dict[str, list[Point]]] = {}
    for title, routing in played_patterns(operator).items():
        found[title] = {}
        for scenario in scenarios:
            other = with_keys(operator, scenario_keys(count, scenario)) if operator.function.keyed else operator
            found[title][scenario] = series(other, title, routing, machine, degrees)
    return found


def play_once(operator: Operator, machine: Machine, pattern: typed.Pattern, rate: float | None = None,
              seed: int = 1, apart: bool = False) -> Played:
    """`apart`: what is sequential has a thread beside the one that reads."""
    return play(_scene(operator, machine, pattern, rate, seed, apart))


def rows(table: Mapping[str, Mapping[str, list[Point]]]) -> Iterator[tuple[str, str, Point]]:
    for title, scenarios in table.items():
        for scenario, points in scenarios.items():
            for point in points:
                yield title, scenario, point
