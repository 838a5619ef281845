"""The patterns, played tuple by tuple. Each play has the threads that its model has, and the same costs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...dsl import typed
from ..patterns import pane_farming, window_farming, window_partitioning
from ..patterns.crowding import TUPLES, counting, handing, lost, workers_of
from ..patterns.load import SECOND, Load, Machine
from .arrivals import End, Tuple, partition, tuples
from .stations import Collector, FreeCollector, Station

LINK = 16 * 512  # elements that fit into a link
BLOCK = 64  # tuples that a farm deals out together
AHEAD = 32  # panes of a worker in a ring that may wait for their turn


@dataclass(frozen=True, slots=True)
class Played:
    """rate: tuples a second from the first to the last result. latency: mean time from the tuple that ends a window to
    its result. busy: part of the time that all threads together worked, in threads."""

    tuples: int
    results: int
    rate: float
    latency: float
    busy: float
    threads: int


@dataclass(frozen=True, slots=True)
class Scene:
    """What a play is about. `before` is the work for each tuple in the thread that feeds the pattern, `after` for each
    result in the one that takes them. `grain`: so many tuples go through as one, which is as much faster; a slide
    should still have about twenty. Where one tuple ends thousands of windows it is a part of a tuple. `parsing`: the
    work for each tuple in the thread that parses for the first one; `helps`: which takes a part of it where it would
    wait. `apart`: a step that is not divided, and what is behind it, have a thread beside the one that reads."""

    load: Load
    machine: Machine
    pattern: typed.Pattern
    shares: Sequence[float]
    count: int
    rate: float | None = None
    seed: int = 1
    before: float = 0.0
    after: float = 0.0
    grain: float = 1
    parsing: float = 0.0
    helps: bool = False
    apart: bool = False


def play(scene: Scene) -> Played:
    """Runs the tuples through the pattern. When threads share cores, all of it takes as much longer, and what is lost
    while they wait for each other."""
    one, busy, end = _through(scene)
    threads = len(one.stations) + (1 if scene.pattern.name == "sequential" else 2) + (scene.parsing > 0)
    stretch = 1.0
    if end and threads > scene.machine.cores:
        stretch = max(1.0, busy / end / scene.machine.cores) + _lost(scene, busy, threads) / end
    latencies = one.collector.latencies
    mean = sum(latencies) / len(latencies) if latencies else 0.0
    return Played(scene.count, len(latencies), scene.count / (end * stretch) * SECOND, mean * stretch,
                  busy / (end * stretch), threads)


def _lost(scene: Scene, busy: float, threads: int) -> float:
    """Of all tuples, where so many threads share the cores. What is parsed in blocks is handed over so seldom that it
    does not count."""
    _, counted, _ = _through(replace(scene, machine=counting(scene.machine)))
    parsed = scene.count if scene.parsing > 0 and not scene.helps else 0
    pattern = scene.pattern
    return ((counted - busy) * lost(scene.machine, handing(pattern), workers_of(pattern), threads)
            + parsed * lost(scene.machine, TUPLES, 1, threads))


def _through(scene: Scene) -> tuple[_Play, float, float]:
    """The play, how long all threads together worked, and when the last was done."""
    one = _Apart(scene) if scene.apart else _PLAYS[scene.pattern.name](scene)
    rate = scene.rate and scene.rate / scene.grain
    slide, count = scene.load.slide / scene.grain, round(scene.count / scene.grain)
    for each in tuples(slide, one.cuts, scene.shares, count, rate, scene.seed):
        one.take(each)
    one.collector.finish()
    end = max(one.collector.free, one.now, *(station.free for station in one.stations))
    return one, one.emitter_busy + one.collector.busy + sum(station.busy for station in one.stations), end


class _Play:
    """The emitter, and what all patterns share."""

    cuts = 1  # the panes of a slide, where each is handed out when it ends

    def __init__(self, scene: Scene):
        self.scene, self.load, self.machine = scene, scene.load, scene.machine
        self.stored = scene.load.costs.tuple * scene.grain
        keeping = scene.load.keeping if scene.pattern.name == pane_farming.NAME else scene.load.keeping_whole
        self.put_away = keeping * scene.grain  # where the emitter keeps what the workers read
        self.kept = (scene.machine.taking() + scene.load.costs.tuple) * scene.grain  # a worker's
        self.workers, self.batch = scene.pattern.workers or 1, scene.pattern.batch or 1
        self.sent = scene.machine.sending(self.workers) * scene.grain  # the emitter's work for what goes through as one
        self.hop = scene.machine.hop if scene.rate else 0.0  # at full speed nobody waits for what comes next
        self.stations: list[Station] = []
        collector = Collector if scene.load.ordered else FreeCollector
        self.collector = collector(scene.machine.collecting() + scene.after, self.hop)
        self.now = self.emitter_busy = self.parsed = 0.0
        self.handed = 0
        self.chosen: Station | None = None

    def threads(self, count: int) -> list[Station]:
        return [Station(LINK, self.hop) for _ in range(count)]

    def begin(self, each: Tuple, work: float) -> None:
        """The emitter reads a tuple, when it is parsed, and does its own part."""
        parsing = self.scene.parsing * self.scene.grain
        self.now, self.parsed = max(self.now, each.time), max(self.parsed, each.time) + parsing
        if self.parsed > self.now:
            self.now = self.parsed = (self.now + self.parsed) / 2 if self.scene.helps else self.parsed
        self.emitter_busy += parsing
        self.emit(work + self.scene.before * self.scene.grain)

    def emit(self, work: float) -> None:
        self.now += work
        self.emitter_busy += work

    def send(self, station: Station, work: float) -> float:
        """The emitter puts something into a station; it waits for room."""
        self.now = station.room(self.now)
        return station.put(self.now, work)

    def dealt(self, stations: Sequence[Station]) -> Station:
        """Who gets what is handed out next, whatever its key: all in turn, or the one that is free first; a batch goes
        to one."""
        if self.handed % self.batch == 0:
            self.chosen = min(stations, key=lambda station: station.free) \
                if self.scene.pattern.schedule == "on_demand" else stations[self.handed // self.batch % len(stations)]
        self.handed += 1
        return self.chosen

    def take(self, each: Tuple) -> None:
        raise NotImplementedError


class _Sequential(_Play):
    def take(self, each: Tuple) -> None:
        self.begin(each, self.stored)
        for _ in each.ends:
            self.emit(self.load.ending + self.scene.after)
            self.collector.latencies.append(self.now - each.time)


class _Apart(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = self.threads(1)

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        behind = self.stations[0]
        self.send(behind, self.kept)
        for _ in each.ends:
            done = behind.do(self.now, self.load.ending + self.scene.after)
            self.collector.latencies.append(done - each.time)


class _Farm(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = self.threads(self.workers)
        self.taken = 0

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        station = self.stations[self.taken // BLOCK % self.workers]
        self.taken += self.scene.grain
        self.collector.put(each.time, self.send(station, self.kept), self.collector.work * (self.scene.grain - 1))


class _KeyPartitioning(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = self.threads(self.workers)
        self.home = partition(scene.shares, self.workers, scene.machine.routing, scene.seed)

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        self.send(self.stations[self.home[each.key]], self.kept)
        for end in each.ends:
            self.collector.put(each.time, self.send(self.stations[self.home[end.key]], self.load.ending))


class _WindowFarming(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = self.threads(self.workers)
        self.agnostic = scene.pattern.style != "active"
        self.by_key = window_farming.turns_by_key(scene.load)

    def take(self, each: Tuple) -> None:
        if self.agnostic:
            self._whole(each)
        else:
            self._active(each)

    def _whole(self, each: Tuple) -> None:
        self.begin(each, self.put_away)
        for _ in each.ends:
            self.emit(self.machine.emit)
            done = self.send(self.dealt(self.stations), self.machine.taking() + self.load.whole)
            self.collector.put(each.time, done)

    def _active(self, each: Tuple) -> None:
        """All workers read all tuples, which are sent once."""
        self.begin(each, self.machine.sending_all(self.workers) * self.scene.grain)
        taking = self.machine.taking(self.workers) / self.workers
        for station in self.stations:
            self.send(station, (taking + self.load.costs.tuple) * self.scene.grain)
        for end in each.ends:
            self.collector.put(each.time, self.send(self._owner(end), self.load.costs.window))

    def _owner(self, end: End) -> Station:
        """Who computes a window: all in turn, in batches; or those of each key in turn."""
        if self.by_key:
            return self.stations[(end.key + end.window // self.batch) % self.workers]
        return self.dealt(self.stations)


class _PaneFarming(_Play):
    """Panes go to their workers when they are full. Pane workers are the first stations, merge workers the last."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        apart = pane_farming.merges_apart(scene.pattern)
        self.way = scene.pattern.merge if apart or scene.pattern.merge == "ring" else "collector"
        self.panes = self.threads(self.workers)
        self.merging = self.threads(scene.pattern.merge_workers if apart else 0)
        between = self.threads(1 if self.way == "farm" else 0)
        self.between = between[0] if between else None
        self.stations = [*self.panes, *self.merging, *between]
        self.copies = round(pane_farming.copies(scene.load, scene.pattern))
        self.home = partition(scene.shares, len(self.merging) or 1, scene.machine.routing, scene.seed)
        self.panes_kept = max(1, round(scene.load.panes))
        self.cuts = round(scene.load.panes_a_slide)
        self.done: dict[int, list[list[float]]] = {}  # key → when each who merges had its last panes
        self.passed_on = 0.0  # when the last pane was merged: in a ring
        self.put_off = {id(station): deque(maxlen=AHEAD) for station in self.panes}  # when panes were merged

    def take(self, each: Tuple) -> None:
        self.begin(each, self.put_away)
        for end in each.ends:
            self.emit(self.machine.emit)
            worker = self.dealt(self.panes)
            done = self.send(worker, self.machine.taking() + self._pane_work())
            if self.way == "ring":
                self._merge_in_turn(each, done, worker, end.whole)
            else:
                self._merge_when_ready(each, end, done)

    def _merge_when_ready(self, each: Tuple, end: End, done: float) -> None:
        ready = self.done.setdefault(end.key, [])
        ready.append(self._passed_on(end, done))
        del ready[:-self.panes_kept]
        if end.whole:
            self._merge(each, end, ready)

    def _merge_in_turn(self, each: Tuple, done: float, worker: Station, ends: bool) -> None:
        """Workers merge in the order of panes. Whose turn has not come goes on, until too much is put off."""
        work = self.machine.emit + (self.load.costs.merge + self.machine.emit if ends else 0.0)
        self.passed_on = max(self.passed_on, done) + work
        put_off = self.put_off[id(worker)]
        worker.add(work, until=put_off[0] if len(put_off) == AHEAD else 0.0)
        put_off.append(self.passed_on)
        if ends:
            self.collector.put(each.time, self.passed_on)

    def _pane_work(self) -> float:
        return self.load.pane + (0.0 if self.way == "ring" else self.machine.emit)

    def _passed_on(self, end: End, done: float) -> list[float]:
        """A pane's result on its way to where it is merged: when it is there."""
        if self.way == "collector":
            return [self.collector.take(done, self.machine.collecting())]
        if self.between is not None:
            done = self.between.put(done, self.machine.collecting() + self.machine.emit)
        takers = self.merging if self.copies > 1 else [self.merging[self._owner(end)]]
        return [station.put(done, self.machine.taking(self.copies) / self.copies) for station in takers]

    def _owner(self, end: End) -> int:
        """Of the key; without keys, of the window."""
        return end.window % len(self.merging) if self.load.keys == 1 else self.home[end.key]

    def _merge(self, each: Tuple, end: End, panes: list[list[float]]) -> None:
        owner = self._owner(end) if self.merging else 0
        ready = max(times[owner if self.copies > 1 else 0] for times in panes)
        if self.way == "collector":
            self.collector.make(each.time, ready, self.load.costs.merge + self.scene.after)
        else:
            self.collector.put(each.time, self.merging[owner].do(ready, self.load.costs.merge))


