"""Traffic that looks as bursty over minutes as over milliseconds: many users at once, who stay for Pareto times.

Users come by chance and stay for a time with P(longer than u) = (least / u)^α, α = 3 − 2H. How many are there at a
moment is then correlated over all times with Hurst exponent H, for 1/2 < H < 1 (Cox, 1984: M/G/∞). Each brings the same
rate; their mean number ν makes the rate's coefficient of variation 1/√ν.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .spans import Spans

_BLOCK_EVENTS = 20_000


def self_similar(random: np.random.Generator, rate: float, hurst: float, spread: float,
                 least: float) -> Iterator[Spans]:
    shape, users = 3 - 2 * hurst, 1 / spread**2
    mean_stay = least * shape / (shape - 1)
    coming = users / mean_stay  # a second
    length = _BLOCK_EVENTS / coming
    leaving = _stays_left(random, int(random.poisson(users)), shape, least)
    while True:
        entering = np.sort(random.random(random.poisson(coming * length)) * length)
        stays = least * (1 - random.random(len(entering))) ** (-1 / shape)
        present, leaving = len(leaving), np.concatenate((leaving, entering + stays))
        gone = np.sort(leaving[leaving < length])
        leaving = leaving[leaving >= length] - length
        yield _block(entering, gone, present, length, rate / users)


def _stays_left(random: np.random.Generator, users: int, shape: float, least: float) -> np.ndarray:
    """How long those who are there at the start still stay: the residual of a Pareto time, by inversion."""
    left = 1 - random.random(users)  # P(longer)
    short = (1 - left) * least * shape / (shape - 1)
    return np.where(left >= 1 / shape, short, least * (shape * np.minimum(left, 1 / shape)) ** (1 / (1 - shape)))


def _block(entering: np.ndarray, gone: np.ndarray, present: int, length: float, each: float) -> Spans:
    moments = np.concatenate((entering, gone))
    order = np.argsort(moments, kind="stable")
    changes = np.concatenate((np.ones(len(entering)), -np.ones(len(gone))))[order]
    edges = np.concatenate(([0.0], moments[order], [length]))
    there = present + np.concatenate(([0.0], np.cumsum(changes)))
    return Spans(np.diff(edges), np.maximum(there, 0.0) * each)
