"""The built-in scalar functions, defined here a second time, independently of the C runtime.

Mathematics follows C's libm: a domain error gives NaN or an infinity, never an exception.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable

from .numbers import wrap

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_ASCII_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)
_ASCII_SPACE = " \t\n\r\v\f"


def absolute(value):
    """The least i64 has no opposite and stays as it is."""
    return abs(value) if isinstance(value, float) or value >= 0 else wrap(-value)


def _rounded(rounding: Callable[[float], int]) -> Callable[[float], float]:
    """NaN and infinities stay; a zero keeps the sign of what was rounded."""
    def function(value: float) -> float:
        return math.copysign(float(rounding(value)), value) if math.isfinite(value) else value
    return function


def _half_away_from_zero(value: float) -> int:
    whole = math.trunc(value)
    return whole + (1 if value > 0 else -1) if abs(value - whole) >= 0.5 else whole


def _defined(function: Callable[[float], float]) -> Callable[[float], float]:
    """NaN outside the function's domain, +inf beyond the largest float."""
    def total(value: float) -> float:
        try:
            return function(value)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf
    return total


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    inner = _defined(function)
    return lambda value: -math.inf if value == 0.0 else inner(value)


def power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (ValueError, OverflowError) as error:
        if isinstance(error, ValueError) and base != 0.0:
            return math.nan
        odd = math.fmod(exponent, 2.0) in (1.0, -1.0)
        return math.copysign(math.inf, base) if odd else math.inf


def least(*values):
    """NaN only when all are."""
    return min([v for v in values if v == v] or values)


def greatest(*values):
    return max([v for v in values if v == v] or values)


def split(text: str, separator: str) -> list[str]:
    """The pieces between separators, empty ones included; an empty separator separates nothing."""
    return text.split(separator) if separator else [text]


FUNCTIONS: dict[str, Callable] = {
    "abs": absolute,
    "floor": _rounded(math.floor), "ceil": _rounded(math.ceil),
    "round": _rounded(_half_away_from_zero), "trunc": _rounded(math.trunc),
    "sqrt": _defined(math.sqrt), "exp": _defined(math.exp),
    "log": _logarithm(math.log), "log2": _logarithm(math.log2), "log10": _logarithm(math.log10),
    "pow": power,
    "sin": _defined(math.sin), "cos": _defined(math.cos), "tan": _defined(math.tan),
    "is_nan": math.isnan,
    "least": least, "greatest": greatest,
    "length": len, "split": split,
    "lower": lambda text: text.translate(_ASCII_LOWER),
    "upper": lambda text: text.translate(_ASCII_UPPER),
    "contains": lambda text, part: part in text,
    "starts_with": str.startswith, "ends_with": str.endswith,
    "trim": lambda text: text.strip(_ASCII_SPACE),
}
