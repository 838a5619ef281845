"""Pane farming: n workers compute G over panes, H merges the panes of a window (002 §4.5).

The emitter keeps the tuples, and hands each pane out when it is full. H runs in the collector; in workers of its own
that one thread feeds (farm) or the pane workers themselves (shuffled), divided by key if there are keys, else by
window; or in the pane workers themselves, by turns: what is known of the open windows goes from each to the one that
has the next pane, and who is not up yet computes his next pane meanwhile (ring).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from .function import Function
from .key_partitioning import heaviest_share, most_workers
from .load import Load, Machine, Prediction, Queue, Stage, balanced, filled, predict, with_workers

NAME = "pane_farming"
MERGES = ("collector", "farm", "shuffled", "ring")
APART = ("farm", "shuffled")  # those that have merge workers of their own
SCHEDULE = "on_demand"  # cores differ in what else they do: the faster one gets more


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
    if function.pane_tuples == 1:
        return "cut where windows begin and end, every pane is of one tuple: there is nothing to share"
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
    for merge in ("collector", "ring"):
        yield with_workers(NAME, workers, merge=merge, schedule=SCHEDULE)
    for merging in {2, 3, workers // 4, workers // 2}:
        if 1 < merging < workers and (load.keys == 1 or merging <= most_workers(load)):
            for merge in ("farm", "shuffled"):
                yield with_workers(NAME, workers - merging, merge_workers=merging, merge=merge, schedule=SCHEDULE)


def cost(load: Load, machine: Machine, pattern: typed.Pattern) -> Prediction:
    """T_S = T_G/n and T_H/m (eq. 4.2), λ_max = n·σ_p/T_G (eq. 4.4); latency T_G + T_H (L^pane of §4.5)."""
    merge = "shuffled" if (pattern.merge_workers or 1) > 1 else "collector"
    pattern = filled(pattern, workers=machine.cores, merge=merge, schedule=SCHEDULE)
    panes = load.panes_a_slide
    emitter = balanced("emitter", 1, load.keeping + panes * machine.emit / load.slide)
    computing = load.keeping + load.pane + load.costs.merge + _hops(pattern) * machine.hop
    return predict(pattern, load, machine, (emitter, *_after(load, machine, pattern)), computing,
                   Queue(load.pane, dealt=pattern.workers), _memory(load, pattern), copies(load, pattern))


def merges_apart(pattern: typed.Pattern) -> bool:
    """One merge worker is the collector."""
    return pattern.merge in APART and (pattern.merge_workers or 1) > 1


def copies(load: Load, pattern: typed.Pattern) -> float:
    """Tuples are kept once. A pane's result goes to the merge worker of its key; without keys all of them read it."""
    return float(pattern.merge_workers) if merges_apart(pattern) and load.keys == 1 else 1.0


def merging_share(load: Load, machine: Machine, pattern: typed.Pattern) -> float:
    """The part of all merging that the busiest merge worker has."""
    return 1 / pattern.merge_workers if load.keys == 1 else heaviest_share(load, machine, pattern.merge_workers)


def _hops(pattern: typed.Pattern) -> int:
    return 2 if not merges_apart(pattern) else 3 if pattern.merge == "shuffled" else 4


def _after(load: Load, machine: Machine, pattern: typed.Pattern) -> tuple[Stage, ...]:
    n, slide, panes = pattern.workers, load.slide, load.panes_a_slide
    g, h = panes * (machine.taking() + load.pane) / slide, load.costs.merge / slide
    sent, taken, result = panes * machine.emit / slide, panes * machine.taking() / slide, machine.collecting() / slide
    if pattern.merge == "ring":
        in_turn = sent + h + machine.emit / slide  # one after the other, whoever does it
        return (Stage("pane workers", n, g + in_turn, max((g + in_turn) / n, in_turn)),
                balanced("collector", 1, result))
    if not merges_apart(pattern):
        return (balanced("pane workers", n, g + sent), balanced("collector", 1, panes * result + h))
    copied, share = copies(load, pattern), merging_share(load, machine, pattern)
    # What is for all of them is sent once and taken by each; what one merges is a part of the whole.
    merging = Stage("merge workers", pattern.merge_workers, panes * machine.taking(copied) / slide + h,
                    (taken if copied > 1 else share * taken) + share * h)
    through = (balanced("merge emitter", 1, panes * result + sent),) if pattern.merge == "farm" else ()
    return (balanced("pane workers", n, g + sent), *through, merging, balanced("collector", 1, result))


def _memory(load: Load, pattern: typed.Pattern) -> float:
    """Open panes keep tuples, closed ones a value."""
    open_pane = load.slide / load.panes_a_slide * load.tuple_bytes
    return load.keys * (open_pane + load.panes * load.partial_bytes * copies(load, pattern))
