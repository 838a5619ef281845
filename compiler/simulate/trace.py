"""The triggers of one operator over a whole run: when each comes, of which key, and how much work it is.

Tuples come by chance at the rate of the moment, each of a key by the keys' shares, and every `slide`-th tuple of a key
triggers. No tuple is drawn for that: the tuples between two triggers of a key take a Gamma-distributed stretch of the
stream, and a stretch of the stream becomes time through the rates. The same seed gives the same triggers to every
policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

POISSON, REGULAR = "poisson", "regular"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What comes in. `rates`: tuples a second, for each second. `slide`: tuples of a key to a trigger. `service_cv`:
    coefficient of variation of a trigger's work. `spacing`: tuples by chance, or a trigger every `slide` tuples."""

    rates: Sequence[float]
    keys: np.ndarray
    slide: float = 1.0
    service_cv: float = 0.0
    spacing: str = POISSON


@dataclass(frozen=True, slots=True)
class Trace:
    """In order of time. `work` is 1 on average; `chance` is uniform in 0…1 and decides what is shed."""

    times: np.ndarray
    keys: np.ndarray
    work: np.ndarray
    chance: np.ndarray

    def __len__(self) -> int:
        return len(self.times)

    def between(self, start: float, end: float) -> Trace:
        low, high = np.searchsorted(self.times, (start, end))
        return Trace(self.times[low:high], self.keys[low:high], self.work[low:high], self.chance[low:high])


def make_trace(arrivals: Arrivals, seed: int) -> Trace:
    random = np.random.default_rng(np.random.SFC64(np.random.SeedSequence((seed, 0xDFC))))
    passed = np.concatenate(([0.0], np.cumsum(np.asarray(arrivals.rates, dtype=float))))  # tuples by each second
    places, keys = (_regular if arrivals.spacing == REGULAR else _by_chance)(arrivals, float(passed[-1]), random)
    times = _times(places, passed)
    count = len(times)
    return Trace(times, keys, _work(arrivals.service_cv, count, random), random.random(count, dtype=np.float32))


def _times(places: np.ndarray, passed: np.ndarray) -> np.ndarray:
    """Seconds without tuples are stepped over: a place belongs to the last second that begins at or before it."""
    second = np.searchsorted(passed, places, side="right") - 1
    return second + (places - passed[second]) / np.diff(passed, append=np.inf)[second]


def _by_chance(arrivals: Arrivals, total: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """For each key a renewal process with Gamma(slide) gaps, which begins somewhere in the middle of a gap."""
    seen = np.flatnonzero(arrivals.keys > 0)
    expected = arrivals.keys[seen] * total / arrivals.slide
    draws = np.ceil(expected + 8 * np.sqrt(expected) + 8).astype(np.int64)  # far more than ever come
    shape = np.full(int(draws.sum()), float(arrivals.slide))
    firsts = np.concatenate(([0], np.cumsum(draws)[:-1]))
    shape[firsts] = np.ceil(random.random(len(seen)) * arrivals.slide)
    ends = np.cumsum(random.standard_gamma(shape))
    before = np.concatenate(([0.0], ends))[firsts]
    places = (ends - np.repeat(before, draws)) / np.repeat(arrivals.keys[seen], draws)
    keys = np.repeat(seen, draws)
    inside = places < total
    places, keys = places[inside], keys[inside]
    order = np.argsort(places, kind="stable")
    return places[order], keys[order].astype(np.uint32)


def _regular(arrivals: Arrivals, total: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    places = np.arange(arrivals.slide / 2, total, arrivals.slide)
    ends = np.cumsum(arrivals.keys)
    keys = np.searchsorted(ends, random.random(len(places)) * ends[-1], side="right")
    return places, np.minimum(keys, len(ends) - 1).astype(np.uint32)


def _work(cv: float, count: int, random: np.random.Generator) -> np.ndarray:
    """Gamma with mean 1: cv 0 is always the same, cv 1 is exponential."""
    if cv == 0:
        return np.ones(count)
    shape = 1 / (cv * cv)
    return random.standard_gamma(shape, count) / shape
