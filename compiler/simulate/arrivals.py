"""Tuples for the simulation: keys by their shares, times by a rate; and which tuple ends a pane or a window."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..patterns.load import SECOND

_DRAWN = 4096  # keys that are drawn at a time


class End(NamedTuple):
    """Of a pane of a key, and of its window of this number if it is the last pane of a slide."""

    key: int
    window: int
    whole: bool


class Tuple(NamedTuple):
    """`ends`: what it makes complete, in order."""

    time: float
    key: int
    ends: Sequence[End]


def tuples(slide: float, panes: int, shares: Sequence[float], count: int, rate: float | None,
           seed: int) -> Iterator[Tuple]:
    """So many tuples, with so many panes in a slide. Without a rate all are there at once; else they come by chance
    (exponential gaps)."""
    chance = random.Random(seed)
    keys, shares_below = range(len(shares)), list(accumulate(shares))

    def draw(number: int) -> list[int]:
        return chance.choices(keys, cum_weights=shares_below, k=number)

    ends = _own(slide, panes, [chance.random() for _ in shares]) if slide >= 1 else \
        _of_all(slide, panes, len(shares), chance.random(), draw)
    time, gap = 0.0, SECOND / rate if rate else 0.0
    while count > 0:
        drawn = draw(min(count, _DRAWN))
        count -= len(drawn)
        for key in drawn:
            if gap:
                time += chance.expovariate(1.0) * gap
            yield Tuple(time, key, ends(key))


def _own(slide: float, panes: int, begun: Sequence[float]) -> Callable[[int], Sequence[End]]:
    """A tuple ends windows of its own key. They are in the middle of their way at the start, each key's at another
    place."""
    places, step = [part * panes for part in begun], panes / slide

    def ends(key: int) -> Sequence[End]:
        before = places[key]
        after = places[key] = before + step
        if int(before) == int(after):
            return ()
        return [End(key, pane // panes, pane % panes == 0) for pane in range(int(before) + 1, int(after) + 1)]

    return ends


def _of_all(slide: float, panes: int, keys: int, begun: float,
            draw: Callable[[int], Sequence[int]]) -> Callable[[int], Sequence[End]]:
    """Where a slide holds less than a tuple of a key, windows end by time, and whoever brings news of the time ends
    some of several keys: as many of each as its share is."""
    closed, place = [0] * keys, begun

    def ends(_key: int) -> Sequence[End]:
        nonlocal place
        before, place = place, place + panes / slide
        found = []
        for key in draw(int(place) - int(before)):
            closed[key] += 1
            found.append(End(key, closed[key] // panes, closed[key] % panes == 0))
        return found

    return ends


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
