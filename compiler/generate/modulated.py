"""Bursts: a Markovian arrival process of two states, fast and slow, fitted to a mean rate and an index of dispersion.

The states are as likely as each other, with rates m + d and m − d, and are left with rate c/2 each. Counts over t
seconds then have the index of dispersion

    I(t) = 1 + 2 d² / (m c) · (1 − (1 − exp(−c t)) / (c t))

(Heffes and Lucantoni, 1986, for equal stays). Given m, t and I the depth d/m is chosen, and c is found by bisection: I
falls as states change faster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .settings import WrongSetting
from .spans import Spans

_STAYS = 4096


def dispersion(mean: float, depth: float, change: float, over: float) -> float:
    """The index of dispersion of counts over `over` seconds."""
    turns = change * over
    share = turns / 2 if turns < 1e-6 else 1 - (1 - math.exp(-turns)) / turns
    return 1 + 2 * (depth * mean) ** 2 / (mean * change) * share


def fitted_change(mean: float, wanted: float, depth: float, over: float) -> float:
    """How often the state changes, c of the formula."""
    low, high = 1e-9, 1e9
    if not dispersion(mean, depth, high, over) <= wanted <= dispersion(mean, depth, low, over):
        most = dispersion(mean, depth, low, over)
        raise WrongSetting(f"an index of dispersion from 1 to {most:.0f} can be had with rate={mean:g} and "
                           f"depth={depth:g}")
    for _ in range(200):
        middle = math.sqrt(low * high)
        if dispersion(mean, depth, middle, over) > wanted:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def modulated(random: np.random.Generator, rate: float, dispersion: float, over: float,
              depth: float) -> Iterator[Spans]:
    change = fitted_change(rate, dispersion, depth, over)
    fast = bool(random.integers(2))
    states = np.arange(_STAYS) % 2 == 0
    while True:
        rates = np.where(states == fast, rate * (1 + depth), rate * (1 - depth))
        yield Spans(random.exponential(2 / change, _STAYS), rates)
