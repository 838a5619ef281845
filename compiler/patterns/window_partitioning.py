"""Window partitioning: each window is spread over n workers, and reduced (002 §4.6). It shortens latency with n."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
        return ("the order of the tuples matters, and round robin takes neighbours apart; "
                "`contiguous` keeps them together")
    return None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    for reduce in ("asynchronous", "synchronous"):
        for partition in ("contiguous", "round_robin"):
            yield with_workers(NAME, workers, reduce=reduce, partition=partition)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_G/n with T_G over the window (eq. 4.2), λ_max = n·δ/T_G (eq. 4.4); latency T_G/n and the reduce.

    The emitter keeps the tuples. When a window ends, each worker learns which of them are its part, in one piece or
    every n-th; a part is folded from the tuples, whatever the windows before it had computed. A synchronous reduce
    hands its value to workers that go over their parts again.
    """
    pattern = filled(pattern, workers=machine.cores, reduce="asynchronous", partition="contiguous")
    n = pattern.workers
    emitter, workers, collector = shared_stages(load, machine, n, 1, 1.0)
    stages, back = (emitter, workers, collector), 0.0
    if pattern.reduce == "synchronous":
        reduce = balanced("reduce", 1, (reduce_cost(load, machine, n) + n * machine.emit) / load.slide)
        stages = (emitter, workers, reduce, replace(workers, name="second workers"), collector)
        back = latency(load, machine, n)
    return predict(pattern, load, machine, stages, latency(load, machine, n) + back, Queue(part(load, n)),
                   load.kept_bytes)


def shared_stages(load: Load, machine: Machine, parts: int, teams: int, share: float) -> tuple[Stage, ...]:
    """Teams of as many workers as a window has parts; `share`: of all windows those of the busiest team."""
    work = (machine.taking(parts) + parts * (machine.emit + part(load, parts))) / load.slide
    return (balanced("emitter", 1, load.keeping_whole + parts * machine.emit / load.slide),
            Stage("workers", teams * parts, work, share * work / parts),
            balanced("collector", 1, reduce_cost(load, machine, parts) / load.slide))


def latency(load: Load, machine: Machine, parts: int) -> float:
    return part(load, parts) + reduce_cost(load, machine, parts) + 2 * machine.hop


def part(load: Load, parts: int) -> float:
    """One worker's computing at the end of a window. Work does not vanish: what H need not merge, since a part is
    larger than a pane, G folds inside the part. So one worker has as much to do as no pattern, and links on top."""
    folded = 0.0 if load.costs.whole else load.costs.merge * max(0.0, 1 - parts / max(load.panes, 1.0))
    return (load.mapped + folded) / parts


def reduce_cost(load: Load, machine: Machine, parts: int) -> float:
    """H over one value a worker instead of one a pane."""
    return machine.collecting(parts) + load.costs.merge * parts / max(load.panes, 1.0)
