"""Windows whose results come at a tuple, not at a watermark: counts, deltas, and windows on every tuple.

A key that expires is forgotten together with its tuples.
"""

from __future__ import annotations

from collections import deque

from .state import Idleness
from .steps import Item
from .windows import Kept, Windowed


class AtTuples(Windowed):
    """What these windows share: a group of tuples for each key, empty at first and after expiry."""

    def __init__(self, step, scope, how):
        super().__init__(step, scope, how)
        self.idle = Idleness(self.body.expire_after)
        self.groups: dict[tuple, object] = {}

    def new_group(self):
        return []

    def take(self, port, item):
        key, kept = self.keep(item)
        if self.idle.starts_afresh(key, item.time):
            self.groups[key] = self.new_group()
        return self.enter(self.groups[key], kept)

    def advance(self, watermark):
        self.idle.watermark = watermark
        return ()

    def enter(self, group, kept: Kept) -> list[Item]:
        raise NotImplementedError


class Counted:
    """The last tuples of a group, and how many it has had."""

    def __init__(self, size: int):
        self.tuples, self.seen = deque(maxlen=size), 0


class CountWindows(AtTuples):
    """Tuples [k·slide, k·slide + size) of a group; `partial`: every slide tuples the last up to size."""

    def new_group(self):
        return Counted(self.window.size)

    def enter(self, group, kept):
        group.tuples.append(kept)
        group.seen += 1
        return self.result(list(group.tuples), latest(group.tuples)) if self._due(group.seen) else []

    def _due(self, seen: int) -> bool:
        if self.window.partial or self.window.every_tuple:
            return seen % self.window.slide == 0
        return seen >= self.window.size and (seen - self.window.size) % self.window.slide == 0


class DeltaWindows(AtTuples):
    """A window ends before the first tuple whose value is further than the threshold from that of the window's
    first; that tuple opens the next. The result has the highest time of all of them, that tuple included: the
    window's own could be behind the watermark by now, and results are never late."""

    def __init__(self, step, scope, how):
        super().__init__(step, scope, how)
        self.threshold = self.value(self.window.threshold)

    def enter(self, group, kept):
        value = self.value(self.window.value, kept.row)
        results = []
        if group and abs(value - group[0][0]) > self.threshold:
            tuples = [one for _, one in group]
            results = self.result(tuples, latest([*tuples, kept]))
            group.clear()
        group.append((value, kept))
        return results


class MovingWindows(AtTuples):
    """`time D every tuple`: at each tuple those of its group that came so far, of the times (t − D, t]."""

    def enter(self, group, kept):
        group.append(kept)
        start, end = kept.time + 1 - self.window.size, kept.time + 1
        return self.result([one for one in group if start <= one.time < end], kept.time, (start, end))


def latest(tuples) -> int:
    return max(one.time for one in tuples)
