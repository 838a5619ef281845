"""The simulated operator: workers with queues, keys that belong to them, and state that moves when that changes.

Each worker serves first in, first out. So when a worker is done with the k-th of its jobs follows from sums and running
maxima (Lindley's recursion), and a whole slice of time is a few passes over arrays. What is not done at the end of a
slice is carried into the next one, where it goes on at the frequency and with the alternate of then.

A job enters its worker's queue when the trigger comes, or later: when the state of its key has arrived (fluent), when
its worker has got all its parcels (R-BLK), when everybody has (S-BLK).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .trace import Trace

FLUENT, R_BLK, S_BLK = "fluent", "r_blk", "s_blk"  # as in the language
PROTOCOLS = (FLUENT, R_BLK, S_BLK)


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds. `service`: of a trigger on average, for each alternate, at the highest frequency. `take_out`, `put_in`:
    to move the state of one key out of its old worker and into the new one. `wake`: until a sleeping worker runs.
    `queue`: triggers that a worker's queue holds before the sender is held up. `overhead`: what every result takes
    beside waiting and service, whatever the load: links, merging, threads that wake up."""

    service: tuple[float, ...]
    take_out: float = 1e-6
    put_in: float = 1e-6
    wake: float = 50e-6
    queue: float = 328.0
    overhead: float = 0.0


class Jobs(NamedTuple):
    """What waits or is being served. `entry`: when it enters its queue; `arrival`: when it came (what latency is
    counted from); `work`: as in Trace, or seconds where `moves`; `begun`: its service has begun."""

    worker: np.ndarray
    entry: np.ndarray
    arrival: np.ndarray
    work: np.ndarray
    moves: np.ndarray
    begun: np.ndarray

    def only(self, where: np.ndarray) -> Jobs:
        return Jobs(*(column[where] for column in self))

    @staticmethod
    def joined(first: Jobs, second: Jobs) -> Jobs:
        return Jobs(*(np.concatenate(both) for both in zip(first, second, strict=True)))

    @staticmethod
    def of(worker: np.ndarray, entry: np.ndarray, arrival: np.ndarray, work: np.ndarray, moves: bool) -> Jobs:
        return Jobs(worker.astype(np.uint16), entry, arrival, work, np.full(len(entry), moves),
                    np.zeros(len(entry), bool))


@dataclass(frozen=True, slots=True)
class Slice:
    """What happened between two moments. What was shed is not among `arrivals`. `done` are the times of results, in
    order; `latencies` belong to them. `waits` and `services` are of the triggers whose service began. `busy` is seconds
    of each worker, `loads` what came for each worker in seconds of its work, `held` the share of time that each
    worker's queue was full."""

    start: float
    end: float
    workers: int
    arrivals: np.ndarray
    done: np.ndarray
    latencies: np.ndarray
    waits: np.ndarray
    services: np.ndarray
    shed: int
    backlog: int
    busy: np.ndarray
    loads: np.ndarray
    held: np.ndarray
    weights: np.ndarray  # of each part: seconds of work that came for it


