"""Walks over typed expressions: their parts, those of a step, and the aggregates a result is made from."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed


def children_of(expr: typed.Expr) -> tuple[typed.Expr, ...]:
    """The expressions directly inside one, in the order they stand."""
    match expr:
        case typed.Unary() | typed.Cast():
            return (expr.operand,)
        case typed.Binary():
            return (expr.left, expr.right)
        case typed.If():
            return (expr.condition, expr.then, expr.otherwise)
        case typed.Call():
            return expr.args
        case typed.Aggregate():
            return (() if expr.value is None else (expr.value,)) + expr.more
        case typed.Element():
            return (expr.array, expr.index)
        case typed.ArrayOf():
            return expr.elements
    return ()


def walk(expr: typed.Expr) -> Iterator[typed.Expr]:
    """The expression and everything inside it, outside first."""
    yield expr
    for child in children_of(expr):
        yield from walk(child)


def aggregates_of(construct: typed.Construct) -> tuple[typed.Aggregate, ...]:
    """Each different aggregate once, in the order they first stand: equal ones are computed together."""
    found = (node for value in construct.values for node in walk(value) if isinstance(node, typed.Aggregate))
    return tuple(dict.fromkeys(found))


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


def _window_expressions(window: typed.Window | None) -> tuple[typed.Expr, ...]:
    return (window.threshold, window.value) if isinstance(window, typed.DeltaWindow) else ()


def called_functions(program: typed.Program, step: typed.Step) -> dict[str, typed.Call]:
    """The functions of the program that a step calls, also through others, each with a call of the step."""
    bodies = {function.name: function.body for function in program.functions}
    found: dict[str, typed.Call] = {}
    todo = [(expr, None) for expr in reversed(expressions_of(step.body))]
    while todo:
        expr, outer = todo.pop()
        for node in walk(expr):
            if isinstance(node, typed.Call) and node.user and node.function not in found:
                found[node.function] = outer or node
                if not isinstance(bodies[node.function], typed.CFunction):
                    todo.append((bodies[node.function], outer or node))
    return found
