"""Window farming: whole windows go to n workers (002 §4.3). Any window function, also without keys."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .load import SECOND, Load, Machine, Prediction, Queue, Stage, balanced, filled, predict, with_workers

NAME = "window_farming"


def applies(function: Function) -> str | None:
    if not function.windowed:
        return "it is stateless" if function.stateless else "its state is no window"
    if not function.fixed_windows:
        what = "a window for every tuple" if function.every_tuple else f"{function.window} windows"
        return f"{what}: where one ends depends on the tuples, so none can be handed out before"
    return None


def setting_applies(function: Function, pattern: typed.Pattern) -> str | None:
    if pattern.style == "active" and pattern.schedule == "on_demand":
        return ("active workers know themselves which windows are theirs, in turn; "
                "`agnostic` ones are given them on demand")
    return None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    for style in ("agnostic", "active"):
        yield with_workers(NAME, workers, batch=1, schedule=_schedule(style), style=style)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_F/n (eq. 4.1), λ_max = n·δ/T_F (eq. 4.4).

    Agnostic workers get a window's place in the store that the emitter keeps. Active workers read every tuple, which is
    written once for all of them, keep it themselves, and compute the windows that are theirs.
    """
    pattern = filled(pattern, workers=machine.cores, batch=1, style="agnostic")
    pattern = filled(pattern, schedule=_schedule(pattern.style))
    agnostic, n = pattern.style == "agnostic", pattern.workers
    stages = _agnostic(load, machine, n) if agnostic else _active(load, machine, n)
    window = load.whole if agnostic else load.costs.window
    by_key = not agnostic and turns_by_key(load)
    queue = Queue(window, rivals=n) if by_key else Queue(window, dealt=n)
    copied = 1.0 if agnostic else float(n)
    memory = load.kept_bytes if agnostic else load.store_bytes * n
    return predict(pattern, load, machine, stages, window + _batched(load, pattern, window) + 2 * machine.hop, queue,
                   memory, copied)


def _schedule(style: str) -> str:
    """Cores differ in what else they do: on demand the faster one gets more. Active workers know which windows are
    theirs before."""
    return "on_demand" if style == "agnostic" else "round_robin"


def turns_by_key(load: Load) -> bool:
    """Of active workers: windows that end by time are told by key and time. All see count windows in one order, and
    take turns whatever their keys, as agnostic workers are given theirs."""
    return load.timed and load.keys > 1


def _batched(load: Load, pattern: typed.Pattern, window: float) -> float:
    """Windows of a batch come faster than their worker computes, and wait for each other; in order, those of the next
    batch wait for the last of them. The k-th of b is ready T + k·(T-gap) after its end, and all of the batch before
    b·(T-gap) - k·gap after it. Where each key has its own turns, others come between."""
    batch = pattern.batch
    gap = load.slide / load.rate * SECOND if load.rate else window / pattern.workers
    gap *= load.keys if pattern.style == "active" and turns_by_key(load) else 1
    later = window - gap
    if batch == 1 or pattern.workers == 1 or later <= 0:
        return 0.0
    kept_up = min(batch, math.ceil(batch * later / window - 1)) if load.ordered else 0  # by the batch before
    waiting = (batch - kept_up) * (batch + kept_up - 1) / 2 * later
    waiting += kept_up * (batch * later - window) - gap * kept_up * (kept_up - 1) / 2
    return waiting / batch


def _agnostic(load: Load, machine: Machine, workers: int) -> tuple[Stage, ...]:
    return (balanced("emitter", 1, load.keeping_whole + machine.emit / load.slide),
            balanced("workers", workers, (machine.taking() + load.whole) / load.slide),
            balanced("collector", 1, machine.collecting() / load.slide))


def _active(load: Load, machine: Machine, workers: int) -> tuple[Stage, ...]:
    work = machine.taking(workers) + workers * load.costs.tuple + load.costs.window / load.slide
    return (balanced("emitter", 1, machine.sending_all(workers)), balanced("workers", workers, work),
            balanced("collector", 1, machine.collecting() / load.slide))
