"""How many tuples reach each step, in windows of which size, with which keys: the load that the patterns take."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...dsl import typed
from ...dsl.types import UNIT_NS, Array, Bool, Float, Int, Record, Text, Type
from ..artifacts.graph import Graph
from ..artifacts.parts import divided, pane_function
from ..artifacts.plan import Sharing
from ..artifacts.profile import Keys, Profile
from ..patterns.function import Function, chosen_alternate, function_of
from ..patterns.load import SECOND, Load
from .costs import StepCost, cost_of

ASSUMED_RATE = 100_000.0  # tuples a second, where a time window's size in tuples is needed and no rate is known
ASSUMED_KEYS = 1000
ASSUMED_SELECTIVITY = {typed.FlatMap: 5.0}
SESSION_TUPLES, DELTA_TUPLES = 100.0, 10.0


@dataclass(frozen=True, slots=True)
class StepLoad:
    """A step with its function, what it costs, and how many tuples come in and go out for one that is read."""

    step: typed.Step
    function: Function
    cost: StepCost
    load: Load
    tuples_in: float
    tuples_out: float
    assumed: tuple[str, ...]

    @property
    def work(self) -> float:
        """Nanoseconds for one tuple that is read, run in one thread."""
        costs = self.load.costs
        return self.tuples_in * (costs.tuple + self.load.ending / self.load.slide)

    @property
    def parsing(self) -> float:
        """What a thread of its own takes of it where there are threads."""
        return self.tuples_in * self.cost.parse

    @property
    def beside(self) -> float:
        """What is left of it then."""
        return self.tuples_in * self.cost.fetch if self.cost.parse else self.work


def loads_of(graph: Graph, profile: Profile | None, keys: Mapping[str, Keys] | None = None) -> dict[str, StepLoad]:
    """Every step's load, per tuple read from all sources together. `keys` overrides what is known of keys."""
    sources = [step for step in graph.steps if isinstance(step.body, typed.Source)]
    shares = _source_shares(sources, profile)
    found: dict[str, StepLoad] = {}
    for step in graph.steps:
        taken = shares[step.name] if not step.inputs else sum(found[name].tuples_out for name in step.inputs)
        found[step.name] = _load(graph, step, profile, taken, keys or {})
    return found


def entered_once(loads: dict[str, StepLoad], shared: tuple[Sharing, ...]) -> dict[str, StepLoad]:
    """Of windows that share their panes the first one enters the tuples for all."""
    others = {name for sharing in shared for name in sharing.others}
    return {name: replace(one, load=replace(one.load, costs=replace(one.load.costs, tuple=0.0)))
            if name in others else one for name, one in loads.items()}


def wanted_rate(graph: Graph, profile: Profile | None) -> float | None:
    """Tuples a second that the sources bring: profiled, or generated at a pace; None when one is not known."""
    rates = [_pace(step, profile) for step in graph.steps if isinstance(step.body, typed.Source)]
    return None if None in rates or not rates else sum(rates)


def _pace(step: typed.Step, profile: Profile | None) -> float | None:
    if profile is not None and step.name in profile.rates:
        return profile.rates[step.name]
    settings = dict(step.body.connector.settings)
    return float(settings["rate"]) if settings.get("paced") and settings.get("rate") else None


def _event_rate(step: typed.Step, profile: Profile | None) -> float | None:
    """Tuples for each second of their own time."""
    rate = _pace(step, profile) or dict(step.body.connector.settings).get("rate")
    return float(rate) if rate else None


def _source_shares(sources: list[typed.Step], profile: Profile | None) -> dict[str, float]:
    rates = {step.name: _event_rate(step, profile) for step in sources}
    known = all(rates.values())
    total = sum(rates.values()) if known else len(sources)
    return {name: (rate if known else 1.0) / total for name, rate in rates.items()}


def _load(graph: Graph, step: typed.Step, profile: Profile | None, taken: float, given: Mapping[str, Keys]) -> StepLoad:
    assumed: list[str] = []
    function = function_of(graph.program, step)
    keys = _keys(graph, step, function, profile, given, assumed)
    rate = _rate_at(graph, profile)
    window, slide = _window(graph, step, function, (rate, taken), keys, profile, assumed)
    a_slide = 1.0 if not function.fixed_windows or window % slide < 1e-9 else 2.0
    panes = a_slide * math.floor(window / slide) + (a_slide - 1) if function.fixed_windows else 1.0
    cost = cost_of(step, function, window, slide, panes, profile)
    if cost.origin == "default":
        assumed.append("costs are defaults for the kind of step")
    wanted = wanted_rate(graph, profile)
    shares = _shares(keys)
    load = Load(cost.costs, window, slide, max(panes, 1.0), a_slide, function.combinable, keys.count, keys.p_max,
                sum(share * share for share in shares), None if wanted is None else wanted * taken,
                _arrivals(function, keys, slide), 0.0, record_bytes(_input(graph, step)), _partial(step),
                computes_panes=_computes_panes(graph, step), timed=function.window == "time")
    return StepLoad(step, function, cost, load, taken, _given_out(step, function, profile, taken, slide),
                    tuple(assumed))


def _computes_panes(graph: Graph, step: typed.Step) -> bool:
    if not pane_function(step.body):
        return False
    return any(part.name == f"{step.name}.work" for part in divided(graph, {}).steps)


def _arrivals(function: Function, keys: Keys, slide: float) -> float:
    """c_a² of window ends: of many keys they come by chance, of one key evenly after so many tuples."""
    return 1.0 if not function.windowed or keys.count > slide else max(1 / slide, keys.count / slide)


