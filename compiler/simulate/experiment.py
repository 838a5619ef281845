"""Many runs: every variant under the workload of every seed, seeds in processes of their own; then means with their
confidence intervals."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from ..interrupts import uninterrupted
from ..report.saso import Saso, mean, saso
from .control_library import open_controls
from .trace import make_trace
from .trial import Operator, Played, Variant, play

# Student's t for 95 %, by degrees of freedom; beyond the list the normal distribution is near enough.
_T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
FIGURES = ("reconfigurations", "violations", "workers", "power", "amplitude", "change_amplitude", "settling", "latency",
           "latency_p95", "moved_keys", "shed", "backlog")


@dataclass(frozen=True, slots=True)
class Experiment:
    """`slice_seconds`: how finely the runs are logged; violations are counted in slices. `changes`: of the manager, a
    step and at once."""

    operators: tuple[Operator, ...]
    variants: tuple[Variant, ...]
    cores: int
    slice_seconds: float = 1.0
    changes: tuple[float, float] = (1.0, 4.0)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over seeds, and half the width of its 95 % confidence interval (NaN with one seed)."""

    mean: float
    half: float

    @staticmethod
    def of(values: Sequence[float]) -> Interval:
        known = [value for value in values if not math.isnan(value)]
        centre = mean(known)
        if len(known) < 2:
            return Interval(centre, math.nan)
        spread = math.sqrt(math.fsum((value - centre) ** 2 for value in known) / (len(known) - 1))
        t = _T95[len(known) - 2] if len(known) - 2 < len(_T95) else 1.96
        return Interval(centre, t * spread / math.sqrt(len(known)))


@dataclass(frozen=True, slots=True)
class Result:
    """One variant, one operator, all seeds: figure → interval; the run of the first seed, for pictures."""

    variant: str
    operator: str
    figures: dict[str, Interval]
    first: Played


Figures = dict[str, float]
_Seed = tuple[int, dict[tuple[str, str], Figures], dict[tuple[str, str], Played]]


def run_experiment(experiment: Experiment, seeds: int, jobs: int = 0,
                   tell: Callable[[int, int], None] | None = None) -> list[Result]:
    """`tell(done, of)` after every seed. The result does not depend on `jobs`."""
    open_controls()  # built once, before many want it
    found: dict[int, dict[tuple[str, str], Figures]] = {}
    firsts: dict[tuple[str, str], Played] = {}
    for seed, figures, played in _all_seeds(experiment, seeds, jobs or len(os.sched_getaffinity(0))):
        found[seed] = figures
        firsts |= played
        if tell is not None:
            tell(len(found), seeds)
    return [Result(variant.name, operator.name, _intervals([found[seed][variant.name, operator.name]
                                                            for seed in sorted(found)]),
                   firsts[variant.name, operator.name])
            for operator in experiment.operators for variant in experiment.variants]


def _intervals(runs: Sequence[Figures]) -> dict[str, Interval]:
    return {name: Interval.of([run[name] for run in runs]) for name in FIGURES}


def _all_seeds(experiment: Experiment, seeds: int, jobs: int) -> Iterator[_Seed]:
    if min(seeds, jobs) == 1:
        yield from (run_seed(experiment, seed) for seed in range(1, seeds + 1))
        return
    # Spawned: a forked child would inherit whatever threads and locks the caller has.
    with ProcessPoolExecutor(min(seeds, jobs), multiprocessing.get_context("spawn"), _leave_quietly) as pool:
        try:
            with uninterrupted():
                waiting = [pool.submit(run_seed, experiment, seed) for seed in range(1, seeds + 1)]
            for one in as_completed(waiting):
                yield one.result()
        except BaseException:  # Ctrl-C too: nobody wants the rest
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise


def _leave_quietly() -> None:
    """Ctrl-C reaches the children of a terminal as well; the parent speaks for all."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_seed(experiment: Experiment, seed: int) -> _Seed:
    """Every variant under the triggers of one seed."""
    controls = open_controls()
    traces = [make_trace(operator.arrivals, seed * 1000 + number)
              for number, operator in enumerate(experiment.operators)]
    figures: dict[tuple[str, str], Figures] = {}
    firsts: dict[tuple[str, str], Played] = {}
    for variant in experiment.variants:
        played = play(experiment.operators, variant, traces, controls, experiment.cores, experiment.slice_seconds,
                      experiment.changes)
        for name, one in played.items():
            figures[variant.name, name] = figures_of(one)
            if seed == 1:
                firsts[variant.name, name] = one
    return seed, figures, firsts


def figures_of(played: Played) -> Figures:
    judged: Saso = saso(played.steps)
    return {"reconfigurations": judged.reconfigurations, "violations": judged.violations, "workers": judged.workers,
            "power": judged.power, "amplitude": judged.amplitude, "change_amplitude": judged.change_amplitude,
            "settling": judged.settling, "latency": played.latency, "latency_p95": played.latency_p95,
            "moved_keys": played.moved_keys, "shed": played.shed, "backlog": played.backlogs[-1]}


def teller(what: str) -> Callable[[int, int], None] | None:
    """Progress on one line of a terminal; None when stderr is none."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, of: int) -> None:
        print(f"\r{what}: {done} of {of} seeds", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return tell
