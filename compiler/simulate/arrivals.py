"""Tuples for the simulation: keys by their shares, times by a rate; and which tuple ends a pane or a window."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..patterns.load import SECOND

_DRAWN = 4096  # keys that are drawn at a time


class Tuple(NamedTuple):
    """`number` counts the tuples of its key."""

    time: float
    key: int
    number: int


def tuples(slide: int, shares: Sequence[float], count: int, rate: float | None, seed: int) -> Iterator[Tuple]:
    """So many tuples. Without a rate all are there at once; else they come by chance (exponential gaps). Windows are in
    the middle of their way at the start, each key's at another place."""
    chance = random.Random(seed)
    keys, ends = range(len(shares)), list(accumulate(shares))
    numbers = [chance.randrange(slide) for _ in shares]
    time, gap = 0.0, SECOND / rate if rate else 0.0
    while count > 0:
        drawn = chance.choices(keys, cum_weights=ends, k=min(count, _DRAWN))
        count -= len(drawn)
        for key in drawn:
            if gap:
                time += chance.expovariate(1.0) * gap
            numbers[key] += 1
            yield Tuple(time, key, numbers[key])


def partition(shares: Sequence[float], workers: int, routing: str, seed: int) -> list[int]:
    """Key → worker: by hash, or the heaviest key first to the least loaded worker."""
    if routing == "hash":
        chance = random.Random(seed)
        return [chance.randrange(workers) for _ in shares]
    loads = [0.0] * workers
    home = [0] * len(shares)
    for key in sorted(range(len(shares)), key=lambda key: -shares[key]):
        home[key] = loads.index(min(loads))
        loads[home[key]] += shares[key]
    return home
