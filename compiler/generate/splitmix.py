"""SplitMix64 over arrays: draw n needs none of those before it, so a column of draws is made at once."""

from __future__ import annotations

import numpy as np

STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def draws(seed: int, first: int, stride: int, count: int) -> np.ndarray:
    """Draws number first, first + stride, … of the generator that was seeded with `seed`; the first of all is 0."""
    begin = np.uint64((seed + (first + 1) * STEP) & _MASK)
    z = begin + np.arange(count, dtype=np.uint64) * np.uint64(stride * STEP & _MASK)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def below(drawn: np.ndarray, bound: int) -> np.ndarray:
    """drawn * bound >> 64, from halves; a bound of 2**64 is 0 in 64 bits, and gives the draw."""
    if bound in (0, 1 << 64):
        return drawn
    high, low = np.uint64(bound >> 32), np.uint64(bound & 0xFFFFFFFF)
    upper, lower = drawn >> _HALF, drawn & _LOW
    middle = upper * low + (lower * low >> _HALF)
    return upper * high + (middle >> _HALF) + ((middle & _LOW) + lower * high >> _HALF)


def fractions(drawn: np.ndarray) -> np.ndarray:
    return (drawn >> np.uint64(11)).astype(float) * 2.0**-53
