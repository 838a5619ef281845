"""Machine numbers on top of Python's: 64-bit integers that wrap, IEEE floats that never raise."""

from __future__ import annotations

import ctypes
import math

from ...dsl.types import UNIT_NS, Array, Bool, Float, Int, Text, Type, is_string, is_time


def wrap(value: int, bits: int = 64, signed: bool = True) -> int:
    """The integer that a two's complement register of `bits` bits would hold."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def wrap_as(value: int, type_: Type) -> int:
    """Timestamps and durations are signed 64-bit counts."""
    return wrap(value, type_.bits, type_.signed) if isinstance(type_, Int) else wrap(value)


def divide_integers(left: int, right: int) -> int:
    """Truncates towards zero; the caller has looked at `right == 0`."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder_integers(left: int, right: int) -> int:
    """The sign is that of `left`."""
    return left - right * divide_integers(left, right)


def divide_floats(left: float, right: float) -> float:
    if right != 0.0:
        return left / right
    if left == 0.0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, math.copysign(1.0, left) * math.copysign(1.0, right))


def remainder_floats(left: float, right: float) -> float:
    try:
        return math.fmod(left, right)
    except ValueError:
        return math.nan


def to_f32(value: float) -> float:
    """The nearest f32, as a Python float."""
    return ctypes.c_float(value).value


def integer_to_f32(value: int) -> float:
    """Rounded once: what does not fit a double keeps its lost bits as one sticky bit."""
    if abs(value) < 1 << 53:
        return to_f32(float(value))
    shift = abs(value).bit_length() - 50
    kept, lost = divmod(abs(value), 1 << shift)
    magnitude = to_f32(math.ldexp(float(kept | (lost != 0)), shift))
    return magnitude if value >= 0 else -magnitude


def float_to_integer(value: float, low: int, high: int) -> int:
    """Truncates, saturates; NaN gives 0."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(math.trunc(value), low), high)


def cut_text(text: str, size: int) -> str:
    """At most `size` bytes of UTF-8, cut between characters."""
    return text.encode()[:size].decode(errors="ignore")


def convert(value, source: Type, target: Type):
    """A value of one type as a value of another: the meaning of `typed.Cast`."""
    if isinstance(target, Array):
        return tuple(convert(element, source.element, target.element) for element in value)
    if isinstance(target, Float):
        return _to_float(value, target.bits)
    if is_string(target):
        return cut_text(value, target.size) if isinstance(target, Text) else value
    if is_time(source) and is_time(target):
        return wrap(value * UNIT_NS[source.unit] // UNIT_NS[target.unit])
    if isinstance(target, Int) or is_time(target):
        return _to_integer(value, target)
    return value


def zero_of(type_: Type):
    """What an element outside its array is."""
    if isinstance(type_, Array):
        return (zero_of(type_.element),) * type_.size
    if is_string(type_):
        return ""
    return 0.0 if isinstance(type_, Float) else False if isinstance(type_, Bool) else 0


def _to_float(value, bits: int) -> float:
    if bits == 64:
        return float(value)
    return to_f32(value) if isinstance(value, float) else integer_to_f32(value)


def _to_integer(value, target: Type) -> int:
    if not isinstance(value, float):
        return wrap_as(int(value), target)
    low, high = (target.low, target.high) if isinstance(target, Int) else (-(1 << 63), (1 << 63) - 1)
    return float_to_integer(value, low, high)