def _rate_at(graph: Graph, profile: Profile | None) -> float | None:
    rates = [_event_rate(step, profile) for step in graph.steps if isinstance(step.body, typed.Source)]
    return sum(rates) if rates and all(rates) else None


# --- windows ----------------------------------------------------------------------------------------


def _window(graph: Graph, step: typed.Step, function: Function, rates: tuple[float | None, float], keys: Keys,
            profile: Profile | None, assumed: list[str]) -> tuple[float, float]:
    """Size and slide in tuples of one key."""
    body = getattr(step.body, "window", None)
    measured = profile.operators[step.name].selectivity if profile and step.name in profile.operators else None
    match body:
        case None:
            return 1.0, 1.0
        case typed.CountWindow():
            return float(body.size), 1.0 if body.every_tuple else float(body.slide)
        case typed.TimeWindow():
            return _timed(graph, step, body, rates, keys, measured, assumed)
    usual = SESSION_TUPLES if isinstance(body, typed.SessionWindow) else DELTA_TUPLES
    if not measured:
        assumed.append(f"{usual:g} tuples a {function.window} window")
    size = 1 / measured if measured else usual
    return size, size


def _timed(graph: Graph, step: typed.Step, window: typed.TimeWindow, rates: tuple[float | None, float], keys: Keys,
           measured: float | None, assumed: list[str]) -> tuple[float, float]:
    """A key's tuples in the window's time: by the results that were counted, one for each slide, else by the rate. A
    window without tuples gives no result, so there are never more results than tuples times the windows that hold one.
    """
    rate, share = rates
    if rate is None and (window.every_tuple or not measured):
        assumed.append(f"{ASSUMED_RATE:g} tuples a second, for the size of a time window")
    unit = UNIT_NS[graph.step(step.inputs[0]).unit or "ns"]
    each = (rate or ASSUMED_RATE) * share / keys.count / SECOND * unit
    if window.every_tuple:
        return max(1.0, window.size * each), 1.0
    overlap = max(1.0, window.size / window.slide)
    slide = 1 / measured if measured else max(window.slide * each, 1 / math.ceil(overlap))
    return slide * overlap, slide


# --- keys -------------------------------------------------------------------------------------------


def _keys(graph: Graph, step: typed.Step, function: Function, profile: Profile | None, given: Mapping[str, Keys],
          assumed: list[str]) -> Keys:
    if not function.keyed:
        return Keys(1, 1.0)
    if step.name in given:
        return given[step.name]
    if profile and step.name in profile.operators and profile.operators[step.name].keys:
        return profile.operators[step.name].keys
    generated = _generated_keys(graph)
    if generated is not None:
        return generated
    assumed.append(f"{ASSUMED_KEYS} keys, equally frequent")
    return Keys(ASSUMED_KEYS, 1 / ASSUMED_KEYS)


def _generated_keys(graph: Graph) -> Keys | None:
    """What a generator of the program says of its keys, when it is the only source."""
    sources = [step.body.connector for step in graph.steps if isinstance(step.body, typed.Source)]
    settings = dict(sources[0].settings) if len(sources) == 1 and sources[0].kind == "generate" else {}
    if "keys" not in settings:
        return None
    count = int(settings["keys"])
    return skewed(count, float(settings.get("zipf", 0.0)))


def skewed(count: int, exponent: float) -> Keys:
    """Keys whose frequencies fall by Zipf's law."""
    weights = [rank ** -exponent for rank in range(1, count + 1)]
    total = sum(weights)
    return Keys(count, weights[0] / total, tuple(weight / total for weight in weights[:1000]))


def with_heaviest(count: int, p_max: float) -> Keys:
    """Keys by Zipf's law whose heaviest has the share `p_max`."""
    low, high = 0.0, 8.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if skewed(count, middle).p_max < p_max else (low, middle)
    return skewed(count, high)


def _shares(keys: Keys) -> list[float]:
    """The share of every key; those that are not listed have equal parts of the rest."""
    listed = list(keys.top) or [keys.p_max]
    rest = keys.count - len(listed)
    return listed + [max(0.0, 1 - sum(listed)) / rest] * rest if rest > 0 else listed


key_shares = _shares

# --- sizes and results ------------------------------------------------------------------------------


def _given_out(step: typed.Step, function: Function, profile: Profile | None, taken: float, slide: float) -> float:
    measured = profile.operators[step.name].selectivity if profile and step.name in profile.operators else None
    if measured is not None:
        return taken * measured
    if isinstance(step.body, typed.Operator):
        declared = chosen_alternate(step.body).selectivity
        if declared is not None:
            return taken * declared
    return taken / slide if function.windowed else taken * ASSUMED_SELECTIVITY.get(type(step.body), 1.0)


def _input(graph: Graph, step: typed.Step) -> Record:
    return graph.step(step.inputs[0]).record if step.inputs else step.record


def record_bytes(record: Record) -> float:
    return float(sum(_size(one.type) for one in record.fields)) or 8.0


def _size(type_: Type) -> int:
    match type_:
        case Int(bits=bits) | Float(bits=bits):
            return bits // 8
        case Bool():
            return 1
        case Text(size=size):
            return size
        case Array(element=element, size=size):
            return size * _size(element)
    return 8


def _partial(step: typed.Step) -> float:
    """A value a pane for each field of the result."""
    return 16.0 * max(1, len(step.record.fields)) if isinstance(step.body, typed.Operator) else 16.0
