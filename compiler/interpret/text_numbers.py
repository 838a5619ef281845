"""Floats from text and to text: rounded once, and printed with the fewest digits that read back."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from .numbers import to_f32


def f32_from_text(text: str) -> float:
    """The f32 nearest to the decimal number. Going through a double rounds twice, which matters only where
    the double is half way between two f32s and the decimal is not."""
    near = float(text)
    if not math.isfinite(near) or not _half_way(near):
        return to_f32(near)
    exact = Fraction(text)
    if exact != near:
        near = math.nextafter(near, math.inf if exact > near else -math.inf)
    return to_f32(near)


def _half_way(value: float) -> bool:
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits & ((1 << 29) - 1) == 1 << 28


def format_float(value: float, bits: int) -> str:
    """Python's repr; for an f32 that of the shortest decimal that reads back to it."""
    if bits == 64 or not math.isfinite(value):
        return repr(value)
    shortest = (f"{value:.{digits}g}" for digits in range(1, 10))
    return repr(float(next(text for text in shortest if f32_from_text(text) == value)))
