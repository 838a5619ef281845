"""A rate that walks: every so often it changes by a normal step, within two bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from .spans import Spans, spans

_BLOCK = 4096


def random_walk(random: np.random.Generator, rate: float, step: float, every: float, low: float,
                high: float) -> Iterator[Spans]:
    """`step` is the root mean square of its change in a second."""
    while True:
        changes = random.normal(0.0, step * math.sqrt(every), _BLOCK)
        walked = list(accumulate(changes.tolist(), lambda at, change: min(high, max(low, at + change)), initial=rate))
        yield spans([every] * _BLOCK, walked[:-1])
        rate = walked[-1]
