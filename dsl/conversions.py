"""How a value of one type becomes one of another: widening for arithmetic, storing into a field, passing on.

Every function gives back an expression whose conversions are explicit `Cast`s, or raises a `Mistake`.
"""

from __future__ import annotations

from . import typed
from .constants import fold, units
from .mistake import WRONG, Mistake
from .types import (
    F64,
    I64,
    SYMBOL,
    U64,
    UNIT_NS,
    Array,
    Duration,
    Float,
    Int,
    Symbol,
    Text,
    Type,
    is_number,
    is_string,
    is_time,
)


def cast(expr: typed.Expr, type_: Type) -> typed.Expr:
    """The expression as that type, without asking whether that makes sense."""
    return expr if expr.type == type_ or expr.type == WRONG else fold(typed.Cast(expr, type_, expr.span))


def is_literal(expr: typed.Expr, of: type) -> bool:
    return isinstance(expr, typed.Literal) and isinstance(expr.type, of)


def balance(left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr]:
    """Two numbers as one machine type: f64 if one is a float, u64 if one is u64, else i64."""
    if isinstance(left.type, Float) or isinstance(right.type, Float):
        return cast(left, F64), cast(right, F64)
    if U64 in (left.type, right.type):
        return _as_u64(left, right), _as_u64(right, left)
    return cast(left, I64), cast(right, I64)


def _as_u64(expr: typed.Expr, other: typed.Expr) -> typed.Expr:
    """u64 takes unsigned values and literals that are not negative; the sign of others would be lost."""
    if is_literal(expr, Int) and expr.value >= 0 or not expr.type.signed:
        return cast(expr, U64)
    negative = is_literal(expr, Int)
    raise Mistake("E0201", expr.span, f"{expr.type} is signed and meets u64", around="" if negative else "u64({})",
                  expected="both signed or both unsigned: convert one side with `u64(…)` or `i64(…)`")


def as_i64(expr: typed.Expr, why: str) -> typed.Expr:
    """An integer in a place that is signed."""
    if expr.type == U64 and not is_literal(expr, Int):
        raise Mistake("E0201", expr.span, why, around="i64({})", expected="a signed integer")
    return cast(expr, I64)


def same_unit(left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr]:
    """Two times in one unit; only a literal duration changes its unit, and only exactly."""
    if left.type.unit == right.type.unit:
        return left, right
    finer = min(left.type.unit, right.type.unit, key=UNIT_NS.__getitem__)
    if is_literal(left, Duration) and is_literal(right, Duration):
        return in_unit(left, finer), in_unit(right, finer)
    if is_literal(right, Duration):
        return left, in_unit(right, left.type.unit)
    if is_literal(left, Duration):
        return in_unit(left, right.type.unit), right
    raise Mistake("E0205", right.span, f"{right.type} meets {left.type}",
                  expected="times of the same unit; a declared field of the other unit converts")


def in_unit(literal: typed.Literal, unit: str) -> typed.Literal:
    """A literal duration in another unit."""
    count = units(literal.value * UNIT_NS[literal.type.unit], unit)
    if count is None:
        raise Mistake("E0206", literal.span, f"{literal.value}{literal.type.unit} does not divide into {unit}",
                      expected=f"a whole number of {unit}")
    return typed.Literal(count, Duration(unit), literal.span)


def unify(left: typed.Expr, right: typed.Expr) -> tuple[typed.Expr, typed.Expr] | None:
    """Two values as one type, as the branches of an `if`; None when there is no such type."""
    a, b = left.type, right.type
    if a == b:
        return left, right
    if is_number(a) and is_number(b):
        return balance(left, right)
    if is_string(a) and is_string(b):
        both = Text(max(a.size, b.size)) if isinstance(a, Text) and isinstance(b, Text) else SYMBOL
        return cast(left, both), cast(right, both)
    if is_time(a) and type(a) is type(b):
        return same_unit(left, right)
    return None


def unify_all(exprs: list[typed.Expr], why: str) -> list[typed.Expr]:
    """All as one type: the first is unified with each of the others, then all are cast to the outcome."""
    common = exprs[0]
    for expr in exprs[1:]:
        pair = unify(common, expr)
        if pair is None:
            raise Mistake("E0203", expr.span, f"{expr.type} stands beside {common.type}: {why}",
                          expected=str(common.type))
        common = pair[0]
    return [cast(expr, common.type) for expr in exprs]


def can_store(source: Type, target: Type) -> bool:
    """Whether a value of one type can be put into a declared field of another."""
    if source == target or is_number(source) and is_number(target) or is_string(source) and is_string(target):
        return True
    if is_time(source) and is_time(target):
        return type(source) is type(target)
    if isinstance(source, Array) and isinstance(target, Array):
        return source.size == target.size and can_store(source.element, target.element)
    return isinstance(source, Int) and is_time(target) or is_time(source) and isinstance(target, Int)


def store(expr: typed.Expr, target: Type) -> typed.Expr | None:
    """The value as it is put into a declared field; None when it does not go in."""
    if expr.type == WRONG or expr.type == target:
        return expr
    if not can_store(expr.type, target):
        return None
    if isinstance(target, Array):
        return _store_array(expr, target)
    return cast(expr, target)


def _store_array(expr: typed.Expr, target: Array) -> typed.Expr | None:
    """Only an array that is written out converts, element by element."""
    if not isinstance(expr, typed.ArrayOf):
        return None
    stored = [store(element, target.element) for element in expr.elements]
    return None if None in stored else typed.ArrayOf(tuple(stored), target, expr.span)


def pass_on(expr: typed.Expr, target: Type) -> typed.Expr | None:
    """The value as an argument: like storing, but nothing may be lost without being written."""
    source = expr.type
    if WRONG in (source, target) or source == target:
        return expr
    if isinstance(source, Int) and isinstance(target, Int):
        fits = is_literal(expr, Int) and target.low <= expr.value <= target.high
        return cast(expr, target) if fits or target.low <= source.low and source.high <= target.high else None
    if isinstance(source, Float) and isinstance(target, Int):
        return None
    if is_literal(expr, Duration) and isinstance(target, Duration):
        return in_unit(expr, target.unit)
    if is_time(source) or is_time(target):
        return None
    return store(expr, target)


def loses(expr: typed.Expr, target: Type) -> bool:
    """Whether a literal is changed by being stored, which is legal and hardly ever meant."""
    if is_literal(expr, Int) and isinstance(target, Int):
        return not target.low <= expr.value <= target.high
    if is_literal(expr, Duration) and isinstance(target, Duration):
        return units(nanoseconds(expr), target.unit) is None
    return is_literal(expr, Symbol) and isinstance(target, Text) and len(expr.value.encode()) > target.size


def nanoseconds(literal: typed.Literal) -> int:
    return literal.value * UNIT_NS[literal.type.unit]
