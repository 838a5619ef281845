"""Nesting: window farming or key partitioning whose workers are window-partitioned (002 §4.7)."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.settings import MOST_WORKERS
from . import key_partitioning, window_farming, window_partitioning
from .function import Function
from .load import Load, Machine, Prediction, Queue, Stage, filled, predict, with_workers

NAME = "nesting"
_INNER = (2, 3, 4, 5, 6, 8, 10, 12, 16)
_OUTER = {"window_farming": window_farming, "key_partitioning": key_partitioning}


def applies(function: Function) -> str | None:
    if function.second_map:
        return "its workers would be window-partitioned with a synchronous reduce, which teams do not have"
    inner = window_partitioning.applies(function)
    return None if inner is None else f"its workers would be window-partitioned, and {inner}"


def setting_applies(function: Function, pattern: typed.Pattern) -> str | None:
    threads = (pattern.workers or 1) * (pattern.inner_workers or 1)
    if threads > MOST_WORKERS:
        return f"{pattern.workers} times {pattern.inner_workers} are {threads} workers, and at most {MOST_WORKERS} can be"
    return _OUTER[pattern.outer].applies(function) if pattern.outer else None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    for inner in (degree for degree in _INNER if 2 * degree <= workers):
        outer = workers // inner
        yield with_workers(NAME, outer, inner_workers=inner, outer="window_farming")
        if 1 < load.keys and outer <= key_partitioning.most_workers(load):
            yield with_workers(NAME, outer, inner_workers=inner, outer="key_partitioning")


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """The outer pattern, with macro-workers that take a window as fast as the inner one; a macro-worker reduces in
    a thread of its own."""
    pattern = filled(pattern, workers=2, inner_workers=2, outer="window_farming")
    inner = filled(with_workers(window_partitioning.NAME, pattern.inner_workers), reduce="asynchronous",
                   partition="round_robin" if load.shares_panes else "contiguous")
    n, share = pattern.workers, _share(load, machine, pattern)
    copied = window_farming.copies(load, n, 1) if pattern.outer == "window_farming" else 1.0
    inside = window_partitioning.stages(load, machine, inner, copied)
    stages = (Stage("emitter", 1, machine.emit * copied, machine.emit * copied),
              *(Stage(f"inner {s.name}", n * s.threads, s.work, s.peak * share) for s in inside),
              Stage("collector", 1, machine.collect / load.slide, machine.collect / load.slide))
    computing = window_partitioning.latency(load, machine, inner) + 2 * machine.hop
    serving = max(stage.peak for stage in inside) * load.slide
    return predict(pattern, load, machine, stages, computing, Queue(serving, rivals=n, share=share),
                   load.store_bytes * copied, copied)


def _share(load: Load, machine: Machine, pattern: typed.Pattern) -> float:
    if pattern.outer == "key_partitioning":
        return key_partitioning.heaviest_share(load, machine, pattern.workers)
    return 1 / pattern.workers
