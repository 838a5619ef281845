"""Event by event through the graph: the order of everything that happens.

One tuple read is one event, and if it moved the source's watermark, that is the next. Within an event the
steps run in the program's order; each takes what the event brought to it, first input first, and then, if
the smallest watermark of its inputs has moved, that watermark.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx

from ...dsl import typed
from ...dsl.types import Record
from ..artifacts.graph import Graph
from ..graph.runnable import no_user_c
from .expressions import Scope, columns_of
from .inlets import FOREVER, NEVER, Inlet
from .results import Counters, Results
from .state import Broadcast, Update
from .steps import Branch, Filter, FlatMap, InC, Item, Join, Map, Operator, PassOn, PerTuple, Port, Scan
from .user_c import UserC
from .windows import SessionWindows, TimeWindows, Windowed
from .windows_at_tuples import CountWindows, DeltaWindows, MovingWindows

_MEANING: dict[type, type[Operator]] = {
    typed.Source: PassOn, typed.Late: Operator, typed.Filter: Filter, typed.Map: Map, typed.FlatMap: FlatMap,
    typed.Union_: PassOn, typed.Join: Join, typed.Scan: Scan, typed.Branch: Branch, typed.Sink: PassOn,
    typed.Broadcast: Broadcast, typed.Port: Port,
}


class Machine:
    """The state of a run. `active` names the alternate that an operator uses, where that is not its best."""

    def __init__(self, graph: Graph, inlets: list[Inlet], active: Mapping[str, str], user_c: UserC | None = None):
        self.graph, self.inlets = graph, inlets
        self.operators = {step.name: _operator(graph, step, active, user_c) for step in graph.steps}
        self.watermarks = dict.fromkeys(self.operators, NEVER)
        self.taken, self.given = dict.fromkeys(self.operators, 0), dict.fromkeys(self.operators, 0)
        self.late = dict.fromkeys(self.operators, 0)
        self.rows = {step.name: [] for step in graph.steps if isinstance(step.body, typed.Sink)}
        self.after = {step.name: _after(graph, step.name) for step in graph.steps
                      if isinstance(step.body, typed.Source | typed.Late)}

    def run(self) -> Results:
        """Each turn reads one tuple of every source without event time, then one of the source whose
        watermark is furthest behind. A source that has no more tuples ends when the turn comes to it."""
        while any(inlet.open for inlet in self.inlets):
            for inlet in self.inlets:
                if not inlet.timed and self.ready(inlet):
                    self.read(inlet)
            timed = [inlet for inlet in self.inlets if inlet.timed and self.ready(inlet)]
            if timed:
                self.read(min(timed, key=lambda inlet: inlet.watermark))
        return self.results()

    def ready(self, inlet: Inlet) -> bool:
        """Whether there is a tuple to read; a source ends here."""
        if inlet.open and not inlet.has_more():
            inlet.open = False
            self.event(inlet.name, [], FOREVER)
        return inlet.open

    def read(self, inlet: Inlet) -> None:
        item = inlet.next()
        self.taken[inlet.name] += 1
        if inlet.is_late(item):
            self.late[inlet.name] += 1
            self.late_event(inlet.source.late_to, item)
        else:
            self.event(inlet.name, [item])
        if inlet.moves_with(item):
            self.event(inlet.name, [], inlet.watermark)

    def late_event(self, late: str | None, item: Item) -> None:
        if late is not None:
            self.taken[late] += 1
            self.event(late, [item])

    def event(self, origin: str, items: list[Item], watermark: float | None = None) -> None:
        self.given[origin] += len(items)
        out, moved = {origin: items}, set()
        if watermark is not None:
            self.watermarks[origin] = watermark
            moved.add(origin)
        for step in self.after[origin]:
            results = self.take(step, out)
            if not moved.isdisjoint(step.inputs):
                results += self.advance(step, moved)
            self.given[step.name] += len(results)
            out[step.name] = results
            if step.name in self.rows:
                self.rows[step.name] += [item.row for item in results]

    def take(self, step: typed.Step, out: Mapping[str, list[Item]]) -> list[Item]:
        if isinstance(step.body, typed.Late):
            return []  # what the source gives is not late
        results: list[Item] = []
        for port, name in enumerate(step.inputs):
            for item in out.get(name, ()):
                self.taken[step.name] += 1
                results += self.operators[step.name].take(port, item)
        return results

    def advance(self, step: typed.Step, moved: set[str]) -> list[Item]:
        # What a broadcast gives has the time of its first input, so the other one holds nothing back.
        inputs = step.inputs[:1] if isinstance(step.body, typed.Broadcast) else step.inputs
        watermark = min(self.watermarks[name] for name in inputs)
        if watermark <= self.watermarks[step.name] or isinstance(step.body, typed.Late) and watermark < FOREVER:
            return []
        self.watermarks[step.name] = watermark
        moved.add(step.name)
        return list(self.operators[step.name].advance(watermark))

    def results(self) -> Results:
        malformed = {inlet.name: inlet.malformed for inlet in self.inlets}
        counters = {name: Counters(self.taken[name], self.given[name], self.late[name],
                                   len(malformed.get(name, ())), operator.scope.faults.count)
                    for name, operator in self.operators.items()}
        records = {name: self.graph.step(name).record for name in self.rows}
        return Results(self.rows, records, counters, malformed)


def _after(graph: Graph, origin: str) -> list[typed.Step]:
    reached = nx.descendants(graph.flow, origin)
    return [step for step in graph.steps if step.name in reached]


def _operator(graph: Graph, step: typed.Step, active: Mapping[str, str], user_c: UserC | None) -> Operator:
    program, inputs = graph.program, [graph.step(name).record for name in step.inputs]
    scope = Scope({function.name: function for function in program.functions},
                  tuple(columns_of(record) for record in inputs), user_c=user_c,
                  definitions={definition.name: definition for definition in program.aggregates})
    if isinstance(step.body, typed.Update):
        return Update(step, scope, inputs[0])
    if not isinstance(step.body, typed.Operator):
        return _MEANING[type(step.body)](step, scope)
    result = dict(step.body.ports) or step.record
    how = _implementation(active_alternate(step.body, active.get(step.name)), inputs[0], result, user_c, step.body.keys)
    kind = PerTuple if step.body.window is None else _windows(step.body.window)
    return kind(step, scope, how)


def _windows(window: typed.Window) -> type[Windowed]:
    match window:
        case typed.CountWindow():
            return CountWindows
        case typed.DeltaWindow():
            return DeltaWindows
        case typed.SessionWindow():
            return SessionWindows
    return MovingWindows if window.every_tuple else TimeWindows


def active_alternate(body: typed.Operator, name: str | None = None) -> typed.Alternate:
    """The named one, else that of the highest value; of equal ones the first."""
    if name is None:
        return max(body.alternates, key=lambda alternate: alternate.value)
    return next(alternate for alternate in body.alternates if alternate.name == name)


def _implementation(alternate: typed.Alternate, given: Record, result: Record | Mapping[str, Record],
                    user_c: UserC | None, keys: tuple[str, ...]) -> typed.Construct | InC:
    body = alternate.body
    if isinstance(body, typed.Construct):
        return body
    if user_c is None:
        raise no_user_c(f"alternate `{alternate.name}`", alternate.span)
    return InC(user_c, body.name, given, result, alternate.columns, keys, body.merge, alternate.name)
