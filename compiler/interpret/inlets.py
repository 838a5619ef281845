"""A source while it is being read: its rows, its watermark, and which tuples are late."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...dsl import typed
from .clock import Clock
from .csv_rows import Malformed
from .expressions import columns_of
from .steps import Item

NEVER, FOREVER = -math.inf, math.inf
FURTHEST = 1 << 62  # from 0, on the axis of time: bounds of windows fit 64 bits, too


class Inlet:
    """The watermark is the highest time so far minus the slack; it never goes back. With `slack auto` the
    slack is the largest delay behind the highest time that any tuple so far has had. With processing time a
    tuple gets its time when it is read, and the watermark follows."""

    def __init__(self, step: typed.Step, rows: Iterable[tuple | Malformed], clock: Clock | None = None):
        self.name, self.source, self.rows = step.name, step.body, iter(rows)
        self.clock = (clock or Clock()) if step.body.processing_time else None
        self.time_column = columns_of(step.record)[step.body.event_time] if step.body.event_time else None
        self.watermark = self.highest = NEVER
        self.slack = step.body.slack_from if step.body.slack is None else step.body.slack
        self.open = True
        self.waiting: Item | None = None
        self.malformed: list[Malformed] = []

    @property
    def timed(self) -> bool:
        """By event time, so that it waits for sources that are behind."""
        return self.time_column is not None

    def has_more(self) -> bool:
        """Looks for the next tuple, malformed rows left aside."""
        while self.waiting is None:
            row = next(self.rows, None)
            if row is None:
                return False
            if isinstance(row, Malformed):
                self.malformed.append(row)
            else:
                self.waiting = Item(on_axis(row[self.time_column]) if self.timed else 0, row)
        return True

    def next(self) -> Item:
        item, self.waiting = self.waiting, None
        return item if self.clock is None else Item(on_axis(self.clock.now()), item.row)

    def is_late(self, item: Item) -> bool:
        return self.timed and (item.time < self.watermark or self._off_axis(item))

    def _off_axis(self, item: Item) -> bool:
        """Such a tuple moves nothing: one broken row would make all that follow late."""
        return self.timed and item.row[self.time_column] != item.time

    def moves_with(self, item: Item) -> bool:
        """Takes note of a tuple, late or not. True when the watermark has moved."""
        if not self.timed and self.clock is None or self._off_axis(item):
            return False
        if self.source.slack is None:
            self.slack = max(self.slack, self.highest - item.time)
        self.highest = max(self.highest, item.time)
        before, self.watermark = self.watermark, max(self.watermark, self.highest - self.slack)
        return self.watermark > before


def on_axis(time: int) -> int:
    return max(-FURTHEST, min(FURTHEST, time))
