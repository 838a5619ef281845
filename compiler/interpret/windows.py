"""The meaning of windows over time: each keeps the tuples of a group and computes every window from them anew.

The values that aggregates read are computed once, when the tuple arrives, so that a fault counts once
however many windows a tuple is in. Those of all alternates are, whichever is active: the operator keeps what
any of them needs.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import NamedTuple

from ...dsl import typed
from ..graph.walk import aggregates_of, second_map
from .program_aggregates import Entering, accumulator
from .steps import InC, Item, Operator, key_of


class Kept(NamedTuple):
    """A tuple in a group: `arrival` counts the operator's tuples, `values` are what the aggregates read."""

    time: int
    arrival: int
    row: tuple
    values: tuple


class Windowed(Operator):
    """What all windows share: groups, and a result from the tuples of one window."""

    def __init__(self, step: typed.Step, scope, how: typed.Construct | InC):
        super().__init__(step, scope)
        self.window, self.how = self.body.window, how
        found = () if isinstance(how, InC) else aggregates_of(how)
        self.nodes = tuple(node for node in found if not second_map(node))
        self.second = tuple(node for node in found if second_map(node))
        written = (a.body for a in self.body.alternates if isinstance(a.body, typed.Construct))
        others = (node for body in written for node in aggregates_of(body) if not second_map(node))
        self.entering = Entering(tuple(dict.fromkeys((*self.nodes, *others))))
        self.arrivals = 0

    def keep(self, item: Item) -> tuple[tuple, Kept]:
        """The group that a tuple belongs to, and the tuple as the group keeps it."""
        self.arrivals += 1
        self.scope.rows = (item.row,)
        values = self.entering.values(self.scope)[:len(self.nodes)]
        key = key_of(self.body.keys, self.scope.columns[0], item.row)
        return key, Kept(item.time, self.arrivals, item.row, values)

    def result(self, kept: list[Kept], time: int, bounds: tuple[int, int] | None = None) -> list[Item]:
        """The result of one window's tuples; C may give none."""
        ordered = sorted(kept, key=lambda one: (one.time, one.arrival))
        if isinstance(self.how, InC):
            return self._in_c(ordered, time, bounds or (0, 0))
        running = [accumulator(node, self.scope) for node in self.nodes]
        for one in ordered:
            for each, value in zip(running, one.values, strict=True):
                each.add(value, one.time)
        self.scope.aggregates = {node: each.result() for node, each in zip(self.nodes, running, strict=True)}
        self.scope.aggregates |= self._second_pass(ordered)
        self.scope.bounds = bounds
        # A plain field in the body is a key: the same in all tuples.
        return [Item(time, self.build(self.how, ordered[0].row))]

    def _second_pass(self, ordered: list[Kept]) -> dict[typed.Aggregate, object]:
        """Aggregates that compare each tuple with what is known of the whole window."""
        entering = Entering(self.second)
        running = [accumulator(node, self.scope) for node in self.second]
        for one in ordered if self.second else ():
            self.scope.rows = (one.row,)
            for each, value in zip(running, entering.values(self.scope), strict=True):
                each.add(value, one.time)
        return {node: each.result() for node, each in zip(self.second, running, strict=True)}

    def _in_c(self, kept: list[Kept], time: int, bounds: tuple[int, int]) -> list[Item]:
        result = self.how.of_window([one.row for one in kept], [one.time for one in kept], bounds)
        return [] if result is None else [Item(time, result)]


class TimeWindows(Windowed):
    """Window k is [k·slide, k·slide + size); it comes out when the watermark has reached its end."""

    def __init__(self, step, scope, how):
        super().__init__(step, scope, how)
        self.groups: dict[tuple, list[Kept]] = defaultdict(list)
        self.open: dict[int, set[tuple]] = {}  # the groups that have a tuple in window k
        self.order: list[int] = []  # the open windows as a heap

    def take(self, port, item):
        last = item.time // self.window.slide
        first = (item.time - self.window.size) // self.window.slide + 1
        if first > last:  # it fell between two windows
            return ()
        key, kept = self.keep(item)
        for k in range(first, last + 1):
            if k not in self.open:
                self.open[k] = set()
                heapq.heappush(self.order, k)
            self.open[k].add(key)
        self.groups[key].append(kept)
        return ()

    def advance(self, watermark):
        results = []
        while self.order and self.order[0] * self.window.slide + self.window.size <= watermark:
            k = heapq.heappop(self.order)
            for key in sorted(self.open.pop(k)):
                results += self._close(k * self.window.slide, key)
        return results

    def _close(self, start: int, key: tuple) -> list[Item]:
        end, group = start + self.window.size, self.groups[key]
        inside = [kept for kept in group if start <= kept.time < end]
        later = [kept for kept in group if kept.time >= start + self.window.slide]
        if later:
            self.groups[key] = later
        else:
            del self.groups[key]
        return self.result(inside, end - 1, (start, end))


class SessionWindows(Windowed):
    """A session is [first, last + gap): a pause of at least the gap ends it."""

    def __init__(self, step, scope, how):
        super().__init__(step, scope, how)
        self.groups: dict[tuple, list[Kept]] = defaultdict(list)
        self.ends: list[tuple[int, tuple]] = []  # when a session could end, and whose

    def take(self, port, item):
        key, kept = self.keep(item)
        self.groups[key].append(kept)
        heapq.heappush(self.ends, (item.time + self.window.gap, key))
        return ()

    def advance(self, watermark):
        touched = set()
        while self.ends and self.ends[0][0] <= watermark:
            touched.add(heapq.heappop(self.ends)[1])
        closed = []
        for key in touched:
            sessions = self._sessions(self.groups.pop(key, []))
            for session in sessions:
                end = session[-1].time + self.window.gap
                if end <= watermark:
                    closed.append((end, key, session))
                else:
                    self.groups[key].extend(session)
        return [item for end, _, session in sorted(closed, key=lambda one: one[:2])
                for item in self.result(session, end - 1, (session[0].time, end))]

    def _sessions(self, group: list[Kept]) -> list[list[Kept]]:
        sessions: list[list[Kept]] = []
        for kept in sorted(group, key=lambda one: (one.time, one.arrival)):
            if sessions and kept.time - sessions[-1][-1].time < self.window.gap:
                sessions[-1].append(kept)
            else:
                sessions.append([kept])
        return sessions
