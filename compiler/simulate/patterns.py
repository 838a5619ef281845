"""The patterns, played tuple by tuple. Each play has the threads that its model has, and the same costs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...dsl import typed
from ..patterns import pane_farming, window_partitioning
from ..patterns.crowding import TUPLES, counting, handing, lost, parts_of, workers_of
from ..patterns.load import SECOND, Load, Machine
from .arrivals import Tuple, partition, tuples
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
    should still have about twenty. `parsing`: the work for each tuple in the thread that parses for the first one;
    `helps`: which takes a part of it where it would wait."""

    load: Load
    machine: Machine
    pattern: typed.Pattern
    shares: Sequence[float]
    count: int
    rate: float | None = None
    seed: int = 1
    before: float = 0.0
    after: float = 0.0
    grain: int = 1
    parsing: float = 0.0
    helps: bool = False


def play(scene: Scene) -> Played:
    """Runs the tuples through the pattern. When threads share cores, all of it takes as much longer, and what is lost
    while they wait for each other."""
    one, busy, end = _through(scene)
    threads = len(one.stations) + (1 if scene.pattern.name == "sequential" else 2) + (scene.parsing > 0)
    stretch = 1.0
    if end and threads > scene.machine.cores:
        stretch = max(1.0, busy / end / scene.machine.cores) + _lost(scene, busy) / end
    latencies = one.collector.latencies
    mean = sum(latencies) / len(latencies) if latencies else 0.0
    return Played(scene.count, len(latencies), scene.count / (end * stretch) * SECOND, mean * stretch,
                  busy / (end * stretch), threads)


def _lost(scene: Scene, busy: float) -> float:
    """Of all tuples, where threads share cores. What is parsed in blocks is handed over so seldom that it does not
    count."""
    _, counted, _ = _through(replace(scene, machine=counting(scene.machine)))
    parsed = scene.count if scene.parsing > 0 and not scene.helps else 0
    between, pattern = (counted - busy) / parts_of(scene.pattern), scene.pattern
    return (between * lost(scene.machine, handing(pattern), workers_of(pattern))
            + parsed * lost(scene.machine, TUPLES, 1))


