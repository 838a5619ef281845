"""A rate that rises and falls with the time of day: lowest at the start, highest half a period later."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .spans import Spans

_STEPS = 1440  # of a period: a minute of a day


def daily(random: np.random.Generator, low: float, high: float, period: float) -> Iterator[Spans]:
    phase = 2 * np.pi * (np.arange(_STEPS) + 0.5) / _STEPS
    rates = low + (high - low) * (1 - np.cos(phase)) / 2
    while True:
        yield Spans(np.full(_STEPS, period / _STEPS), rates)
