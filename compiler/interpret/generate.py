"""Synthetic tuples by the recipe of runtime_c/include/dfrt/generate.h, which fixes every bit of them."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path

from ...dsl import typed
from ...dsl.types import UNIT_NS, Bool, Field, Float, Record, Timestamp, is_string
from .arrays import flat_record, nest
from .arrivals import RateStep, even_times, poisson_times, read_rates, read_weights
from .numbers import to_f32, wrap, wrap_as

_MASK = (1 << 64) - 1
_START_NS = 1_700_000_000 * 1_000_000_000


class SplitMix64:
    """Steele, Lea and Flood, 2014."""

    def __init__(self, seed: int):
        self.state = seed & _MASK

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
        return z ^ z >> 31

    def below(self, bound: int) -> int:
        return self.next() * bound >> 64

    def fraction(self) -> float:
        return (self.next() >> 11) * 2.0**-53


def key_drawer(random: SplitMix64, weights: Sequence[float]) -> Callable[[], int]:
    """Draws key k with its weight."""
    sums = list(accumulate(weights))
    limits = [int(one / sums[-1] * 2.0**53) for one in sums[:-1]] + [1 << 53]
    return lambda: bisect.bisect_right(limits, random.next() >> 11)


def _key_drawer(settings: dict, random: SplitMix64, folder: Path) -> Callable[[], int]:
    """By the weights of a file, by Zipf's law (k + 1) ** -exponent, or uniform."""
    if "weights" in settings:
        return key_drawer(random, read_weights(folder / settings["weights"]))
    keys, exponent = settings.get("keys", 1000), float(settings.get("zipf", 0.0))
    if exponent == 0.0:
        return lambda: random.below(keys)
    return key_drawer(random, [math.pow(k + 1, -exponent) for k in range(keys)])


def generate(connector: typed.Connector, record: Record, event_time: str | None,
             folder: Path = Path()) -> Iterator[tuple]:
    """Paths of rates and weights are relative to `folder`."""
    settings = dict(connector.settings)
    random = SplitMix64(settings.get("seed", 1))
    draw_key = _key_drawer(settings, random, folder)
    fields = [_drawer(one, settings, random, draw_key, event_time) for one in flat_record(record).fields]
    for time in _times(settings, random, _unit(record, event_time), folder):
        yield nest(tuple(draw(time) for draw in fields), record)


def _unit(record: Record, event_time: str | None) -> int:
    """Nanoseconds of one unit of the event time."""
    return UNIT_NS[record.field(event_time).type.unit] if event_time else 1


def _times(settings: dict, random: SplitMix64, unit: int, folder: Path) -> Iterator[int]:
    start = settings["start"] * unit if "start" in settings else _START_NS
    steps = read_rates(folder / settings["rates"]) if "rates" in settings else \
        [RateStep(0, None, int(settings.get("rate", 1_000_000)))]
    disorder, by_chance = settings.get("disorder", 0), settings.get("arrivals") == "poisson"
    offsets = poisson_times(steps, random.fraction) if by_chance else even_times(steps)
    for offset in islice(offsets, settings.get("count")):
        time = start + offset
        yield wrap(time - random.below(disorder + 1) if disorder else time)


def _drawer(field: Field, settings: dict, random: SplitMix64, draw_key: Callable[[], int],
            event_time: str | None) -> Callable[[int], object]:
    """What gives the field's value for the tuple of a time. A function a field: the order of draws is theirs.
    The range of an array is that of each of its elements."""
    type_, span = field.type, settings.get(field.name.partition("[")[0])
    if field.name == event_time or isinstance(type_, Timestamp) and not isinstance(span, tuple):
        return lambda time: time // UNIT_NS[type_.unit]
    if isinstance(type_, Float):
        low, high = map(float, span) if isinstance(span, tuple) else (0.0, 1.0)
        narrow = to_f32 if type_.bits == 32 else float
        return lambda time: narrow(low + (high - low) * random.fraction())
    if isinstance(type_, Bool):
        return lambda time: bool(random.next() >> 63)
    if isinstance(span, tuple):
        return lambda time: wrap_as(span[0] + random.below(span[1] - span[0] + 1), type_)
    if is_string(type_):
        return lambda time: f"k{draw_key()}"
    return lambda time: draw_key()
