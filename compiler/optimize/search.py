"""The search: a Latin hypercube to see the whole space, steps around the best to improve them, and more seeds for ever
fewer to be sure of them.

Runs are counted, since they are what takes time. Everything follows from the seed and from figures, which do not depend
on where a run was played.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .judge import ranked
from .runs import Runs, key_of
from .space import Space

_EXPLORING, _REFINING = 0.4, 0.3  # of the budget; the rest is for more seeds
_GENERATION = 16
_PARENTS = 8
_WIDTHS = (0.25, 0.04)  # of a step in the unit cube, in the first generation and in the last
_MOVED = 0.35  # of the dimensions, by a step


@dataclass(frozen=True)
class Budget:
    runs: int
    seeds: int
    seed: int


def search(space: Space, runs: Runs, budget: Budget, known_points: Sequence[Sequence[float]], resource: str,
           seconds: float) -> None:
    """Plays candidates; those that are worth comparing, and the standing plan, with all seeds. `known_points` are tried
    in any case."""
    random = np.random.default_rng(np.random.SFC64(np.random.SeedSequence((budget.seed, 0x5EA2C))))
    runs.played([space.standing], budget.seeds)
    left = max(1, budget.runs - budget.seeds)
    known = _Known(space, runs, resource, seconds)
    known.add(np.array(known_points))
    known.add(_latin_hypercube(random, max(2, math.floor(left * _EXPLORING)), len(space.dimensions)))
    generations = max(1, math.floor(left * _REFINING / _GENERATION))
    for number in range(generations):
        share = number / max(generations - 1, 1)
        width = _WIDTHS[0] * (_WIDTHS[1] / _WIDTHS[0]) ** share
        size = max(1, min(_GENERATION, math.floor(left * _REFINING)))
        known.add(_children(random, known.best(_PARENTS), width, size))
    _sure(known, runs, budget, budget.runs - len(runs))


class _Known:
    """Points that were played with the first seed."""

    def __init__(self, space: Space, runs: Runs, resource: str, seconds: float):
        self.space, self.runs, self.resource, self.seconds = space, runs, resource, seconds
        self.points: dict[str, np.ndarray] = {}
        self.figures: dict[str, dict[str, float]] = {}

    def add(self, points: np.ndarray) -> None:
        candidates = [self.space.candidate(point.tolist()) for point in points]
        self.figures |= self.runs.played(candidates, 1)
        for candidate, point in zip(candidates, points, strict=True):
            self.points.setdefault(key_of(candidate), point)

    def best(self, count: int) -> list[np.ndarray]:
        return [self.points[key] for key in ranked(self.figures, self.resource, self.seconds)[:count]]


def _latin_hypercube(random: np.random.Generator, count: int, dimensions: int) -> np.ndarray:
    """Each dimension is cut into `count` equal parts, and each part has one point."""
    cells = np.stack([random.permutation(count) for _ in range(dimensions)], axis=1)
    return (cells + random.random((count, dimensions))) / count


def _children(random: np.random.Generator, parents: Sequence[np.ndarray], width: float, count: int) -> np.ndarray:
    """Each is a parent, with some coordinates of another one, a step away in some."""
    found = []
    for number in range(count):
        child = parents[number % len(parents)].copy()
        other = parents[int(random.integers(len(parents)))]
        taken, moved = random.random(len(child)) < 0.2, random.random(len(child)) < _MOVED
        moved[int(random.integers(len(child)))] = True
        child = np.where(taken, other, child) + np.where(moved, random.normal(0, width, len(child)), 0.0)
        found.append(np.clip(np.abs(1 - np.abs(1 - child)), 0.0, 1.0))  # reflected at the borders
    return np.array(found)


def _sure(known: _Known, runs: Runs, budget: Budget, left: int) -> None:
    """Successive halving: the best by one seed get a second, the better half of them as many again, and so on."""
    kept, seeds = ranked(known.figures, known.resource, known.seconds)[:max(2, left // _rounds(budget.seeds))], 1
    while seeds < budget.seeds:
        more = min(budget.seeds, 2 * seeds)
        affordable = max(2, left // (more - seeds)) if more == budget.seeds else len(kept)
        kept = kept[:affordable]
        before = len(runs)
        figures = runs.played([runs.candidates[key] for key in kept], more)
        left -= len(runs) - before
        kept = ranked(figures, known.resource, known.seconds)
        kept, seeds = kept[:max(2, math.ceil(len(kept) / 2))], more


def _rounds(seeds: int) -> int:
    """Each doubling of the seeds costs about as much as the one before, since half of the candidates go on."""
    return max(1, math.ceil(math.log2(seeds)))
