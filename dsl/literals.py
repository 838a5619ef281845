"""The values of literals: numbers, numbers with units, strings. Exact, and bounded: nothing overflows silently."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from .types import UNIT_NS

_SCALE = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

# unit -> (kind, how much of the kind's base unit: nanoseconds, per second, hertz, bytes, bytes per second)
UNITS: dict[str, tuple[str, Fraction]] = {
    **{unit: ("time", Fraction(ns)) for unit, ns in UNIT_NS.items()},
    **{f"{prefix}/s": ("rate", Fraction(scale)) for prefix, scale in _SCALE.items()},
    **{f"{prefix}/min": ("rate", Fraction(scale, 60)) for prefix, scale in _SCALE.items()},
    **{f"{prefix}Hz": ("frequency", Fraction(scale)) for prefix, scale in _SCALE.items()},
    **{unit: ("size", Fraction(size)) for unit, size in _BYTES.items()},
    **{f"{unit}/s": ("bandwidth", Fraction(size)) for unit, size in _BYTES.items()},
}

_NUMBER = re.compile(r"([0-9_]+(?:\.[0-9_]+)?)(?:[eE]([+-]?[0-9]+))?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|.)", re.DOTALL)
_PLAIN = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r"}

# Far beyond every type of the language, and small enough to compute with.
_MAX_DIGITS, _MAX_EXPONENT = 400, 400


class LiteralError(ValueError):
    """What is wrong with a literal, with the code of the mistake."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


def parse_number(text: str) -> int | float:
    """`12`, `1_000`, `1.5e-3`; with k, M or G a whole number."""
    digits, exponent, suffix = _parts(text)
    if suffix:
        value = _exact(digits, exponent) * _SCALE[suffix]
        if value.denominator != 1:
            raise LiteralError("E0010", f"`{text}` is not a whole number")
        return value.numerator
    if exponent is None and "." not in digits:
        return int(digits)
    number = float(f"{digits}e{exponent or 0}")
    if math.isinf(number):
        raise LiteralError("E0011", f"`{text}` is too large for a floating-point number")
    return number


def parse_measure(text: str) -> tuple[str, Fraction, str]:
    """The kind, the amount in the kind's base unit, and the unit as written."""
    digits, exponent, unit = _parts(text)
    kind, base = UNITS[unit]
    return kind, _exact(digits, exponent) * base, unit


def parse_string(text: str) -> str:
    """The value of a string literal, quotes included in `text`."""
    value = _ESCAPE.sub(_unescape, text[1:-1])
    try:
        value.encode()
    except UnicodeEncodeError:
        raise LiteralError("E0007", "the string is not valid UTF-8") from None
    return value


def quote(value: str) -> str:
    """The string literal of a value: the inverse of `parse_string`."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    for letter in "ntr":
        escaped = escaped.replace(_PLAIN[letter], "\\" + letter)
    return '"' + re.sub(r"[\x00-\x1f\x7f\x85\u2028\u2029]", lambda m: f"\\u{{{ord(m[0]):x}}}", escaped) + '"'


def _parts(text: str) -> tuple[str, int | None, str]:
    mantissa, exponent, rest = _NUMBER.fullmatch(text).groups()
    digits = mantissa.replace("_", "")
    # The length before the value: reading a number of a million digits takes long by itself.
    if len(digits) > _MAX_DIGITS or exponent and (len(exponent) > 8 or abs(int(exponent)) > _MAX_EXPONENT):
        raise LiteralError("E0011", "the number is out of range")
    return digits, int(exponent) if exponent else None, rest


def _exact(digits: str, exponent: int | None) -> Fraction:
    return Fraction(digits) * Fraction(10) ** (exponent or 0)


def _unescape(match: re.Match[str]) -> str:
    body = match[1]
    if body in _PLAIN:
        return _PLAIN[body]
    if body.startswith("u{") and int(body[2:-1], 16) <= 0x10FFFF:
        return chr(int(body[2:-1], 16))
    raise LiteralError("E0007", f"`\\{body}` is no escape of a string")
