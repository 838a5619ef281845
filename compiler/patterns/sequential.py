"""No parallelism: the operator runs in the thread that brings its tuples. Every other pattern must beat this."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.span import NOWHERE
from .function import Function
from .load import Load, Machine, Prediction, Queue, Stage, predict

NAME = "sequential"


def applies(function: Function) -> str | None:
    return None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    yield typed.Pattern(NAME, NOWHERE)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_F; what shares panes computes as tuples come, and only merges at the end of a window."""
    costs = load.costs
    work = costs.tuple + load.ending / load.slide
    stages = (Stage(NAME, 1, work, work),)
    return predict(pattern, load, machine, stages, costs.tuple + load.ending, Queue(load.ending or costs.tuple),
                   load.store_bytes)
