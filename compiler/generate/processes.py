"""The arrival processes: their parameters, and whether tuples come evenly or by chance while a rate holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .constant import constant
from .daily import daily
from .modulated import modulated
from .random_walk import random_walk
from .recorded import recorded
from .self_similar import self_similar
from .settings import Parameter, split
from .spans import Spans

_RATE = Parameter("amount")
_DAY = 86400.0


@dataclass(frozen=True, slots=True)
class Kind:
    spans: Callable[..., Iterator[Spans]]
    by_chance: bool
    parameters: dict[str, Parameter]


KINDS: dict[str, Kind] = {
    "constant": Kind(constant, False, {"rate": _RATE}),
    "poisson": Kind(constant, True, {"rate": _RATE}),
    "random_walk": Kind(random_walk, False, {
        "rate": _RATE, "step": _RATE, "every": Parameter("seconds", 1.0), "low": Parameter("amount", 0.0, closed=True),
        "high": Parameter("amount", math.inf)}),
    "map": Kind(modulated, True, {
        "rate": _RATE, "dispersion": Parameter("amount", low=1.0), "over": Parameter("seconds", 1.0),
        "depth": Parameter("amount", 0.8, high=1.0)}),
    "pareto": Kind(self_similar, True, {
        "rate": _RATE, "hurst": Parameter("amount", low=0.5, high=1.0),
        "spread": Parameter("amount", 0.2, high=10.0), "least": Parameter("seconds", 0.1)}),
    "daily": Kind(daily, True, {
        "low": Parameter("amount", closed=True), "high": _RATE, "period": Parameter("seconds", _DAY)}),
    "rates": Kind(recorded, False, {"path": Parameter("path")}),
}


@dataclass(frozen=True, slots=True)
class Process:
    """An arrival process with its parameters; `spans` begins it anew."""

    kind: str
    parameters: dict[str, object]

    @property
    def by_chance(self) -> bool:
        return KINDS[self.kind].by_chance

    def spans(self, random: np.random.Generator) -> Iterator[Spans]:
        return KINDS[self.kind].spans(random, **self.parameters)


def process(word: str) -> Process:
    return Process(*split(word, {name: kind.parameters for name, kind in KINDS.items()}))
