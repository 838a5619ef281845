"""Threads that share cores: what is lost while they wait for each other.

A thread that waits gives its core up and must be brought back, others use its caches meanwhile, and links run empty.
How much that is can't be told from what threads cost alone: calibration runs the program with more threads than cores,
and what it takes longer than their work is the price of each element that was handed over. It differs by what is handed
over: a tuple to one worker, or to all of them, of whom the slowest is waited for; or the place of a pane or a window in
the store of the thread that keeps it, which works on meanwhile; or a pane in a ring, where workers also wait for their
turns. And it grows with how many threads each core has beyond one: with one thread more than there are cores somebody
nearly always has work. So what was measured is told, and counted, for each of them.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl import typed
from .load import Machine

TUPLES, COPIES, PANES, TURNS, WINDOWS = "tuples", "copies", "panes", "turns", "windows"
# Elements that a thread handles between two times that it waits, where nothing was measured: a block of the runtime.
_BLOCK = 256


def handing(pattern: typed.Pattern) -> str:
    """What the workers of a pattern are given."""
    if pattern.name == "pane_farming":
        return TURNS if pattern.merge == "ring" else PANES
    if pattern.style == "active":
        return COPIES
    return WINDOWS if pattern.name in ("window_partitioning", "nesting", "window_farming") else TUPLES


def beyond_one(threads: int, cores: int) -> float:
    """Threads that a core has beyond one, on average."""
    return max(0, threads - cores) / cores


def lost(machine: Machine, what: str, workers: int, threads: int) -> float:
    """Nanoseconds by which an element that is handed over makes the run longer, when there are so many threads in all.
    Between the numbers of workers that were measured it is interpolated; with more than that it stays the same. Where
    nothing is known of a tuple to all, it is taken to be as one to one worker."""
    known = machine.crowded.get(what) or (machine.crowded.get(TUPLES) if what == COPIES else None)
    measured = sorted((known or {}).items())
    if not measured:
        return 2 * machine.hop / _BLOCK / machine.cores
    below = max((one for one in measured if one[0] <= workers), default=measured[0])
    above = min((one for one in measured if one[0] >= workers), default=measured[-1])
    between = (workers - below[0]) / (above[0] - below[0]) if above[0] > below[0] else 0.0
    return beyond_one(threads, machine.cores) * (below[1] + (above[1] - below[1]) * between)


def workers_of(pattern: typed.Pattern) -> int:
    return (pattern.workers or 1) * (pattern.inner_workers or 1)


def counting(machine: Machine) -> Machine:
    """Whatever goes from thread to thread is taken or collected. With this machine that costs a nanosecond more: so
    many things there are as all work grows by. What many take at once is one: who waits for the parts of a window, or
    for what all get, waits once."""
    return replace(machine, counted=1.0)
