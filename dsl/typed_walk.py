"""Walks over typed expressions: what stands directly inside one, and everything in it."""

from __future__ import annotations

from collections.abc import Iterator

from . import typed


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
