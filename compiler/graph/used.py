"""What a graph uses of its program's functions and aggregates, of the user's C, and of a source's fields."""

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


def used_fields(graph: Graph, step: typed.Step) -> frozenset[str]:
    """The fields of a step's tuples that anything looks at: a later step, a sink, the source's own clock.

    With its own list of steps to look at: a chain of filters may be longer than Python's stack."""
    read = {step.body.event_time} if isinstance(step.body, typed.Source) and step.body.event_time else set()
    seen, waiting = {step.name}, [step]
    while waiting:
        given = waiting.pop()
        for consumer in graph.consumers(given.name):
            read |= _fields_read(given, consumer)
            if isinstance(consumer.body, _PASSED_ON) and consumer.name not in seen:
                seen.add(consumer.name)
                waiting.append(consumer)
    return frozenset(read)


_PASSED_ON = typed.Filter | typed.Branch | typed.Union_ | typed.Late  # their tuples go on as they are


def _fields_read(step: typed.Step, consumer: typed.Step) -> set[str]:
    """By the consumer itself, not by what comes after it."""
    body = consumer.body
    if isinstance(body, typed.Sink | typed.Port) or _hands_tuples_to_c(body):
        return {field.name for field in step.record.fields}
    sides = {side for side, name in enumerate(consumer.inputs) if name == step.name}
    read = {part.name for expr in expressions_of(body) for part in walk(expr)
            if isinstance(part, typed.FieldRef) and part.side in sides}
    read.update(*(keys for side, keys in enumerate(_keys_of(body)) if side in sides))
    if isinstance(body, typed.Operator):
        read.update(*(alternate.columns for alternate in body.alternates))
    return read


def _hands_tuples_to_c(body: typed.Body) -> bool:
    in_c = isinstance(body, typed.Update) and isinstance(body.next, typed.CFunction)
    return in_c or (isinstance(body, typed.Operator)
                    and any(isinstance(alternate.body, typed.CFunction) and not alternate.columns
                            for alternate in body.alternates))


def _keys_of(body: typed.Body) -> tuple[tuple[str, ...], ...]:
    """The key of each input."""
    if isinstance(body, typed.Join):
        return body.left_keys, body.right_keys
    return (body.keys,) if isinstance(body, typed.Scan | typed.Update | typed.Operator) else ()


def _step_expressions(graph: Graph) -> list[typed.Expr]:
    return [expr for step in graph.steps for expr in expressions_of(step.body)]
