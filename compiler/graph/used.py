"""What a graph uses of its program's functions and aggregates, and of the user's C."""

from __future__ import annotations

from collections.abc import Iterable

from ...dsl import typed
from ...dsl.typed_walk import walk
from ..artifacts.graph import Graph
from .walk import expressions_of


def used_aggregates(graph: Graph) -> tuple[typed.AggregateDef, ...]:
    """The aggregates of the program that some step computes, in the order they are declared."""
    named = {part.function for expr in _step_expressions(graph) for part in walk(expr)
             if isinstance(part, typed.Aggregate) and part.user}
    return tuple(definition for definition in graph.program.aggregates if definition.name in named)


def used_functions(graph: Graph) -> tuple[typed.Function, ...]:
    """The functions of the program that are called, also through others; called ones before their callers."""
    bodies = {function.name: function for function in graph.program.functions}
    aggregates = used_aggregates(graph)
    found: dict[str, typed.Function] = {}

    def visit(exprs: Iterable[typed.Expr]) -> None:
        for call in (part for expr in exprs for part in walk(expr) if isinstance(part, typed.Call) and part.user):
            function = bodies[call.function]
            if function.name not in found:
                visit(() if isinstance(function.body, typed.CFunction) else (function.body,))
                found[function.name] = function

    visit(_step_expressions(graph))
    visit(expr for one in aggregates if one.c is None for expr in (*one.lift, *one.combine, one.lower))
    return tuple(found.values())


def c_functions(graph: Graph) -> tuple[typed.CFunction, ...]:
    """Everything that is written in C, as named in the program."""
    alternates = (alternate.body for step in graph.steps if isinstance(step.body, typed.Operator)
                  for alternate in step.body.alternates)
    updates = (step.body.next for step in graph.steps if isinstance(step.body, typed.Update))
    functions = (function.body for function in used_functions(graph))
    aggregates = (definition.c for definition in used_aggregates(graph))
    return tuple(body for group in (alternates, updates, functions, aggregates) for body in group
                 if isinstance(body, typed.CFunction))


def _step_expressions(graph: Graph) -> list[typed.Expr]:
    return [expr for step in graph.steps for expr in expressions_of(step.body)]
