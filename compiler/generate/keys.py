"""How often each key comes: equally, by Zipf's law, or by weights of a file. The table is that of dfrt/random.h."""

from __future__ import annotations

import math
from itertools import accumulate
from pathlib import Path

import numpy as np

from ..interpret.arrivals import read_weights
from .settings import Parameter, WrongSetting, split
from .splitmix import below

_COUNT = Parameter("amount", 1000.0)
_KINDS = {"uniform": {"count": _COUNT}, "zipf": {"count": _COUNT, "exponent": Parameter("amount", closed=True)},
          "weights": {"path": Parameter("path")}}
_MOST = 100_000_000


class Keys:
    """`count` keys; `of` says which one a draw stands for."""

    def __init__(self, count: int, limits: np.ndarray | None):
        self.count, self._limits = count, limits

    def of(self, draws: np.ndarray) -> np.ndarray:
        if self._limits is None:
            return below(draws, self.count)
        return np.searchsorted(self._limits, draws >> np.uint64(11), side="right").astype(np.uint64)


def keys(word: str) -> Keys:
    kind, given = split(word, _KINDS)
    if kind == "weights":
        return by_weights(read_weights(Path(given["path"])))
    count = int(given["count"])
    if count != given["count"] or not 1 <= count <= _MOST:
        raise WrongSetting(f"there are 1 to {_MOST} keys, a whole number")
    return uniform_or_zipf(count, float(given.get("exponent", 0.0)))


def uniform_or_zipf(count: int, exponent: float) -> Keys:
    """math.pow, as the runtime: numpy's may differ in the last bit."""
    return by_weights([math.pow(k + 1, -exponent) for k in range(count)]) if exponent else Keys(count, None)


def by_weights(weights: list[float]) -> Keys:
    sums = np.fromiter(accumulate(weights), float, len(weights))
    limits = (sums / sums[-1] * 2.0**53).astype(np.uint64)
    limits[-1] = 1 << 53
    return Keys(len(weights), limits)