def _through(scene: Scene) -> tuple[_Play, float, float]:
    """The play, how long all threads together worked, and when the last was done."""
    one = _PLAYS[scene.pattern.name](scene)
    rate = scene.rate and scene.rate / scene.grain
    for each in tuples(one.slide, scene.shares, scene.count // scene.grain, rate, scene.seed):
        one.take(each)
    one.collector.finish()
    end = max(one.collector.free, one.now)
    return one, one.emitter_busy + one.collector.busy + sum(station.busy for station in one.stations), end


class _Play:
    """The emitter, and what all patterns share."""

    def __init__(self, scene: Scene):
        self.scene, self.load, self.machine = scene, scene.load, scene.machine
        self.slide = max(1, round(scene.load.slide / scene.grain))
        self.sent = scene.machine.emit * scene.grain  # the emitter's work for what goes through as one tuple
        self.stored = scene.load.costs.tuple * scene.grain
        keeping = scene.load.keeping if scene.pattern.name == pane_farming.NAME else scene.load.keeping_whole
        self.put_away = keeping * scene.grain  # where the emitter keeps what the workers read
        self.kept = (scene.machine.take + scene.load.costs.tuple) * scene.grain  # a worker's
        self.workers = scene.pattern.workers or 1
        self.stations: list[Station] = []
        self.collector = (Collector if scene.load.ordered else FreeCollector)(scene.machine.collect + scene.after)
        self.now = self.emitter_busy = self.parsed = 0.0
        self.turn = 0

    def begin(self, each: Tuple, work: float) -> None:
        """The emitter reads a tuple, when it is parsed, and does its own part."""
        work += self.scene.before * self.scene.grain
        parsing = self.scene.parsing * self.scene.grain
        self.now, self.parsed = max(self.now, each.time), max(self.parsed, each.time) + parsing
        if self.parsed > self.now:
            self.now = self.parsed = (self.now + self.parsed) / 2 if self.scene.helps else self.parsed
        self.now += work
        self.emitter_busy += work + parsing

    def send(self, station: Station, work: float) -> float:
        """The emitter puts something into a station; it waits for room."""
        self.now = station.room(self.now)
        return station.put(self.now, work)

    def ends_window(self, each: Tuple) -> bool:
        return each.number % self.slide == 0

    def next_station(self) -> Station:
        """Round robin, or the one that is free first."""
        if self.scene.pattern.schedule == "on_demand":
            return min(self.stations, key=lambda station: station.free)
        self.turn = (self.turn + 1) % len(self.stations)
        return self.stations[self.turn]

    def take(self, each: Tuple) -> None:
        raise NotImplementedError


class _Sequential(_Play):
    def take(self, each: Tuple) -> None:
        ends = self.ends_window(each)
        self.begin(each, self.stored + (self.load.ending + self.scene.after if ends else 0.0))
        if ends:
            self.collector.latencies.append(self.now - each.time)


class _Farm(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = [Station(LINK) for _ in range(self.workers)]
        self.taken = 0

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        station = self.stations[self.taken // BLOCK % self.workers]
        self.taken += self.scene.grain
        self.collector.put(each.time, self.send(station, self.kept), self.collector.work * (self.scene.grain - 1))


class _KeyPartitioning(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = [Station(LINK) for _ in range(self.workers)]
        self.home = partition(scene.shares, self.workers, scene.machine.routing, scene.seed)

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        ends = self.ends_window(each)
        done = self.send(self.stations[self.home[each.key]], self.kept + (self.load.ending if ends else 0.0))
        if ends:
            self.collector.put(each.time, done)


class _WindowFarming(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = [Station(LINK) for _ in range(self.workers)]
        self.batch = scene.pattern.batch or 1
        self.agnostic = scene.pattern.style != "active"

    def take(self, each: Tuple) -> None:
        if self.agnostic:
            self._whole(each)
        else:
            self._active(each)

    def _whole(self, each: Tuple) -> None:
        ends = self.ends_window(each)
        self.begin(each, self.put_away + (self.machine.emit if ends else 0.0))
        if ends:
            self.collector.put(each.time, self.send(self.next_station(), self.machine.take + self.load.whole))

    def _active(self, each: Tuple) -> None:
        """All workers get all tuples; the key's windows belong to them in turn, in batches."""
        self.begin(each, self.workers * self.machine.emit * self.scene.grain)
        ends = self.ends_window(each)
        owner = (each.key + each.number // self.slide // self.batch) % self.workers
        for home, station in enumerate(self.stations):
            done = self.send(station, self.kept + (self.load.costs.window if ends and home == owner else 0.0))
            if ends and home == owner:
                self.collector.put(each.time, done)


class _PaneFarming(_Play):
    """Panes go to their workers when they are full. Pane workers are the first stations, merge workers the last."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        apart = pane_farming.merges_apart(scene.pattern)
        self.way = scene.pattern.merge if apart or scene.pattern.merge == "ring" else "collector"
        self.panes = [Station(LINK) for _ in range(self.workers)]
        self.merging = [Station(LINK) for _ in range(scene.pattern.merge_workers if apart else 0)]
        self.between = Station(LINK) if self.way == "farm" else None
        self.stations = [*self.panes, *self.merging, *([self.between] if self.between else [])]
        self.copies = round(pane_farming.copies(scene.load, scene.pattern))
        self.home = partition(scene.shares, len(self.merging) or 1, scene.machine.routing, scene.seed)
        self.panes_kept = max(1, round(scene.load.panes))
        self.cut = self.slide // 2 if scene.load.panes_a_slide > 1 else None
        self.done: dict[int, list[float]] = {}  # key → when its last panes were done
        self.passed_on = 0.0  # when the last pane was merged: in a ring
        self.put_off = {id(station): deque(maxlen=AHEAD) for station in self.panes}  # when panes were merged

    def next_pane_worker(self) -> Station:
        if self.scene.pattern.schedule == "on_demand":
            return min(self.panes, key=lambda station: station.free)
        self.turn = (self.turn + 1) % self.workers
        return self.panes[self.turn]

    def take(self, each: Tuple) -> None:
        place = each.number % self.slide
        ends_pane = place == 0 or place == self.cut
        self.begin(each, self.put_away + (self.machine.emit if ends_pane else 0.0))
        if ends_pane:
            worker = self.next_pane_worker()
            if self.way == "ring":
                self._merge_in_turn(each, self.send(worker, self.machine.take + self._pane_work()), worker, place == 0)
                return
            ready = self.done.setdefault(each.key, [])
            ready.append(self._passed_on(each, self.send(worker, self.machine.take + self._pane_work())))
            del ready[:-self.panes_kept]
            if place == 0:
                self._merge(each, max(ready))

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
        sent = self.copies if self.way == "shuffled" else 0 if self.way == "ring" else 1
        return self.load.pane + sent * self.machine.emit

    def _passed_on(self, each: Tuple, done: float) -> float:
        """A pane's result on its way to where it is merged."""
        if self.way == "collector":
            return self.collector.take(done, self.machine.collect)
        if self.between is not None:
            done = self.between.put(done, self.machine.collect + self.copies * self.machine.emit)
        takers = self.merging if self.copies > 1 else [self._owner(each)]
        return max(station.put(done, self.machine.take) for station in takers)

    def _owner(self, each: Tuple) -> Station:
        """Of the key; without keys, of the window."""
        at = each.number // self.slide if self.load.keys == 1 else self.home[each.key]
        return self.merging[at % len(self.merging)]

    def _merge(self, each: Tuple, ready: float) -> None:
        h = self.load.costs.merge
        if self.way == "collector":
            self.collector.put(each.time, ready, h - self.collector.work + self.scene.after)
        else:
            self.collector.put(each.time, self._owner(each).put(ready, h))


class _Teams(_Play):
    """Teams whose workers divide each window, which one thread reduces: window partitioning with one team, nesting with
    several, in turn or by key."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        nested = scene.pattern.name == "nesting"
        self.parts = (scene.pattern.inner_workers or 2) if nested else self.workers
        self.teams = [[Station(LINK) for _ in range(self.parts)] for _ in range(self.workers if nested else 1)]
        self.again = [Station(LINK) for _ in range(self.parts)] if scene.pattern.reduce == "synchronous" else []
        self.reducing = Station(LINK)
        self.stations = [*(station for team in self.teams for station in team), *self.again,
                         *([self.reducing] if self.again else [])]
        self.by_key = scene.pattern.outer == "key_partitioning"
        self.home = partition(scene.shares, len(self.teams), scene.machine.routing, scene.seed)
        self.part = self.machine.take + self.machine.emit + window_partitioning.part(scene.load, self.parts)
        self.reduce = window_partitioning.reduce_cost(scene.load, scene.machine, self.parts)

    def take(self, each: Tuple) -> None:
        ends = self.ends_window(each)
        self.begin(each, self.put_away + (self.parts * self.machine.emit if ends else 0.0))
        if ends:
            team = self._team(each)
            self.now = max([self.now, *(station.room(self.now) for station in team)])
            done = max(station.put(self.now, self.part) for station in team)
            if self.again:
                reduced = self.reducing.put(done, self.reduce + self.parts * self.machine.emit)
                done = max(station.put(reduced, self.part) for station in self.again)
            self.collector.put(each.time, done, self.reduce - self.machine.collect)

    def _team(self, each: Tuple) -> list[Station]:
        if self.by_key:
            return self.teams[self.home[each.key]]
        self.turn = (self.turn + 1) % len(self.teams)
        return self.teams[self.turn]


_PLAYS: dict[str, Callable[[Scene], _Play]] = {
    "sequential": _Sequential, "farm": _Farm, "key_partitioning": _KeyPartitioning, "window_farming": _WindowFarming,
    "pane_farming": _PaneFarming, "window_partitioning": _Teams, "nesting": _Teams}

__all__ = ["Played", "Scene", "play"]
