"""The built-in aggregates, each as an accumulator: fed one value after the other, asked for the result.

A window feeds its tuples by event time, ties by arrival; a scan feeds them as they arrive. Only `first`
and `last` look at the event time that comes with a value.
"""

from __future__ import annotations

import bisect
import math

from ...dsl import typed
from ...dsl.types import Float
from .numbers import wrap_as


class Count:
    def __init__(self, node: typed.Aggregate):
        self.n = 0

    def add(self, value, time: int) -> None:
        self.n += 1

    def result(self) -> int:
        return self.n


class Sum:
    """Integers wrap at 64 bits, floats are added in the order they come, to 0.0: the sum is never -0.0."""

    def __init__(self, node: typed.Aggregate):
        self.type, self.total = node.type, 0.0 if isinstance(node.type, Float) else 0

    def add(self, value, time: int) -> None:
        total = self.total + value
        self.total = total if isinstance(total, float) else wrap_as(total, self.type)

    def result(self):
        return self.total


class Avg:
    def __init__(self, node: typed.Aggregate):
        self.n, self.total = 0, 0.0

    def add(self, value, time: int) -> None:
        self.n, self.total = self.n + 1, self.total + float(value)

    def result(self) -> float:
        return self.total / self.n


class Extreme:
    """`min` or `max`: NaN loses against everything. Zeros are equal, whatever their sign, and come out as 0.0."""

    def __init__(self, node: typed.Aggregate):
        self.sign, self.value = (1 if node.function == "min" else -1), None

    def add(self, value, time: int) -> None:
        if self.value is None or self.value != self.value or value * self.sign < self.value * self.sign:
            self.value = value

    def result(self):
        return self.value + 0.0 if isinstance(self.value, float) else self.value


class First:
    """By event time; of equal times the one that arrived first."""

    def __init__(self, node: typed.Aggregate):
        self.time, self.value = None, None

    def add(self, value, time: int) -> None:
        if self.time is None or time < self.time:
            self.time, self.value = time, value

    def result(self):
        return self.value


class Last(First):
    """By event time; of equal times the one that arrived last."""

    def add(self, value, time: int) -> None:
        if self.time is None or time >= self.time:
            self.time, self.value = time, value


class Quantile:
    """Linear interpolation between the closest ranks: position q·(n−1). NaN is skipped; a zero is 0.0."""

    def __init__(self, node: typed.Aggregate):
        self.q = node.settings[0] if node.function == "quantile" else 0.5
        self.values: list[float] = []

    def add(self, value, time: int) -> None:
        value = float(value)
        if not math.isnan(value):
            bisect.insort(self.values, value)

    def result(self) -> float:
        if not self.values:
            return math.nan
        position = self.q * (len(self.values) - 1)
        rank = math.floor(position)
        low, high = self.values[rank], self.values[min(rank + 1, len(self.values) - 1)]
        # Equal neighbours need no interpolation, which would turn infinities into NaN.
        return (low if low == high or position == rank else low + (high - low) * (position - rank)) + 0.0


class Deviation:
    """`stddev` (over n−1, NaN for one value) and `stddev_pop` (over n), by Welford's recurrence."""

    def __init__(self, node: typed.Aggregate):
        self.spare = 1 if node.function == "stddev" else 0
        self.n, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, value, time: int) -> None:
        self.n += 1
        distance = float(value) - self.mean
        self.mean += distance / self.n
        self.squares += distance * (float(value) - self.mean)

    def result(self) -> float:
        return math.sqrt(self.squares / (self.n - self.spare)) if self.n > self.spare else math.nan


class Ewma:
    """e = x₀, then e = α·x + (1−α)·e."""

    def __init__(self, node: typed.Aggregate):
        self.alpha, self.value = node.settings[0], None

    def add(self, value, time: int) -> None:
        value = float(value)
        self.value = value if self.value is None else self.alpha * value + (1.0 - self.alpha) * self.value

    def result(self) -> float:
        return self.value


ACCUMULATORS = {
    "count": Count, "sum": Sum, "avg": Avg, "min": Extreme, "max": Extreme, "first": First, "last": Last,
    "median": Quantile, "quantile": Quantile, "stddev": Deviation, "stddev_pop": Deviation, "ewma": Ewma,
}


def accumulator(node: typed.Aggregate):
    return ACCUMULATORS[node.function](node)
