"""What a step costs: as declared in the program, else as profiled, else a default for its kind. The origin is kept."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl import typed
from ...dsl.typed_walk import walk
from ..artifacts.profile import Profile, StepCosts
from ..patterns.function import Function, chosen_alternate
from ..patterns.load import Costs
from .reading import in_blocks, parsed_ahead

# Nanoseconds a tuple, as calibrated once on a core of about 3 GHz. Rough: `dfc calibrate` measures the real ones.
SOURCES = {"csv": 30.0, "jsonl": 150.0, "lines": 50.0, "binary": 15.0, "generate": 8.0, "tcp": 120.0, "unix": 120.0}
# Where another thread does that, what it still costs the one that reads: blocks of CSV leave the nearest caches.
FETCHED_ROW, FETCHED_TUPLE = 25.0, 5.0
SINKS = {"csv": 120.0, "jsonl": 150.0, "binary": 20.0, "discard": 1.0, "tcp": 150.0, "unix": 150.0}
STEPS = {typed.Filter: 1.0, typed.Map: 1.5, typed.FlatMap: 40.0, typed.Branch: 1.0, typed.Union_: 3.0, typed.Late: 1.0,
         typed.Port: 1.0, typed.Join: 80.0, typed.Broadcast: 5.0, typed.Scan: 20.0, typed.Update: 20.0}
TUPLE_OPERATOR, TUPLE_OPERATOR_IN_C = 5.0, 50.0
PANE_TUPLE, PANE_WINDOW = 12.0, 28.0  # into a pane; a window's result, however many panes it has
KEPT_TUPLE = 22.0
MERGE_A_PANE = 20.0
# Nanoseconds for each tuple of a window, of what needs them all.
A_WINDOW_TUPLE = {"median": 10.0, "quantile": 10.0, "ewma": 2.0}
A_WINDOW_TUPLE_IN_C, A_WINDOW_TUPLE_ORDERED = 10.0, 8.0

DECLARED, PROFILED, DEFAULT = "declared", "profile", "default"


@dataclass(frozen=True, slots=True)
class StepCost:
    """Of a source, where there are threads: `parse` is what one of its own takes for a tuple (0: there is none),
    `fetch` what is left for the one that reads."""

    costs: Costs
    origin: str
    parse: float = 0.0
    fetch: float = 0.0


def cost_of(step: typed.Step, function: Function, window: float, slide: float, panes: float,
            profile: Profile | None) -> StepCost:
    """`window` and `slide` are in tuples, `panes` are those of a window."""
    alternate = chosen_alternate(step.body) if isinstance(step.body, typed.Operator) else None
    default = _default(step.body, function, window, panes)
    measured = profile.costs(step.name, alternate and alternate.name) if profile else None
    if alternate is not None and alternate.cost is not None:
        return StepCost(_declared(alternate.cost, function, slide, measured or StepCosts(), default), DECLARED)
    if measured is not None:
        return StepCost(_measured(measured, function, default), PROFILED, measured.parse or 0.0, measured.fetch or 0.0)
    if parsed_ahead(step):
        return StepCost(default, DEFAULT, default.tuple, FETCHED_ROW if in_blocks(step) else FETCHED_TUPLE)
    return StepCost(default, DEFAULT)


def _declared(a_result: float, function: Function, slide: float, measured: StepCosts, default: Costs) -> Costs:
    """A cost is declared for a result; the rest is measured, or the default for it. What is combinable spends it on the
    tuples of a slide, as they come."""
    if not function.windowed:
        return Costs(tuple=a_result)
    merge = measured.merge if measured.merge is not None else min(default.merge, a_result)
    if function.combinable:
        return Costs((a_result - merge) / slide, 0.0, merge, merge, _keep(measured, default),
                     measured.keep_whole or 0.0)
    store = measured.tuple if measured.tuple is not None else default.tuple
    return Costs(store, measured.pane or 0.0, a_result, merge, _keep(measured, default), measured.keep_whole or 0.0)


def _measured(measured: StepCosts, function: Function, default: Costs) -> Costs:
    """What was not measured apart is part of `window`; merging then costs its default, and never more than that."""
    window = measured.window if measured.window is not None else 0.0
    a_tuple = measured.tuple if measured.tuple is not None else default.tuple
    merge = window if function.combinable else min(default.merge, window)
    return Costs(a_tuple, measured.pane or 0.0, window, measured.merge if measured.merge is not None else merge,
                 _keep(measured, default), measured.keep_whole or 0.0, measured.whole or 0.0)


def _keep(measured: StepCosts, default: Costs) -> float:
    return measured.keep if measured.keep is not None else default.keep


def _default(body: typed.Body, function: Function, window: float, panes: float) -> Costs:
    match body:
        case typed.Source():
            return Costs(SOURCES[body.connector.kind])
        case typed.Sink():
            return Costs(SINKS[body.connector.kind])
        case typed.Operator(window=None):
            in_c = isinstance(chosen_alternate(body).body, typed.CFunction)
            return Costs(TUPLE_OPERATOR_IN_C if in_c else TUPLE_OPERATOR)
        case typed.Operator():
            return _window(chosen_alternate(body), function, window, panes)
    return Costs(STEPS[type(body)])


def _window(alternate: typed.Alternate, function: Function, window: float, panes: float) -> Costs:
    if function.combinable:
        return Costs(PANE_TUPLE, 0.0, PANE_WINDOW, PANE_WINDOW, KEPT_TUPLE)
    merge = MERGE_A_PANE * panes if function.decomposable else 0.0
    return Costs(KEPT_TUPLE, 0.0, window * _window_tuple(alternate) + merge, merge)


def _window_tuple(alternate: typed.Alternate) -> float:
    if isinstance(alternate.body, typed.CFunction):
        return A_WINDOW_TUPLE_IN_C
    names = {part.function for value in alternate.body.values for part in walk(value)
             if isinstance(part, typed.Aggregate)}
    return max((A_WINDOW_TUPLE.get(name, A_WINDOW_TUPLE_ORDERED) for name in names), default=A_WINDOW_TUPLE_ORDERED)
