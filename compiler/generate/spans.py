"""What every arrival process gives: the rate as a sequence of spans. How tuples come within a span is said once, here.

A process goes on forever; whoever asks says how long, or how many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

SECOND = 10**9
MOST = 1 << 18  # tuples at a time, about


class Spans(NamedTuple):
    """Arrays: how many seconds each span lasts, and its tuples a second."""

    seconds: np.ndarray
    rates: np.ndarray


def spans(seconds: Iterable[float], rates: Iterable[float]) -> Spans:
    return Spans(np.asarray(seconds, float), np.asarray(rates, float))


def until(blocks: Iterable[Spans], seconds: float) -> Iterator[Spans]:
    """The spans up to a moment; the last one is cut there."""
    left = seconds
    for block in blocks:
        ends = np.cumsum(block.seconds)
        if ends[-1] < left:
            left -= ends[-1]
            yield block
            continue
        last = int(np.searchsorted(ends, left))
        before = ends[last - 1] if last else 0.0
        yield Spans(np.append(block.seconds[:last], left - before), block.rates[:last + 1])
        return


def even_times(blocks: Iterable[Spans]) -> Iterator[np.ndarray]:
    """Nanoseconds from the start: evenly while a rate holds, by the rule of dfrt/rates.h."""
    position = 0.0
    for block in blocks:
        for seconds, rate in zip(block.seconds, block.rates, strict=True):
            start = math.floor(position * SECOND + 0.5)
            position += float(seconds)
            whole = math.floor(rate + 0.5)
            if whole:
                yield from _even(start, math.floor(position * SECOND + 0.5) if math.isfinite(position) else None, whole)


def _even(start: int, end: int | None, rate: int) -> Iterator[np.ndarray]:
    count = None if end is None else -(-(end - start) * rate // SECOND)
    done = 0
    while count is None or done < count:
        numbers = np.arange(done, done + MOST if count is None else min(count, done + MOST), dtype=np.int64)
        done += len(numbers)
        yield start + numbers // rate * SECOND + numbers % rate * SECOND // rate


def poisson_times(blocks: Iterable[Spans], random: np.random.Generator) -> Iterator[np.ndarray]:
    """Nanoseconds from the start, by chance: as many in a span as Poisson's law gives, anywhere in it."""
    start = 0.0
    for piece in _pieces(blocks):
        starts = start + np.concatenate(([0.0], np.cumsum(piece.seconds)))
        counts = random.poisson(piece.rates * piece.seconds)
        drawn = random.random(int(counts.sum())) * np.repeat(piece.seconds, counts) + np.repeat(starts[:-1], counts)
        start = starts[-1]
        yield np.sort((drawn * SECOND).astype(np.int64))


def _pieces(blocks: Iterable[Spans]) -> Iterator[Spans]:
    """The same rates in pieces with about MOST tuples each: long spans are divided, short ones stay together."""
    for block in blocks:
        for seconds, rates in _divided(block):
            groups = np.cumsum(seconds * rates) // MOST
            for part in np.split(np.arange(len(rates)), np.flatnonzero(np.diff(groups)) + 1):
                yield Spans(seconds[part], rates[part])


def _divided(block: Spans) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    expected = block.seconds * block.rates
    if np.isfinite(expected).all():
        parts = np.maximum(1, np.ceil(expected / MOST)).astype(int)
        yield np.repeat(block.seconds / parts, parts), np.repeat(block.rates, parts)
        return
    rate = block.rates[0]  # one rate without end
    while True:
        yield np.array([MOST / rate]), np.array([rate])


def counts(blocks: Iterable[Spans], every: float, how_many: int, random: np.random.Generator | None) -> np.ndarray:
    """Tuples in each of so many slots of `every` seconds; without `random` those of even arrivals, rounded."""
    found = list(until(blocks, every * how_many))
    seconds, rates = (np.concatenate(part) for part in zip(*found, strict=True))
    ends, mass = np.cumsum(seconds), np.cumsum(seconds * rates)
    at = np.interp(every * np.arange(how_many + 1), np.append(0.0, ends), np.append(0.0, mass))
    return random.poisson(np.diff(at)) if random is not None else np.diff(np.floor(at + 0.5)).astype(np.int64)
