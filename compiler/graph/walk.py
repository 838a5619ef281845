"""The expressions of a step, and the aggregates that a result is made from."""

from __future__ import annotations

import networkx as nx

from ...dsl import typed
from ...dsl.typed_walk import children_of, walk
from ..artifacts.graph import Graph


def aggregates_of(construct: typed.Construct) -> tuple[typed.Aggregate, ...]:
    """Each different aggregate once, in the order they first stand: equal ones are computed together."""
    found = (node for value in construct.values for node in walk(value) if isinstance(node, typed.Aggregate))
    return tuple(dict.fromkeys(found))


def second_map(aggregate: typed.Aggregate) -> bool:
    """Whether its argument compares each tuple with an aggregate of the whole window: a second pass over it."""
    return any(isinstance(node, typed.Aggregate) for child in children_of(aggregate) for node in walk(child))


def expressions_of(body: typed.Body) -> tuple[typed.Expr, ...]:
    """The expressions that stand in a step, not the ones inside them."""
    match body:
        case typed.Filter():
            return (body.predicate,)
        case typed.Branch():
            return body.before + (() if body.predicate is None else (body.predicate,))
        case typed.FlatMap():
            return (body.sequence,)
        case typed.Map() | typed.Join() | typed.Broadcast() | typed.Scan():
            return body.construct.values
        case typed.Update():
            following = () if isinstance(body.next, typed.CFunction) else body.next
            return body.initial + following + body.construct.values
        case typed.Operator():
            return _window_expressions(body.window) + tuple(
                value for alternate in body.alternates if isinstance(alternate.body, typed.Construct)
                for value in alternate.body.values)
    return ()


def has_time(graph: Graph, step: typed.Step) -> bool:
    """Whether watermarks move on the way to this step: some source before it has a time."""
    before = (graph.step(name) for name in nx.ancestors(graph.flow, step.name) | {step.name})
    return any(isinstance(s.body, typed.Source) and (s.body.event_time is not None or s.body.processing_time)
               for s in before)


def _window_expressions(window: typed.Window | None) -> tuple[typed.Expr, ...]:
    return (window.threshold, window.value) if isinstance(window, typed.DeltaWindow) else ()
