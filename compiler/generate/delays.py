"""Disorder: how much older than its place in the file a tuple is, by inversion of one draw each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .settings import Parameter, split
from .spans import SECOND
from .splitmix import below, fractions

_SHARE = Parameter("amount", 1.0, high=1.0 + 1e-12)
_KINDS = {
    "uniform": {"most": Parameter("seconds"), "share": _SHARE},
    "exponential": {"mean": Parameter("seconds"), "share": _SHARE},
    "pareto": {"least": Parameter("seconds"), "shape": Parameter("amount"), "share": _SHARE},
}
_LONGEST = 10 * 365 * 86400.0  # a heavy tail has an end


@dataclass(frozen=True, slots=True)
class Delays:
    """`share` of the tuples are late; the others come when they were made."""

    kind: str
    parameters: dict[str, float]

    def of(self, drawn: np.ndarray) -> np.ndarray:
        """Nanoseconds. Uniform delays of all tuples are those of `generate(disorder: …)`, bit by bit."""
        share = self.parameters["share"]
        if self.kind == "uniform" and share == 1.0:
            return below(drawn, round(self.parameters["most"] * SECOND) + 1).astype(np.int64)
        chance = fractions(drawn)
        late = chance < share
        return np.where(late, self._inverse(np.where(late, chance / share, 0.0)), 0.0).astype(np.int64)

    def _inverse(self, chance: np.ndarray) -> np.ndarray:
        given = self.parameters
        if self.kind == "uniform":
            seconds = chance * given["most"]
        elif self.kind == "exponential":
            seconds = -given["mean"] * np.log1p(-chance)
        else:
            seconds = given["least"] * (1 - chance) ** (-1 / given["shape"])
        return np.minimum(seconds, _LONGEST) * SECOND


def delays(word: str) -> Delays:
    return Delays(*split(word, _KINDS))