class Plant:
    """`parts`: key → part; a part (a slot, or a heavy key) is what is routed as one. `owner`: part → worker. `ordered`:
    a result is handed on when all of earlier triggers have been, as generated programs do it."""

    def __init__(self, costs: Costs, parts: np.ndarray, owner: np.ndarray, workers: int, most: int,
                 speed: float = 1.0, alternate: int = 0, protocol: str = FLUENT, ordered: bool = False):
        self.costs, self.parts, self.protocol, self.ordered = costs, parts, protocol, ordered
        self.owner = owner.astype(np.uint16)
        self.workers, self.most, self.speed, self.alternate, self.shed = workers, most, speed, alternate, 0.0
        self.now = 0.0
        self.keys_of = np.bincount(parts, minlength=len(owner))  # keys that a part holds
        self._carried = Jobs.of(np.empty(0), np.empty(0), np.empty(0), np.empty(0), False)
        self._ready = np.zeros(len(owner))  # when the state of a part is there
        self._gate = np.zeros(most)  # before when a worker takes nothing
        self._in_order = True
        self._held = np.empty((2, 0))  # arrival and finish of what is done and waits for what came before it
        self.moving_until = 0.0

    # --- changes --------------------------------------------------------------------------------------

    def set_speed(self, speed: float, alternate: int, shed: float = 0.0) -> None:
        """`speed`: frequency over the highest one."""
        self.speed, self.alternate, self.shed = speed, alternate, shed

    def move(self, owner: np.ndarray, workers: int) -> int:
        """From now on these are the owners. Answers how many keys have to move."""
        moved = np.flatnonzero(owner != self.owner)
        old, new = self.owner[moved].astype(int), owner[moved].astype(int)
        keys = self.keys_of[moved].astype(float)
        self._gate[self.workers:workers] = self.now + self.costs.wake
        self.owner, self.workers = owner.astype(np.uint16), workers
        if keys.any():  # tasks without state of their own just go elsewhere
            self._hand_over(moved, old, new, keys)
        return int(keys.sum())

    def _hand_over(self, moved: np.ndarray, old: np.ndarray, new: np.ndarray, keys: np.ndarray) -> None:
        """The old owner first does what is in its queue, then takes the state of all moving parts out, a parcel for
        each new owner."""
        left = np.bincount(self._carried.worker, self._seconds(self._carried), self.most)
        out = np.bincount(old, keys, self.most) * self.costs.take_out
        handed = self.now + left + out  # by each old owner
        parcels, of_parcel = np.unique(old * self.most + new, return_inverse=True)
        sender, receiver = parcels // self.most, parcels % self.most
        put_in = np.bincount(of_parcel, keys) * self.costs.put_in
        last = np.zeros(self.most)
        np.maximum.at(last, receiver, handed[sender])  # when a receiver's last parcel is handed over
        if self.protocol == FLUENT:
            self._ready[moved] = handed[old]
        else:
            self._gate = np.maximum(self._gate, last)
        senders = np.flatnonzero(out)
        self._add(senders, np.full(len(senders), self.now), out[senders])
        self._add(receiver, handed[sender] if self.protocol == FLUENT else last[receiver], put_in)
        taken = np.maximum(last, self.now + left + out) + np.bincount(receiver, put_in, self.most)
        self.moving_until = float(taken[receiver].max())
        if self.protocol == S_BLK:
            self._gate = np.maximum(self._gate, self.moving_until)
        self._in_order = False

    def _add(self, worker: np.ndarray, entry: np.ndarray, seconds: np.ndarray) -> None:
        jobs = Jobs.of(worker, entry, entry, seconds, True)
        self._carried = Jobs.joined(self._carried, jobs)

    # --- time -----------------------------------------------------------------------------------------

    def advance(self, trace: Trace, end: float) -> Slice:
        """Goes on to `end` with the triggers of `trace`, which are those from now to then."""
        taken = trace if self.shed == 0 else _kept(trace, self.shed)
        parts = self.parts[taken.keys]
        worker = self.owner[parts]
        entry = taken.times
        if self._gate.max() > self.now or self._ready.max() > self.now:
            entry = np.maximum(np.maximum(entry, self._gate[worker]), self._ready[parts])
            self._in_order = False
        came = Jobs.of(worker, entry, taken.times, taken.work, False)
        jobs = self._sorted(Jobs.joined(self._carried, came))
        service = self._seconds(jobs)
        finish = _lindley(jobs.worker, np.maximum(jobs.entry, self.now), service)
        found = self._slice(trace, taken, parts, jobs, service, finish, end)
        self._carry(jobs, service, finish, end)
        self.now = end
        return found

    def _sorted(self, jobs: Jobs) -> Jobs:
        """By worker, and in a worker by entry; without a move the order of coming is that of entry."""
        if self._in_order:
            return jobs.only(np.argsort(jobs.worker, kind="stable"))
        return jobs.only(np.lexsort((jobs.entry, jobs.worker)))

    def _seconds(self, jobs: Jobs) -> np.ndarray:
        mean = self.costs.service[self.alternate] / self.speed
        return np.where(jobs.moves, jobs.work, jobs.work * mean)

    def _carry(self, jobs: Jobs, service: np.ndarray, finish: np.ndarray, end: float) -> None:
        """What is being served goes on with the rest of its work."""
        left = finish > end
        rest, begun = jobs.only(left), finish[left] - service[left] < end
        share = np.where(begun & (service[left] > 0), (finish[left] - end) / np.maximum(service[left], 1e-300), 1.0)
        self._carried = rest._replace(work=rest.work * share, begun=rest.begun | begun)
        self._in_order = not len(rest.entry) or float(rest.entry.max()) <= end

    def _handed_on(self, jobs: Jobs, finish: np.ndarray, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and latencies of the results that come out in the order of their triggers."""
        own = ~jobs.moves
        arrival, finish = np.concatenate((self._held, np.stack((jobs.arrival[own], finish[own]))), axis=1)
        order = np.argsort(arrival, kind="stable")
        arrival, finish = arrival[order], finish[order]
        out = np.maximum.accumulate(finish) if len(finish) else finish
        count = int(np.searchsorted(out, end, side="right"))
        waits = np.flatnonzero(finish[count:] <= end) + count
        self._held = np.stack((arrival[waits], finish[waits]))
        return out[:count], out[:count] - arrival[:count]

    def _slice(self, trace: Trace, taken: Trace, parts: np.ndarray, jobs: Jobs, service: np.ndarray, finish: np.ndarray,
               end: float) -> Slice:
        start = finish - service
        done = finish <= end
        results = done & ~jobs.moves
        begins = (start < end) & ~jobs.begun & ~jobs.moves
        times, latencies = self._handed_on(jobs, finish, end) if self.ordered else _as_done(jobs, finish, results)
        used = np.where(done, service, np.maximum(end - start, 0.0))
        waits = (start - jobs.arrival)[begins]
        full = waits > self.costs.queue * self.costs.service[self.alternate] / self.speed
        began = np.bincount(jobs.worker[begins], minlength=self.most)
        held = np.bincount(jobs.worker[begins], full, self.most) / np.maximum(began, 1)
        came = taken.work * (self.costs.service[self.alternate] / self.speed)
        return Slice(self.now, end, self.workers, taken.times, times, latencies + self.costs.overhead, waits,
                     service[begins],
                     shed=len(trace) - len(taken), backlog=int((~done & ~jobs.moves).sum()) + len(self._held[0]),
                     busy=np.bincount(jobs.worker, used, self.most),
                     loads=np.bincount(self.owner[parts], came, self.most), held=held,
                     weights=np.bincount(parts, came, len(self.owner)))


def _as_done(jobs: Jobs, finish: np.ndarray, results: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    times = finish[results]
    order = np.argsort(times, kind="stable")
    return times[order], (times - jobs.arrival[results])[order]


def _kept(trace: Trace, shed: float) -> Trace:
    kept = trace.chance >= shed
    return Trace(trace.times[kept], trace.keys[kept], trace.work[kept], trace.chance[kept])


def _lindley(worker: np.ndarray, entry: np.ndarray, service: np.ndarray) -> np.ndarray:
    """When each job is done, sorted by worker: the sum of the services up to it, from the start of the last idle time
    on.

    Each worker is lifted above the ones before it, so that one running maximum serves them all."""
    if not len(entry):
        return entry
    total = np.cumsum(service)
    slack = entry - (total - service)
    lift = worker * (float(slack.max() - slack.min()) + 1.0)
    return total + (np.maximum.accumulate(slack + lift) - lift)
