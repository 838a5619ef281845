"""The types of arithmetic, comparison and logic, as the language's tables say."""

from __future__ import annotations

from . import typed
from .constants import fold
from .conversions import as_i64, balance, cast, is_literal, same_unit
from .mistake import Mistake
from .span import Span
from .types import BOOL, F64, I64, U64, Bool, Duration, Float, Int, Timestamp, Type, is_number, is_string, is_time

ARITHMETIC = frozenset("+-*/%")
COMPARISON = frozenset(("==", "!=", "<", "<=", ">", ">="))


def binary(op: str, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
    """The operation with its operands converted, folded when both are literals."""
    if op in ("and", "or"):
        return fold(typed.Binary(op, _truth(left, op), _truth(right, op), BOOL, span))
    if op in COMPARISON:
        return fold(typed.Binary(op, *_comparable(op, left, right), BOOL, span))
    if is_time(left.type) or is_time(right.type):
        return fold(_time_arithmetic(op, left, right, span))
    for operand in (left, right):
        if not is_number(operand.type):
            raise _no_operand(op, operand)
    left, right = balance(left, right)
    return fold(typed.Binary(op, left, right, left.type, span))


def negation(operand: typed.Expr, span: Span) -> typed.Expr:
    """Unary minus: what it gives is i64, f64 or a duration."""
    if isinstance(operand.type, Duration):
        return fold(typed.Unary("-", operand, operand.type, span))
    if not is_number(operand.type):
        raise _no_operand("-", operand)
    if operand.type == U64:
        raise Mistake("E0201", span, "u64 has no negative values", expected="a signed operand", around="")
    operand = cast(operand, F64 if isinstance(operand.type, Float) else I64)
    return fold(typed.Unary("-", operand, operand.type, span))


def inversion(operand: typed.Expr, span: Span) -> typed.Expr:
    return fold(typed.Unary("not", _truth(operand, "not"), BOOL, span))


def _truth(operand: typed.Expr, op: str) -> typed.Expr:
    if operand.type != BOOL:
        raise Mistake("E0202", operand.span, f"`{op}` needs true or false, this is {operand.type}", expected="bool",
                      around="{} != 0" if isinstance(operand.type, Int) else "")
    return operand


def _no_operand(op: str, operand: typed.Expr) -> Mistake:
    return Mistake("E0200", operand.span, f"`{op}` does not work on {operand.type}", expected="a number")


def _no_meeting(op: str, left: typed.Expr, right: typed.Expr, span: Span, expected: str) -> Mistake:
    return Mistake("E0200", span, f"`{op}` does not work on {left.type} and {right.type}", expected=expected)


# --- comparison -------------------------------------------------------------------------------------


def _comparable(op: str, left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr]:
    a, b = left.type, right.type
    if is_number(a) and is_number(b):
        return balance(left, right)
    if is_string(a) and is_string(b):
        return left, right
    if isinstance(a, Bool) and isinstance(b, Bool) and op in ("==", "!="):
        return left, right
    if is_time(a) and type(a) is type(b):
        return same_unit(left, right)
    if is_time(a) and is_literal(right, Int):
        return left, cast(right, a)
    if is_time(b) and is_literal(left, Int):
        return cast(left, b), right
    raise Mistake("E0204", left.span.to(right.span), f"{a} can't be compared with {b} by `{op}`",
                  expected=_comparison_hint(a, b))


def _comparison_hint(a: Type, b: Type) -> str:
    if isinstance(a, Bool) and isinstance(b, Bool):
        return "`==` or `!=`: bool has no order"
    if {type(a), type(b)} == {Timestamp, Duration}:
        return "two timestamps or two durations"
    if is_time(a) and isinstance(b, Int) or is_time(b) and isinstance(a, Int):
        return "two times; `i64(…)` turns a time into a number of its units"
    return "two numbers, two strings, two times or two bools"


# --- time -------------------------------------------------------------------------------------------

# What an operation on times gives: kinds are t(imestamp), d(uration), i(nteger); `T` and `D` keep the unit.
_TIME_RESULTS = {
    ("t", "+", "d"): "T", ("t", "-", "d"): "T", ("d", "+", "t"): "T", ("t", "-", "t"): "D",
    ("d", "+", "d"): "D", ("d", "-", "d"): "D", ("d", "/", "d"): "I", ("d", "%", "d"): "D",
    ("t", "+", "i"): "T", ("t", "-", "i"): "T", ("i", "+", "t"): "T",
    ("t", "*", "i"): "I", ("t", "/", "i"): "I", ("t", "%", "i"): "I", ("i", "*", "t"): "I",
    ("d", "+", "i"): "D", ("d", "-", "i"): "D", ("i", "+", "d"): "D", ("i", "-", "d"): "D",
    ("d", "*", "i"): "D", ("d", "/", "i"): "D", ("d", "%", "i"): "D", ("i", "*", "d"): "D",
}


def _time_arithmetic(op: str, left: typed.Expr, right: typed.Expr, span: Span) -> typed.Expr:
    for operand in (left, right):
        if not (is_number(operand.type) or is_time(operand.type)):
            raise _no_operand(op, operand)
    if isinstance(left.type, Float) or isinstance(right.type, Float):
        return typed.Binary(op, cast(left, F64), cast(right, F64), F64, span)
    result = _TIME_RESULTS.get((_kind(left.type), op, _kind(right.type)))
    if result is None:
        raise _no_meeting(op, left, right, span, "timestamp ± duration, timestamp - timestamp or duration * number")
    if is_time(left.type) and is_time(right.type):
        left, right = same_unit(left, right)
    unit = left.type.unit if is_time(left.type) else right.type.unit
    why = "u64 meets a time, which is signed"
    left, right = (as_i64(e, why) if isinstance(e.type, Int) else e for e in (left, right))
    return typed.Binary(op, left, right, {"T": Timestamp(unit), "D": Duration(unit), "I": I64}[result], span)


def _kind(type_: Type) -> str:
    return "t" if isinstance(type_, Timestamp) else "d" if isinstance(type_, Duration) else "i"
