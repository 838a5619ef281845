"""The meaning of an expression: its value for the tuples, window and locals in scope."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...dsl import typed
from ...dsl.types import Float, Record
from ..graph.runnable import no_user_c
from .builtins import FUNCTIONS
from .numbers import (
    convert,
    divide_floats,
    divide_integers,
    remainder_floats,
    remainder_integers,
    wrap,
    wrap_as,
    zero_of,
)
from .user_c import UserC

Row = tuple


@dataclass(slots=True)
class Faults:
    """How often an expression of one step divided by zero or looked outside an array."""

    count: int = 0


@dataclass(slots=True)
class Scope:
    """What names stand for while an expression of one step is evaluated.

    `rows` are the tuples at hand, one for each side; `columns` say where a field is in them. `definitions` are
    the aggregates of the program, `user_c` the C of the program.
    """

    functions: Mapping[str, typed.Function]
    columns: tuple[Mapping[str, int], ...] = ()
    rows: tuple[Row, ...] = ()
    locals: Mapping[str, object] = field(default_factory=dict)
    aggregates: Mapping[typed.Aggregate, object] = field(default_factory=dict)
    bounds: tuple[int, int] | None = None
    faults: Faults = field(default_factory=Faults)
    definitions: Mapping[str, typed.AggregateDef] = field(default_factory=dict)
    user_c: UserC | None = None

    def of_locals(self, names: Mapping[str, object], faults: Faults | None = None) -> Scope:
        """Inside a function or an aggregate: nothing but its own names."""
        return Scope(self.functions, locals=names, faults=faults or self.faults, user_c=self.user_c)

    def c_for(self, what: str, place: typed.CFunction) -> UserC:
        if self.user_c is None:
            raise no_user_c(what, place.span)
        return self.user_c


def columns_of(record: Record) -> dict[str, int]:
    return {column.name: index for index, column in enumerate(record.fields)}


def evaluate(expr: typed.Expr, scope: Scope):
    return _MEANING[type(expr)](expr, scope)


def construct(body: typed.Construct, scope: Scope) -> Row:
    return tuple(evaluate(value, scope) for value in body.values)


def _literal(expr: typed.Literal, scope: Scope):
    return float(expr.value) if isinstance(expr.type, Float) else expr.value


def _field(expr: typed.FieldRef, scope: Scope):
    return scope.rows[expr.side][scope.columns[expr.side][expr.name]]


def _local(expr: typed.LocalRef, scope: Scope):
    return scope.locals[expr.name]


def _unary(expr: typed.Unary, scope: Scope):
    value = evaluate(expr.operand, scope)
    if expr.op == "not":
        return not value
    return -value if isinstance(value, float) else wrap_as(-value, expr.type)


def _binary(expr: typed.Binary, scope: Scope):
    left = evaluate(expr.left, scope)
    if expr.op == "and":
        return left and evaluate(expr.right, scope)
    if expr.op == "or":
        return left or evaluate(expr.right, scope)
    right = evaluate(expr.right, scope)
    if expr.op in _COMPARISONS:
        # Python orders strings by code point, which is the order of their UTF-8 bytes.
        return _COMPARISONS[expr.op](left, right)
    if isinstance(left, float):
        return _FLOAT_ARITHMETIC[expr.op](left, right)
    if expr.op in "/%" and right == 0:
        scope.faults.count += 1
        return 0
    return wrap_as(_INTEGER_ARITHMETIC[expr.op](left, right), expr.type)


def _if(expr: typed.If, scope: Scope):
    return evaluate(expr.then if evaluate(expr.condition, scope) else expr.otherwise, scope)


def _cast(expr: typed.Cast, scope: Scope):
    return convert(evaluate(expr.operand, scope), expr.operand.type, expr.type)


def _call(expr: typed.Call, scope: Scope):
    args = [evaluate(arg, scope) for arg in expr.args]
    if not expr.user:
        return FUNCTIONS[expr.function](*args)
    function = scope.functions[expr.function]
    if isinstance(function.body, typed.CFunction):
        user_c = scope.c_for(f"function `{function.name}`", function.body)
        return user_c.call_function(function.body.name, args, function.result)
    names = (name for name, _ in function.params)
    return evaluate(function.body, scope.of_locals(dict(zip(names, args, strict=True))))


def _aggregate(expr: typed.Aggregate, scope: Scope):
    return scope.aggregates[expr]


def _window_bound(expr: typed.WindowBound, scope: Scope):
    return wrap(scope.bounds[0] if expr.bound == "start" else scope.bounds[1])


def _element(expr: typed.Element, scope: Scope):
    array, index = evaluate(expr.array, scope), evaluate(expr.index, scope)
    if 0 <= index < len(array):
        return array[index]
    scope.faults.count += 1
    return zero_of(expr.type)


def _array(expr: typed.ArrayOf, scope: Scope) -> tuple:
    return tuple(evaluate(element, scope) for element in expr.elements)


_COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
                ">": operator.gt, ">=": operator.ge}
_SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_FLOAT_ARITHMETIC = {**_SUMS, "/": divide_floats, "%": remainder_floats}
_INTEGER_ARITHMETIC = {**_SUMS, "/": divide_integers, "%": remainder_integers}
_MEANING = {
    typed.Literal: _literal, typed.FieldRef: _field, typed.LocalRef: _local, typed.Unary: _unary,
    typed.Binary: _binary, typed.If: _if, typed.Cast: _cast, typed.Call: _call,
    typed.Aggregate: _aggregate, typed.WindowBound: _window_bound, typed.Element: _element, typed.ArrayOf: _array,
}
