"""Pane farming: n workers compute G over panes, H merges the panes of a window (002 §4.5).

H runs in the collector, in a farm of its own, in a farm that the pane workers feed directly (shuffled), or in the pane
workers, each of which passes its results on to the next (ring).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .load import Load, Machine, Prediction, Queue, Stage, balanced, filled, predict, with_workers

NAME = "pane_farming"
MERGES = ("collector", "farm", "shuffled", "ring")


def applies(function: Function) -> str | None:
    if not function.windowed:
        return "it is stateless" if function.stateless else "its state is no window"
    if not function.decomposable:
        return f"{function.whole}: it is not composed from panes"
    if function.second_map:
        return "tuples are compared with the whole window, which no pane knows"
    if not function.fixed_windows:
        what = "windows at every tuple" if function.every_tuple else f"{function.window} windows"
        return f"{what} are not cut into panes"
    if function.slide_tuples == 1:
        return "a slide of one tuple gives panes of one tuple: there is nothing to share"
    if function.window == "count" and not function.arrives_in_order:
        return "the order of event time matters to it, and panes of a count window are cut in the order of arrival"
    if function.window == "count" and function.expires:
        return "a key that expires begins its windows anew, and the thread that merges its panes would not know"
    return None


def setting_applies(function: Function, pattern: typed.Pattern) -> str | None:
    if pattern.merge in ("collector", "ring") and (pattern.merge_workers or 1) > 1:
        return f"`merge: {pattern.merge}` has no merge workers of its own; `farm` and `shuffled` have"
    return None


def configurations(load: Load, workers: int) -> Iterator[typed.Pattern]:
    """All ways to divide the workers between the two stages that may pay."""
    yield with_workers(NAME, workers, merge="collector", schedule="round_robin")
    yield with_workers(NAME, workers, merge="ring", schedule="round_robin")
    for merging in {1, 2, 3, workers // 4, workers // 2}:
        if 0 < merging < workers:
            for merge in ("farm", "shuffled"):
                yield with_workers(NAME, workers - merging, merge_workers=merging, merge=merge, schedule="round_robin")


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_G/n and T_H/m (eq. 4.2), λ_max = n·σ_p/T_G (eq. 4.4); latency T_G + T_H (L^pane of §4.5)."""
    pattern = filled(pattern, workers=machine.cores, merge="collector", schedule="round_robin")
    if pattern.merge in ("farm", "shuffled"):
        pattern = filled(pattern, merge_workers=1)
    stages = (balanced("emitter", 1, machine.emit), *_after(load, machine, pattern))
    hops = {"collector": 2, "farm": 4, "shuffled": 3, "ring": 3}[pattern.merge]
    computing = load.costs.tuple + load.pane + load.costs.merge + hops * machine.hop
    return predict(pattern, load, machine, stages, computing, Queue(load.pane, rivals=pattern.workers), _memory(load, pattern),
                   _copies(load, pattern))


def _after(load: Load, machine: Machine, pattern: typed.Pattern) -> tuple[Stage, ...]:
    n, m, slide, panes = pattern.workers, pattern.merge_workers or 1, load.slide, load.panes_a_slide
    g = machine.take + load.costs.tuple + panes * load.pane / slide
    h, result = load.costs.merge / slide, machine.collect / slide
    sent, taken = panes * machine.emit / slide, panes * machine.take / slide
    copied = _copies(load, pattern)
    match pattern.merge:
        case "collector":
            return (balanced("pane workers", n, g + sent), balanced("collector", 1, panes * result + h))
        case "ring":
            return (balanced("pane workers", n, g + sent + taken + h), balanced("collector", 1, result))
        case "shuffled":
            return (balanced("pane workers", n, g + copied * sent),
                    balanced("merge workers", m, copied * taken + h), balanced("collector", 1, result))
    return (balanced("pane workers", n, g + sent), balanced("merge emitter", 1, panes * result + copied * sent),
            balanced("merge workers", m, copied * taken + h), balanced("collector", 1, result))


def _copies(load: Load, pattern: typed.Pattern) -> float:
    """Panes are disjoint; a pane's result goes to every merge worker that has a window with it."""
    return max(1.0, min(pattern.merge_workers or 1, load.panes / load.panes_a_slide))


def _memory(load: Load, pattern: typed.Pattern) -> float:
    """Open panes keep tuples, closed ones a value."""
    open_pane = 0.0 if load.shares_panes else load.slide / load.panes_a_slide * load.tuple_bytes
    return load.keys * (open_pane + load.panes * load.partial_bytes * _copies(load, pattern))
