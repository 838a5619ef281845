"""Graph → plan, with the reason of every decision."""

from __future__ import annotations

import networkx as nx

from ...dsl import typed
from ...dsl.builtins import AGGREGATES
from ..artifacts.graph import Graph
from ..artifacts.plan import Alternative, Edge, Plan, Segment, verify
from ..graph.walk import expressions_of, walk
from .segments import is_keyed, segments_of


def choose(graph: Graph) -> Plan:
    segments = segments_of(graph)
    buffered = tuple(step.name for step in graph.steps if _inputs_meet(graph, step))
    plan = Plan(segments, _edges(graph, segments, set(buffered)), _alternates(graph), _stores(graph), buffered)
    verify(plan)
    return plan


# --- edges ------------------------------------------------------------------------------------------


def _edges(graph: Graph, segments: tuple[Segment, ...], buffered: set[str]) -> tuple[Edge, ...]:
    home = {name: segment for segment in segments for name in segment.steps}
    crossing = [(name, step, port) for step in graph.steps for port, name in enumerate(step.inputs)
                if home[name] is not home[step.name]]
    return tuple(_edge(number, graph, home, producer, consumer, port, buffered)
                 for number, (producer, consumer, port) in enumerate(crossing))


def _edge(number: int, graph: Graph, home: dict[str, Segment], producer: str, consumer: typed.Step, port: int,
          buffered: set[str]) -> Edge:
    target = home[consumer.name]
    routing = {"keyed": "key", "farm": "deal"}.get(target.kind, "one")
    markers = "event" if _reaches(graph, consumer, buffered) else "round"
    return Edge(number, producer, consumer.name, port, home[producer].number, target.number, routing, markers)


def _reaches(graph: Graph, step: typed.Step, goals: set[str]) -> bool:
    return step.name in goals or not goals.isdisjoint(nx.descendants(graph.flow, step.name))


# --- events -----------------------------------------------------------------------------------------


def _inputs_meet(graph: Graph, step: typed.Step) -> bool:
    """Two inputs that come from one source can both bring tuples in one event; their order is fixed at its end."""
    if len(step.inputs) < 2:
        return False
    origins = [_origins(graph, name) for name in step.inputs]
    return any(origins[i] & origins[j] for i in range(len(origins)) for j in range(i))


def _origins(graph: Graph, name: str) -> set[str]:
    return {before for before in nx.ancestors(graph.flow, name) | {name} if not graph.step(before).inputs}


# --- alternates and stores --------------------------------------------------------------------------


def _alternates(graph: Graph) -> tuple[Alternative, ...]:
    operators = [step for step in graph.steps
                 if isinstance(step.body, typed.Operator) and len(step.body.alternates) > 1]
    return tuple(_best(step) for step in operators)


def _best(step: typed.Step) -> Alternative:
    best = max(step.body.alternates, key=lambda alternate: alternate.value)
    others = ", ".join(f"{a.name} {a.value:g}" for a in step.body.alternates if a is not best)
    return Alternative(step.name, best.name, f"the highest value, {best.value:g} (others: {others})")


def needs_tuples(step: typed.Step) -> bool:
    """Whether some alternate must see the tuples of its window, not only what can be combined from panes."""
    if isinstance(step.body, typed.Operator) and any(isinstance(a.body, typed.CFunction) for a in step.body.alternates):
        return True
    return any(isinstance(part, typed.Aggregate) and not AGGREGATES[part.function].combinable
               for expr in expressions_of(step.body) for part in walk(expr))


def _stores(graph: Graph) -> tuple[tuple[str, str], ...]:
    return tuple((step.name, _store(step)) for step in graph.steps
                 if isinstance(step.body, typed.Scan) or isinstance(step.body, typed.Operator) and step.body.window)


def _store(step: typed.Step) -> str:
    if needs_tuples(step):
        return "keeps the tuples of open windows, because an alternate or aggregate needs them all"
    if isinstance(step.body, typed.Scan):
        return "one running value a group"
    return "one partial value a pane, combined for each window"


__all__ = ["choose", "is_keyed", "needs_tuples"]
