"""Nesting: window farming or key partitioning whose workers are window-partitioned (002 §4.7)."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.settings import MOST_WORKERS
from . import key_partitioning, window_farming, window_partitioning
from .function import Function
from .load import Load, Machine, Prediction, Queue, filled, predict, with_workers

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
        return (f"{pattern.workers} times {pattern.inner_workers} are {threads} workers, "
                f"and at most {MOST_WORKERS} can be")
    return _OUTER[pattern.outer].applies(function) if pattern.outer else None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    for inner in (degree for degree in _INNER if 2 * degree <= workers):
        outer = workers // inner
        yield with_workers(NAME, outer, inner_workers=inner, outer="window_farming")
        if 1 < load.keys and outer <= key_partitioning.most_workers(load):
            yield with_workers(NAME, outer, inner_workers=inner, outer="key_partitioning")


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """Teams that share each window as in window partitioning; a window goes to the next team, or to the one of its key.
    One thread keeps all tuples, and one reduces."""
    pattern = filled(pattern, workers=2, inner_workers=2, outer="window_farming")
    teams, parts, by_key = pattern.workers, pattern.inner_workers, pattern.outer == "key_partitioning"
    share = key_partitioning.heaviest_share(load, machine, teams) if by_key else 1 / teams
    stages = window_partitioning.shared_stages(load, machine, parts, teams, share)
    serving = window_partitioning.part(load, parts)
    queue = Queue(serving, rivals=teams, share=share) if by_key else Queue(serving, dealt=teams)
    latency = window_partitioning.latency(load, machine, parts)
    return predict(pattern, load, machine, stages, latency, queue, load.kept_bytes)
