"""Processing time: the clock that gives a tuple its time when it is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count


class Clock:
    """Nanoseconds that never go back. `given` replaces the clock of the machine: a function, or (start, step) for
    start, start + step, … reading by reading; all sources with processing time read the same clock."""

    def __init__(self, given: Callable[[], int] | tuple[int, int] | None = None):
        self.read = count(*given).__next__ if isinstance(given, tuple) else given or time.time_ns
        self.latest: int | None = None

    def now(self) -> int:
        now = self.read()
        self.latest = now if self.latest is None else max(now, self.latest)
        return self.latest
