"""Tuples of a source as a file, block by block; and the rates of a process as a file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .delays import Delays
from .fields import Recipe, columns, delay_draws
from .processes import Process
from .rows import Names, encoder, header
from .settings import WrongSetting
from .spans import Spans, counts, even_times, poisson_times, until


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When tuples come: so many at most, for so many seconds at most, from `start_ns` on."""

    process: Process
    by_chance: bool
    count: int | None
    seconds: float | None
    start_ns: int
    seed: int

    def times(self) -> Iterator[np.ndarray]:
        """Nanoseconds, in order, block by block."""
        left = self.count
        random = np.random.default_rng([self.seed, 0])
        spans = self._spans(random)
        made = poisson_times(spans, np.random.default_rng([self.seed, 1])) if self.by_chance else even_times(spans)
        for block in made:
            block = block[:left]
            if len(block):
                yield self.start_ns + block
            left = None if left is None else left - len(block)
            if left == 0:
                return

    def _spans(self, random: np.random.Generator) -> Iterator[Spans]:
        spans = self.process.spans(random)
        return spans if self.seconds is None else until(spans, self.seconds)

    def rates(self, every: float) -> str:
        """A file of rates: the tuples of each slot, as so many a second."""
        if self.seconds is None:
            raise WrongSetting("a file of rates needs --seconds")
        slots = math.ceil(self.seconds / every - 1e-9)
        chance = np.random.default_rng([self.seed, 1]) if self.by_chance else None
        found = counts(self.process.spans(np.random.default_rng([self.seed, 0])), every, slots, chance)
        return "".join(f"{number * every:.9g} {count / every:.9g}\n" for number, count in enumerate(found.tolist()))


def write_tuples(arrivals: Arrivals, recipe: Recipe, delays: Delays | None, form: str, write: Callable[[bytes], object],
                 names: Names) -> int:
    """Hands the file's bytes to `write`; answers how many tuples there are."""
    encode, made = encoder(recipe.columns, form, names), 0
    write(header(recipe.columns, form))
    for times in arrivals.times():
        if delays is not None:
            times = times - delays.of(delay_draws(recipe, made, len(times)))
        write(encode(columns(recipe, made, times)))
        made += len(times)
    return made
