"""When the tuples of a generator come: the rules of runtime_c/include/dfrt/rates.h and generate.h, number by number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

SECOND = 10**9
_MOST_RATE, _MOST_SECONDS = 1e10, 9e9


class WrongFile(Exception):
    """A file of rates or weights that is none, with the line."""


class RateStep(NamedTuple):
    """`rate` tuples a second from `start` to `end`, nanoseconds; the end of a single rate is None."""

    start: int
    end: int | None
    rate: int


def read_rates(path: Path) -> list[RateStep]:
    lines = list(_lines(path, "rates"))
    if lines and len(lines[0][1]) == 1 and len(lines) > 1 and len(lines[1][1]) == 2:
        lines = lines[1:]  # how many follow
    elif all(len(words) == 1 for _, words in lines):  # a rate a line, for a second each
        lines = [(number, [float(second), *words]) for second, (number, words) in enumerate(lines)]
    starts, rates = [], []
    for number, words in lines:
        if len(words) != 2 or not 0 <= words[1] <= _MOST_RATE or abs(words[0]) > _MOST_SECONDS:
            raise WrongFile(f"rates '{path}', line {number}: expected SECOND RATE")
        starts.append(math.floor(words[0] * 1e9 + 0.5))
        rates.append(math.floor(words[1] + 0.5))
        if len(starts) > 1 and starts[-1] <= starts[-2]:
            raise WrongFile(f"rates '{path}', line {number}: expected a second after that of the line before")
    if not starts:
        raise WrongFile(f"rates '{path}': no rate in it")
    starts = [start - starts[0] for start in starts]
    end = 2 * starts[-1] - starts[-2] if len(starts) > 1 else None
    return [RateStep(*step) for step in zip(starts, [*starts[1:], end], rates, strict=True)]


def read_weights(path: Path) -> list[float]:
    weights = [weight for _, words in _lines(path, "weights") for weight in words]
    if not sum(weights) > 0 or min(weights) < 0:
        raise WrongFile(f"weights '{path}': expected numbers that are not negative, and one above 0")
    return weights


def _lines(path: Path, what: str) -> Iterator[tuple[int, list[float]]]:
    """(line, its numbers), without empty lines and those of words."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#"):
            try:
                values = [float(word) for word in words]
            except ValueError:
                values = [math.nan]
            if not all(math.isfinite(value) for value in values):
                raise WrongFile(f"{what} '{path}', line {number}: expected numbers")
            yield number, values


def even_times(steps: list[RateStep]) -> Iterator[int]:
    """Nanoseconds from the start, tuple by tuple."""
    for start, end, rate in steps:
        for number in count() if rate else ():
            time = start + number * SECOND // rate
            if end is not None and time >= end:
                break
            yield time


def poisson_times(steps: list[RateStep], fraction: Callable[[], float]) -> Iterator[int]:
    """Likewise, with exponential gaps. `fraction` is drawn once before each tuple."""
    position, at = 0.0, 0
    while True:
        work = -math.log1p(-fraction())
        while True:
            _, end, rate = steps[at]
            need = work * 1e9 / rate if rate else math.inf
            room = float(end) - position if end is not None else math.inf
            if need < room:
                break
            if at + 1 == len(steps):
                return
            work -= room * rate / 1e9
            position, at = float(end), at + 1
        position += need
        yield math.floor(position)
