"""Farm: a stateless step in n workers; blocks of tuples go to them in turn, the collector restores the order."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .load import Load, Machine, Prediction, Queue, balanced, filled, predict, with_workers

NAME = "farm"


def applies(function: Function) -> str | None:
    if function.stateless:
        return None
    return "it keeps state from tuple to tuple"


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    yield with_workers(NAME, workers)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T/n. The emitter pays for each tuple, the collector for each result."""
    pattern = filled(pattern, workers=machine.cores)
    n, costs = pattern.workers, load.costs
    work = costs.tuple + costs.window / load.slide
    stages = (balanced("emitter", 1, machine.sending(n)), balanced("workers", n, machine.taking() + work),
              balanced("collector", 1, machine.collecting() / load.slide))
    return predict(pattern, load, machine, stages, work + 2 * machine.hop, Queue(work, dealt=n), 0.0)
