"""Key partitioning: each key belongs to one of n workers (002 §4.4). The only one for state that is no window."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .load import Load, Machine, Prediction, Queue, Stage, balanced, filled, predict, with_workers

NAME = "key_partitioning"


def applies(function: Function) -> str | None:
    if function.keyed:
        return None
    return "it is stateless" if function.stateless else "its state has no keys to divide it by"


def most_workers(load: Load) -> int:
    """More find nothing to do: the heaviest key is one worker's, and a worker needs a key."""
    return max(1, min(load.keys, math.ceil(1 / load.p_max - 1e-9)))


def heaviest_share(load: Load, machine: Machine, workers: int) -> float:
    """The part of all tuples that the busiest worker gets.

    Balanced by a table: 1/n, or the heaviest key. By hash the heaviest key's worker gets its part of the others too,
    and the workers differ by chance: the largest of n sums with the keys' variance.
    """
    if workers == 1:
        return 1.0
    if machine.routing == "balanced":
        return max(load.p_max, 1 / workers)
    hot = load.p_max + (1 - load.p_max) / workers
    rest = max(0.0, load.spread - load.p_max ** 2)
    chance = math.sqrt(rest * (1 / workers) * (1 - 1 / workers))
    return min(1.0, max(hot, 1 / workers + chance * math.sqrt(2 * math.log(workers))))


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    if workers <= most_workers(load):
        yield with_workers(NAME, workers)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_F/n (eq. 4.1), λ_max = n·δ/T_F (eq. 4.4), and never more than 1/p_max times one worker."""
    pattern = filled(pattern, workers=min(machine.cores, most_workers(load)))
    n, costs = pattern.workers, load.costs
    work = machine.taking() + costs.tuple + load.ending / load.slide
    share = heaviest_share(load, machine, n)
    stages = (balanced("emitter", 1, machine.sending(n)), Stage("workers", n, work, work * share),
              balanced("collector", 1, machine.collecting() / load.slide))
    computing = costs.tuple + load.ending + 2 * machine.hop
    queue = Queue(load.ending or costs.tuple, rivals=n, share=share)
    return predict(pattern, load, machine, stages, computing, queue, load.store_bytes)
