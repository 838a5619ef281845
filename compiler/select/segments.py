"""Cuts the graph into segments.

The sources and the stateless steps before keyed state read and route; each keyed step begins a replicated segment of
its own, or several windows that share their panes do; stateless work that meets no keyed step is farmed out, and so is,
wherever it stands, a step whose pattern is a farm; what depends on the order of a whole stream, and the sinks, run in
single segments. A step's rank says how many replicated segments lie before it: 0 reads, odd ranks are replicated, even
ones single, and edges go from lower to higher ranks.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.parts import Merge, Owned, Windows, Work, in_ring, owns_windows, together
from ..artifacts.plan import Segment, Sharing

STATELESS = (typed.Filter, typed.Map, typed.FlatMap, typed.Branch)


_PASSING = (typed.Union_, typed.Broadcast, typed.Port)


def is_keyed(step: typed.Step) -> bool:
    """State that is divided by key: each key's results depend on that key's tuples only."""
    match step.body:
        case typed.Operator(window=None):
            return False
        case typed.Operator(keys=keys) | typed.Scan(keys=keys) | typed.Update(keys=keys):
            return bool(keys)
        case typed.Join():
            return True
        case Windows(keys=keys) if together(step.body):
            return bool(keys)
        case Merge(of="panes", pattern=pattern):
            return bool(step.body.keys) and (pattern.merge_workers or 1) > 1
    return False


def is_replicated(step: typed.Step) -> bool:
    """State that replicas have each a part of: of the keys, or of the windows."""
    return is_keyed(step) or owns_windows(step.body)


def is_stateless(step: typed.Step) -> bool:
    return isinstance(step.body, STATELESS) or isinstance(step.body, typed.Operator) and step.body.window is None


def closes_by_watermark(window: typed.Window | None) -> bool:
    """Results come when the watermark moves, not with a tuple."""
    return isinstance(window, typed.SessionWindow) or isinstance(window, typed.TimeWindow) and not window.every_tuple


def releases(step: typed.Step) -> bool:
    match step.body:
        case typed.Operator(window=window):
            return closes_by_watermark(window)
        case Windows(operator=operator) | Merge(operator=operator, of="panes") | Owned(operator=operator):
            return closes_by_watermark(operator.body.window)
    return False


def inputs_meet(graph: Graph, step: typed.Step) -> bool:
    """Two inputs that come from one source can both bring tuples in one event; their order is fixed at its end."""
    if len(step.inputs) < 2:
        return False
    origins = [_origins(graph, name) for name in step.inputs]
    return any(origins[i] & origins[j] for i in range(len(origins)) for j in range(i))


def _origins(graph: Graph, name: str) -> set[str]:
    return {before for before in nx.ancestors(graph.flow, name) | {name} if not graph.step(before).inputs}


def segments_of(graph: Graph, shared: tuple[Sharing, ...],
                patterns: Mapping[str, typed.Pattern]) -> tuple[tuple[Segment, ...], dict[Crossing, int]]:
    """The segments, and through which of them a stream goes on its way from one keyed segment to another. `patterns`
    are those of the steps; what they divide stands in the graph as parts already."""
    places = _places(graph, shared, {name: pattern.name for name, pattern in patterns.items()})
    relays = _relays(graph, places)
    ordered = sorted({*places.values(), *relays.values()},
                     key=lambda place: (place[0], place[1] != "", _first(graph, places, place)))
    segments = tuple(_segment(number, place, [s for s in graph.steps if places[s.name] == place], patterns)
                     for number, place in enumerate(ordered))
    return segments, {crossing: ordered.index(place) for crossing, place in relays.items()}


Place = tuple[int, str]  # rank, and the step that begins the segment ('' for the read and single ones)
_SPREAD: Place = (1, "*")  # of all stateless work that is farmed out without being asked for
Crossing = tuple[str, str]  # a step of one segment, and a step of another that reads it


def _first(graph: Graph, places: dict[str, Place], place: Place) -> int:
    return next((i for i, step in enumerate(graph.steps) if places[step.name] == place), 0)


def _relays(graph: Graph, places: dict[str, Place]) -> dict[Crossing, Place]:
    """A keyed step that answers each tuple, and a farm, pass the tuple's number on, so that their replicas' results can
    be put in order. Where replicas before them gave several tuples the same number, a single segment between
    numbers them again."""
    found: dict[Crossing, Place] = {}
    for step in graph.steps:
        for name in step.inputs if _passes_numbers(step, places[step.name]) or _through_one(step) else ():
            rank, first = places[name]
            if rank % 2 == 1 and (_through_one(step) or _repeats_numbers(
                    rank, [s for s in graph.steps if places[s.name] == (rank, first)])):
                found[name, step.name] = (rank + 1, "")
    return found


def _passes_numbers(step: typed.Step, place: Place) -> bool:
    rank, first = place
    if is_stateless(step):
        return first == step.name
    return rank % 2 == 1 and is_replicated(step) and not releases(step)


def _through_one(step: typed.Step) -> bool:
    """Pane results go through one thread on their way to those that merge them."""
    return isinstance(step.body, Merge) and step.body.pattern.merge == "farm" and is_replicated(step)


def _repeats_numbers(rank: int, steps: list[typed.Step]) -> bool:
    """Whether a replica of this segment can give several results for one tuple, or for none, under one number."""
    if rank == 1 and is_stateless(steps[0]):
        return False  # fed by the reader: it numbers what it gives
    return any(releases(step) or isinstance(step.body, typed.Join | typed.FlatMap) for step in steps)


def _places(graph: Graph, shared: tuple[Sharing, ...], patterns: Mapping[str, str]) -> dict[str, Place]:
    """`patterns`: their names. What is sequential runs in one thread, whatever its keys."""
    leads_to_key = _leads_to_key(graph)
    first = {name: one.first for one in shared for name in one.others}
    places: dict[str, Place] = {}
    for step in graph.steps:
        inputs = [places[name] for name in step.inputs]
        if step.name in first:
            places[step.name] = places[first[step.name]]
        elif together(step.body) and not isinstance(step.body, Windows):
            places[step.name] = inputs[0]
        elif patterns.get(_operator(step)) == "sequential":
            places[step.name] = _unreplicated_place(inputs) if is_stateless(step) else _single_place(inputs)
        elif patterns.get(step.name) == "farm":
            places[step.name] = _farm_place(step, inputs[0], leads_to_key, _SPREAD not in places.values())
        else:
            places[step.name] = _place(step, inputs, leads_to_key)
    return places


def _operator(step: typed.Step) -> str:
    return step.body.operator.name if together(step.body) else step.name


def _place(step: typed.Step, inputs: list[Place], leads_to_key: set[str]) -> Place:
    rank = max((rank for rank, _ in inputs), default=0)
    if isinstance(step.body, typed.Source | typed.Late):
        return (0, "")
    if isinstance(step.body, typed.Port) or isinstance(step.body, Merge) and in_ring(step.body):
        return inputs[0]
    if isinstance(step.body, Windows) and not together(step.body):
        return _unreplicated_place(inputs)
    if isinstance(step.body, Work):
        return (rank + 1, step.name)
    if is_replicated(step):
        return (_next_replicated(rank), step.name)
    if is_stateless(step):
        return _stateless_place(step, inputs[0], leads_to_key)
    if isinstance(step.body, typed.Union_ | typed.Broadcast) and rank == 0 and step.name in leads_to_key:
        return (0, "")
    if isinstance(step.body, typed.Broadcast) and rank == 0:
        return _SPREAD
    return _single_place(inputs)


def _next_replicated(rank: int) -> int:
    return rank + 1 if rank % 2 == 0 else rank + 2


def _single_place(inputs: list[Place]) -> Place:
    return max((2, ""), _unreplicated_place(inputs))


def _unreplicated_place(inputs: list[Place]) -> Place:
    rank = max(rank for rank, _ in inputs)
    return (rank + rank % 2, "")


def _stateless_place(step: typed.Step, before: Place, leads_to_key: set[str]) -> Place:
    """Goes with what it reads; straight after a source it is farmed out, unless a keyed step follows anyway."""
    if before == (0, "") and step.name not in leads_to_key:
        return _SPREAD
    return before


def _farm_place(step: typed.Step, before: Place, leads_to_key: set[str], first: bool) -> Place:
    """A segment of its own, unless it is the first of those that are farmed out anyway: its degree is theirs."""
    if first and _stateless_place(step, before, leads_to_key) == _SPREAD:
        return _SPREAD
    return (_next_replicated(before[0]), step.name)


def _leads_to_key(graph: Graph) -> set[str]:
    """Steps from which a keyed step is reached without an order-dependent one between."""
    found: set[str] = set()
    for step in reversed(graph.steps):
        after = graph.consumers(step.name)
        if any(is_replicated(c) or isinstance(c.body, Windows) and not together(c.body)
               or c.name in found and (is_stateless(c) or isinstance(c.body, _PASSING)) for c in after):
            found.add(step.name)
    return found


def _segment(number: int, place: Place, steps: list[typed.Step], patterns: Mapping[str, typed.Pattern]) -> Segment:
    names = tuple(step.name for step in steps)
    rank, first = place
    if rank == 0:
        return Segment(number, "read", names, "reads the sources; stateless steps before keyed state run along")
    if place == _SPREAD or first and is_stateless(steps[0]):
        what = "blocks of events go" if rank == 1 else "each tuple goes"
        return Segment(number, "farm", names, f"stateless: {what} to the replicas in turn",
                       max((_degree(patterns[name]) for name in names if name in patterns), default=1), rank > 1)
    if first and isinstance(steps[0].body, Work):
        return Segment(number, "work", names,
                       f"computes for `{steps[0].body.operator.name}`: {steps[0].body.pattern.name}",
                       _degree(steps[0].body.pattern))
    if first and owns_windows(steps[0].body):
        pattern = steps[0].body.pattern
        return Segment(number, "owners", names,
                       f"each replica has some of the windows of `{first}`; their number stays while it runs",
                       pattern.merge_workers if isinstance(steps[0].body, Merge) else _degree(pattern))
    if first:
        step = steps[0]
        keys = step.body.left_keys if isinstance(step.body, typed.Join) else step.body.keys
        degree = step.body.pattern.merge_workers if isinstance(step.body, Merge) else \
            _degree(patterns[_operator(step)]) if _operator(step) in patterns else 1
        return Segment(number, "keyed", names, f"state of `{_operator(step)}` is divided by {', '.join(keys)}", degree)
    if not steps:
        return Segment(number, "single", names, "numbers what replicas gave, for the keyed segment after it")
    return Segment(number, "single", names, "depends on the order of the whole stream, or writes it")


def _degree(pattern: typed.Pattern) -> int:
    return (pattern.workers or 1) * (pattern.inner_workers or 1)
