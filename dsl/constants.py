"""Folding: an operation whose operands are literals becomes a literal, with the language's own arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from . import typed
from .types import UNIT_NS, Bool, Duration, Float, Int, Text, Timestamp, Type

_COMPARE = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def wrap(value: int, type_: Type) -> int:
    """The value modulo the width of an integer type; times are 64 bit and signed."""
    int_type = type_ if isinstance(type_, Int) else Int(64, True)
    return (value - int_type.low) % (1 << int_type.bits) + int_type.low


def units(nanoseconds: int, unit: str) -> int | None:
    """A length of time as a count of units, None when it does not divide."""
    count, rest = divmod(nanoseconds, UNIT_NS[unit])
    return None if rest else count


def exact(number: str | int | float, factor: int) -> int | None:
    """A written number times a factor, None when that is no integer."""
    product = Fraction(str(number).replace("_", "")) * factor
    return int(product) if product.denominator == 1 else None


def fold(expr: typed.Expr) -> typed.Expr:
    """The literal that the node amounts to, or the node itself. Faults (division by zero) stay to run."""
    match expr:
        case typed.Unary(op="-", operand=typed.Literal() as operand):
            value = _negated(operand.value, expr.type)
        case typed.Unary(op="not", operand=typed.Literal() as operand):
            value = not operand.value
        case typed.Binary(op=op, left=typed.Literal() as left, right=typed.Literal() as right):
            value = _binary(op, left, right, expr.type)
        case typed.If(condition=typed.Literal() as condition):
            return expr.then if condition.value else expr.otherwise
        case typed.Cast(operand=typed.Literal() as operand):
            value = _cast(operand, expr.type)
        case _:
            return expr
    return expr if value is None else typed.Literal(value, expr.type, expr.span)


def _negated(value: int | float, type_: Type) -> int | float:
    return -value if isinstance(value, float) else wrap(-value, type_)


def _binary(op: str, left: typed.Literal, right: typed.Literal, type_: Type) -> int | float | bool | None:
    a, b = left.value, right.value
    if op in _COMPARE:
        return _COMPARE[op](*((a.encode(), b.encode()) if isinstance(a, str) else (a, b)))
    if op in ("and", "or"):
        return (a and b) if op == "and" else (a or b)
    return _float(op, a, b) if isinstance(type_, Float) else _integer(op, a, b, type_)


def _integer(op: str, a: int, b: int, type_: Type) -> int | None:
    if op in "+-*":
        return wrap(a + b if op == "+" else a - b if op == "-" else a * b, type_)
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return wrap(quotient if op == "/" else a - b * quotient, type_)


def _float(op: str, a: float, b: float) -> float | None:
    if op in "+-*":
        return a + b if op == "+" else a - b if op == "-" else a * b
    if b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return None
    return a / b if op == "/" else math.fmod(a, b)


def _single(value: float) -> float:
    """The nearest f32."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def _cast(operand: typed.Literal, type_: Type) -> int | float | str | None:
    value = operand.value
    if isinstance(value, bool) or isinstance(type_, Bool):
        return None
    if isinstance(value, str):
        return None if isinstance(type_, Text) and len(value.encode()) > type_.size else value
    if isinstance(type_, Float):
        return float(value) if type_.bits == 64 else _single(float(value))
    if isinstance(type_, Timestamp | Duration) and isinstance(operand.type, Timestamp | Duration):
        return value * UNIT_NS[operand.type.unit] // UNIT_NS[type_.unit]
    return wrap(value, type_) if isinstance(value, int) else _truncated(value, type_)


def _truncated(value: float, type_: Type) -> int | None:
    """A float as an integer: towards zero, at most the type's limits, NaN as 0."""
    if not isinstance(type_, Int):
        return None
    if math.isnan(value):
        return 0
    return type_.high if value >= type_.high else type_.low if value <= type_.low else int(value)