class _Teams(_Play):
    """Teams whose workers divide each window, which one thread reduces: window partitioning with one team, nesting with
    several, in turn or by key."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        nested = scene.pattern.name == "nesting"
        self.parts = (scene.pattern.inner_workers or 2) if nested else self.workers
        self.teams = [self.threads(self.parts) for _ in range(self.workers if nested else 1)]
        self.again = self.threads(self.parts if scene.pattern.reduce == "synchronous" else 0)
        self.reducing = self.threads(1 if self.again else 0)
        self.stations = [*(station for team in self.teams for station in team), *self.again, *self.reducing]
        self.by_key = scene.pattern.outer == "key_partitioning"
        self.home = partition(scene.shares, len(self.teams), scene.machine.routing, scene.seed)
        taking = self.machine.taking(self.parts) / self.parts
        self.part = taking + self.machine.emit + window_partitioning.part(scene.load, self.parts)
        self.reduce = window_partitioning.reduce_cost(scene.load, scene.machine, self.parts)

    def take(self, each: Tuple) -> None:
        self.begin(each, self.put_away)
        for end in each.ends:
            self.emit(self.parts * self.machine.emit)
            team = self._team(end)
            self.now = max([self.now, *(station.room(self.now) for station in team)])
            done = max(station.put(self.now, self.part) for station in team)
            if self.again:
                reduced = self.reducing[0].put(done, self.reduce + self.parts * self.machine.emit)
                done = max(station.put(reduced, self.part) for station in self.again)
            self.collector.put(each.time, done, self.reduce - self.machine.collecting())

    def _team(self, end: End) -> list[Station]:
        """Of the key, or all in turn."""
        self.handed += 1
        return self.teams[self.home[end.key] if self.by_key else self.handed % len(self.teams)]


_PLAYS: dict[str, Callable[[Scene], _Play]] = {
    "sequential": _Sequential, "farm": _Farm, "key_partitioning": _KeyPartitioning, "window_farming": _WindowFarming,
    "pane_farming": _PaneFarming, "window_partitioning": _Teams, "nesting": _Teams}

__all__ = ["Played", "Scene", "play"]
