"""Threads of the simulated program. All queues are first in, first out, so no calendar of events is needed: what is put
into a station in order leaves it in order, and each event's time follows from the ones before it."""

from __future__ import annotations


class Station:
    """One thread with a bounded queue. `free` is when it has done all that was put; `busy` how long it has worked.
    `hop`: how long it takes until the thread has what was put, if it waits."""

    __slots__ = ("free", "busy", "_hop", "_starts", "_count", "_capacity")

    def __init__(self, capacity: int, hop: float):
        self.free = 0.0
        self._hop = hop
        self.busy = 0.0
        self._starts = [0.0] * capacity
        self._count = 0
        self._capacity = capacity

    def room(self, time: float) -> float:
        """When the producer can put: the element that is a queue's length before must have been begun."""
        begun = self._starts[self._count % self._capacity]
        return begun if begun > time else time

    def put(self, time: float, work: float) -> float:
        """Puts an element at a time when there is room; answers when it is done."""
        self._starts[self._count % self._capacity] = max(self.free, time + self._hop)
        self._count += 1
        return self.do(time + self._hop, work)

    def do(self, time: float, work: float) -> float:
        """Work that the thread has by then; answers when it is done."""
        self.free = max(self.free, time) + work
        self.busy += work
        return self.free

    def add(self, work: float, until: float) -> None:
        """Work besides what was put, after which the thread may have to wait for others."""
        self.free = max(self.free + work, until)
        self.busy += work


class Collector:
    """Takes results in order: one waits for all before it."""

    def __init__(self, work: float, hop: float):
        self.work = work
        self.hop = hop
        self.free = self.busy = 0.0
        self.latencies: list[float] = []

    def put(self, arrival: float, ready: float, more: float = 0.0) -> None:
        """A result of the tuple that came at `arrival`; `more` is work besides taking it."""
        self.latencies.append(self.take(ready, self.work + more) - arrival)

    def take(self, ready: float, work: float) -> float:
        """Something that is no result yet; answers when it is taken."""
        return self._do(ready + self.hop, work)

    def make(self, arrival: float, taken: float, work: float) -> None:
        """A result that it makes itself, of what it has taken."""
        self.latencies.append(self._do(taken, work) - arrival)

    def _do(self, ready: float, work: float) -> float:
        self.busy += work
        self.free = max(self.free, ready) + work
        return self.free

    def finish(self) -> None:
        """Nothing more comes."""


class FreeCollector(Collector):
    """Takes results as they come. They are told in the order of tuples, so which are ready first shows at the end."""

    def __init__(self, work: float, hop: float):
        super().__init__(work, hop)
        self._waiting: list[tuple[float, float, float]] = []

    def put(self, arrival: float, ready: float, more: float = 0.0) -> None:
        self._waiting.append((ready, arrival, more))

    def finish(self) -> None:
        for ready, arrival, more in sorted(self._waiting):
            super().put(arrival, ready, more)
        self._waiting.clear()
