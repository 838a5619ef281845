"""The built-in scalar functions, defined here a second time, independently of the C runtime.

Mathematics follows C's libm: a domain error gives NaN or an infinity, never an exception.
"""

from __future__ import annotations

import datetime
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


def hash_(value: int | str | bool) -> int:
    """The runtime's hash of a key: numbers by two multiplications, strings eight bytes at a time."""
    return _hash_bytes(value.encode()) if isinstance(value, str) else _hash_number(int(value) & _ALL)


_ALL = (1 << 64) - 1


def _hash_number(value: int) -> int:
    for _ in range(2):
        value = (value ^ value >> 32) * 0xD6E8FEB86659FD93 & _ALL
    return value ^ value >> 32


def _fold(left: int, right: int) -> int:
    product = left * right
    return product & _ALL ^ product >> 64


def _hash_bytes(data: bytes) -> int:
    state = 0x243F6A8885A308D3 ^ len(data) * 0x9E3779B97F4A7C15 & _ALL
    while len(data) > 8:
        word, data = int.from_bytes(data[:8], "little"), data[8:]
        state = _fold(state ^ word, 0xA0761D6478BD642F) + word & _ALL
    return _hash_number(_fold(state ^ _tail(data), 0xE7037ED1A0B428DB) ^ state)


def _tail(data: bytes) -> int:
    if len(data) >= 4:
        return int.from_bytes(data[:4], "little") << 32 | int.from_bytes(data[-4:], "little")
    return data[0] << 16 | data[len(data) // 2] << 8 | data[-1] if data else 0


def _calendar(part: Callable[[datetime.date, int], int]) -> Callable[[int], int]:
    """A part of a moment in UTC, given in seconds. Python's calendar covers the years 1 to 9999; 400 years repeat."""
    def function(seconds: int) -> int:
        days, of_day = divmod(seconds, 86400)
        era, days = divmod(days, 146097)
        return part(datetime.date(1970, 1, 1) + datetime.timedelta(days), of_day) + (400 * era if part is _year else 0)
    return function


def _year(date: datetime.date, _: int) -> int:
    return date.year


FUNCTIONS: dict[str, Callable] = {
    "hash": hash_,
    "year": _calendar(_year),
    "month": _calendar(lambda date, _: date.month),
    "day": _calendar(lambda date, _: date.day),
    "hour": _calendar(lambda _, second: second // 3600),
    "minute": _calendar(lambda _, second: second // 60 % 60),
    "second": _calendar(lambda _, second: second % 60),
    "weekday": _calendar(lambda date, _: date.isoweekday()),
    "day_of_year": _calendar(lambda date, _: date.timetuple().tm_yday),
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
