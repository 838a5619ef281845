"""Window partitioning: each window is spread over n workers, and reduced (002 §4.6). It shortens latency with n."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .load import Load, Machine, Prediction, Queue, Stage, balanced, filled, predict, with_workers

NAME = "window_partitioning"


def applies(function: Function) -> str | None:
    if not function.windowed:
        return "it is stateless" if function.stateless else "its state is no window"
    if not function.decomposable:
        return f"{function.whole}: it is no map and reduce"
    if not function.fixed_windows:
        what = "windows at every tuple" if function.every_tuple else f"{function.window} windows"
        return f"{what} have no end that all workers know"
    return None


def setting_applies(function: Function, pattern: typed.Pattern) -> str | None:
    """Whether the function allows these settings."""
    if pattern.reduce == "synchronous" and not function.second_map:
        return "a synchronous reduce gives the reduced value back to a second map, and this function has none"
    if pattern.reduce == "asynchronous" and function.second_map:
        return "a second map waits for the reduced value; the reduce is synchronous"
    if pattern.partition == "round_robin" and not function.order_free:
        return "the order of the tuples matters, and round robin takes neighbours apart; `contiguous` keeps them together"
    return None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    for reduce in ("asynchronous", "synchronous"):
        for partition in ("contiguous", "round_robin"):
            yield with_workers(NAME, workers, reduce=reduce, partition=partition)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_G/n with T_G over the window (eq. 4.2), λ_max = n·δ/T_G (eq. 4.4); latency T_G/n and the reduce.

    Round robin gives each worker every n-th tuple to keep. Contiguous parts are cut when the window ends, from a store
    that the emitter keeps, and each worker learns where its part lies.
    """
    pattern = filled(pattern, workers=machine.cores, reduce="asynchronous",
                     partition="round_robin" if load.shares_panes else "contiguous")
    return predict(pattern, load, machine, stages(load, machine, pattern), latency(load, machine, pattern), Queue(_part(load, pattern)),
                   load.store_bytes)


def stages(load: Load, machine: Machine, pattern: typed.Pattern, copies: float = 1.0) -> tuple[Stage, ...]:
    """`copies`: how often each tuple comes, in a nesting whose outer workers have overlapping windows."""
    return (balanced("emitter", 1, _emitter(load, machine, pattern, copies)),
            balanced("workers", pattern.workers, _worker(load, machine, pattern, copies)),
            balanced("collector", 1, _reduce(load, machine, pattern) / load.slide))


def latency(load: Load, machine: Machine, pattern: typed.Pattern) -> float:
    back = _part(load, pattern) + 2 * machine.hop if pattern.reduce == "synchronous" else 0.0
    return _part(load, pattern) + _reduce(load, machine, pattern) + 2 * machine.hop + back


def _part(load: Load, pattern: typed.Pattern) -> float:
    """One worker's computing at the end of a window; of what it has kept in panes only the merge is left."""
    kept = load.shares_panes and pattern.partition == "round_robin"
    return load.costs.merge if kept else load.mapped / pattern.workers


def _emitter(load: Load, machine: Machine, pattern: typed.Pattern, copies: float) -> float:
    a_tuple = machine.emit if pattern.partition == "round_robin" else load.keeping(machine)
    return copies * a_tuple + pattern.workers * machine.emit / load.slide


def _worker(load: Load, machine: Machine, pattern: typed.Pattern, copies: float) -> float:
    """Of all workers together, for one tuple."""
    n = pattern.workers
    maps = 2 if pattern.reduce == "synchronous" else 1
    keeping = machine.take + load.costs.tuple if pattern.partition == "round_robin" else 0.0
    return copies * keeping + n * (machine.take + maps * _part(load, pattern)) / load.slide


def _reduce(load: Load, machine: Machine, pattern: typed.Pattern) -> float:
    """H over one value a worker instead of one a pane."""
    return pattern.workers * machine.collect + load.costs.merge * pattern.workers / max(load.panes, 1.0)
