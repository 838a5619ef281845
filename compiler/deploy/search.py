"""Several algorithms on one problem, after each other: the best so far is always at hand, what is done stays done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .exact import exact
from .genetic import genetic
from .greedy import centralised, sharded
from .model import Dataflow, Deployment, Goals, Machine, worth

ALGORITHMS = ("sh", "ce", "ga", "exact")


@dataclass(frozen=True)
class Problem:
    dataflow: Dataflow
    machines: tuple[Machine, ...]
    goals: Goals

    def profit(self, deployment: Deployment) -> float:
        return worth(self.dataflow, deployment, self.goals).profit


@dataclass(frozen=True)
class Found:
    """What an algorithm found, up to now."""

    algorithm: str
    deployment: Deployment
    seconds: float
    complete: bool = True
    gap: float | None = None     # of exact: how far above it another deployment may be, relative to it
    seeds: tuple[int, ...] = ()  # of ga: those searched to the end
    seed: int = 0                # of ga: that of the deployment


Populations = Callable[[Problem, Sequence[int]], Iterator[tuple[int, Deployment]]]  # one for each seed, in any order


@dataclass
class Search:
    problem: Problem
    seeds: Sequence[int]
    seconds: float
    kept: Callable[[], None] = lambda: None              # called whenever something is done
    told: Callable[[str], None] = lambda words: None     # progress
    populations: Populations | None = None               # where the genetic searches run; here by default

    def __post_init__(self) -> None:
        self.found: dict[str, Found] = {}

    def run(self, algorithms: Sequence[str]) -> None:
        """Those that are already complete are left as they are."""
        for name in algorithms:
            known = self.found.get(name)
            if known is not None and known.complete and (name != "ga" or set(self.seeds) <= set(known.seeds)):
                continue
            {"sh": self._greedy, "ce": self._greedy, "ga": self._genetic, "exact": self._exact}[name](name)
            self.kept()

    def _greedy(self, name: str) -> None:
        start, problem = time.monotonic(), self.problem
        found = (sharded if name == "sh" else centralised)(problem.dataflow, problem.machines, problem.goals)
        self.found[name] = Found(name, found, time.monotonic() - start)

    def _exact(self, name: str) -> None:
        """What others have found is the least it has to beat."""
        start, problem = time.monotonic(), self.problem
        answer = exact(problem.dataflow, problem.machines, problem.goals, self.seconds,
                       [one.deployment for one in self.found.values()], self._choice_told)
        self.found[name] = Found(name, answer.best, time.monotonic() - start, answer.gap == 0.0, answer.gap)

    def _choice_told(self, at: int, of: int, best: float) -> None:
        self.told(f"exact: choice {at} of {of} of the alternates, best profit {best:.4f}")

    # --- populations ---------------------------------------------------------------------------------

    def _genetic(self, name: str) -> None:
        known = self.found.get(name)
        before = known.seconds if known else 0.0
        self._start = time.monotonic() - before
        left = [seed for seed in self.seeds if known is None or seed not in known.seeds]
        for seed, deployment in (self.populations or self._populations_here)(self.problem, left):
            self._keep(seed, deployment, done=True)
            self.kept()
            ga = self.found[name]
            self.told(f"ga: {len(ga.seeds)} of {len(self.seeds)} populations, "
                      f"best profit {self.problem.profit(ga.deployment):.4f}")
        self.found[name] = replace(self.found[name], complete=True)

    def _populations_here(self, problem: Problem, seeds: Sequence[int]) -> Iterator[tuple[int, Deployment]]:
        for number, seed in enumerate(seeds, 1):
            def told(at: int, of: int, best: Deployment, number: int = number, seed: int = seed) -> None:
                self._keep(seed, best, done=False)
                self.told(f"ga: population {number} of {len(seeds)}, generation {at} of {of}, best profit "
                          f"{problem.profit(self.found['ga'].deployment):.4f}")
            yield seed, genetic(problem.dataflow, problem.machines, problem.goals, seed, told=told)

    def _keep(self, seed: int, deployment: Deployment, done: bool) -> None:
        """The best of all, of equal ones that of the lowest seed: in whichever order populations come."""
        now = self.found.get("ga")
        if now is not None and now.deployment is deployment and not done:
            return
        if now is None or self._rank(seed, deployment) > self._rank(now.seed, now.deployment):
            now = Found("ga", deployment, 0.0, seeds=now.seeds if now else (), seed=seed)
        seeds = tuple(sorted({*now.seeds, seed})) if done else now.seeds
        self.found["ga"] = replace(now, seconds=time.monotonic() - self._start, complete=False, seeds=seeds)

    def _rank(self, seed: int, deployment: Deployment) -> tuple[float, int]:
        return round(self.problem.profit(deployment), 9), -seed
