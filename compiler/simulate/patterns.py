"""The patterns, played tuple by tuple. Each play has the threads that its model has, and the same costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...dsl import typed
from ..patterns.load import SECOND, Load, Machine
from .arrivals import Tuple, partition, tuples
from .stations import Collector, Station

LINK = 16 * 512  # elements that fit into a link
BLOCK = 64  # tuples that a farm deals out together


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
    result in the one that takes them. `grain`: so many tuples go through as one, which is as much faster; a slide should
    still have about twenty."""

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


def play(scene: Scene) -> Played:
    """Runs the tuples through the pattern. When threads share cores, all of it takes as much longer."""
    one = _PLAYS[scene.pattern.name](scene)
    rate = scene.rate and scene.rate / scene.grain
    for each in tuples(one.slide, scene.shares, scene.count // scene.grain, rate, scene.seed):
        one.take(each)
    end = max(one.collector.finish(), one.now)
    busy = one.emitter_busy + one.collector.busy + sum(station.busy for station in one.stations)
    threads = len(one.stations) + 2 * (scene.pattern.name != "sequential") + (scene.pattern.name == "sequential")
    stretch = max(1.0, busy / end / scene.machine.cores) if end and threads > scene.machine.cores else 1.0
    latencies = one.collector.latencies
    mean = sum(latencies) / len(latencies) if latencies else 0.0
    return Played(scene.count, len(latencies), scene.count / (end * stretch) * SECOND, mean * stretch,
                  busy / (end * stretch), threads)


class _Play:
    """The emitter, and what all patterns share."""

    def __init__(self, scene: Scene):
        self.scene, self.load, self.machine = scene, scene.load, scene.machine
        self.slide = max(1, round(scene.load.slide / scene.grain))
        self.sent = scene.machine.emit * scene.grain  # the emitter's work for what goes through as one tuple
        self.stored = scene.load.costs.tuple * scene.grain
        self.kept = (scene.machine.take + scene.load.costs.tuple) * scene.grain  # a worker's
        self.workers = scene.pattern.workers or 1
        self.stations: list[Station] = []
        self.collector = Collector(scene.machine.collect + scene.after, scene.load.order == "total")
        self.now = self.emitter_busy = 0.0
        self.turn = 0

    def begin(self, each: Tuple, work: float) -> None:
        """The emitter reads a tuple and does its own part."""
        work += self.scene.before * self.scene.grain
        self.now = max(self.now, each.time) + work
        self.emitter_busy += work

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
        self.begin(each, self.stored + (self.load.costs.window + self.scene.after if ends else 0.0))
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
        done = self.send(self.stations[self.home[each.key]], self.kept + (self.load.costs.window if ends else 0.0))
        if ends:
            self.collector.put(each.time, done)


class _WindowFarming(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.stations = [Station(LINK) for _ in range(self.workers)]
        self.batch = scene.pattern.batch or 1
        self.agnostic = scene.pattern.style != "active"
        self.overlap = max(1, round(scene.load.window / scene.load.slide))

    def take(self, each: Tuple) -> None:
        if self.agnostic:
            self._whole(each)
        else:
            self._active(each)

    def _whole(self, each: Tuple) -> None:
        self.begin(each, self.load.keeping(self.machine) * self.scene.grain)
        if self.ends_window(each):
            self._emit(self.machine.emit)
            self.collector.put(each.time, self.send(self.next_station(), self.machine.take + self.load.whole))

    def _active(self, each: Tuple) -> None:
        """The key's windows go to the workers in turn, in batches; a tuple goes to all that have a window with it."""
        first = each.number // self.slide
        homes = {(each.key + (first + i) // self.batch) % self.workers for i in range(self.overlap)}
        self.begin(each, 0.0)
        self._emit(len(homes) * self.sent)
        ends = self.ends_window(each)
        owner = (each.key + first // self.batch) % self.workers
        for home in homes:
            window = self.load.costs.window if ends and home == owner else 0.0
            done = self.send(self.stations[home], self.kept + window)
            if ends and home == owner:
                self.collector.put(each.time, done)

    def _emit(self, work: float) -> None:
        self.now += work
        self.emitter_busy += work


class _PaneFarming(_Play):
    """Pane workers are the first stations, merge workers the last."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.way = scene.pattern.merge or "collector"
        merging = scene.pattern.merge_workers or 1 if self.way in ("farm", "shuffled") else 0
        self.panes = [Station(LINK) for _ in range(self.workers)]
        self.merging = [Station(LINK) for _ in range(merging)]
        self.between = Station(LINK) if self.way == "farm" else None
        self.stations = [*self.panes, *self.merging, *([self.between] if self.between else [])]
        self.panes_kept = max(1, round(scene.load.panes))
        self.cut = self.slide // 2 if scene.load.panes_a_slide > 1 else None
        self.at: dict[int, int] = {}  # key → the worker of its open pane
        self.done: dict[int, list[float]] = {}  # key → when its last panes were done
        self.merged = 0

    def take(self, each: Tuple) -> None:
        self.begin(each, self.sent)
        place = each.number % self.slide
        ends_pane = place == 0 or place == self.cut
        worker = self.at.get(each.key)
        if worker is None:
            self.turn = (self.turn + 1) % self.workers
            worker = self.at[each.key] = self.turn
        done = self.send(self.panes[worker], self.kept + (self._pane_work() if ends_pane else 0.0))
        if ends_pane:
            del self.at[each.key]
            ready = self.done.setdefault(each.key, [])
            ready.append(self._passed_on(done))
            del ready[:-self.panes_kept]
            if place == 0:
                self._merge(each, max(ready), worker)

    def _pane_work(self) -> float:
        copies = min(len(self.merging), self.panes_kept) if self.way == "shuffled" else 1
        return self.load.pane + max(1, copies) * self.machine.emit + (self.machine.take if self.way == "ring" else 0.0)

    def _passed_on(self, done: float) -> float:
        """A pane's result on its way to where it is merged."""
        if self.way == "collector":
            return self.collector.take(done, self.machine.collect)
        if self.between is not None:
            copies = max(1, min(len(self.merging), self.panes_kept))
            return self.between.put(done, self.machine.collect + copies * self.machine.emit)
        return done

    def _merge(self, each: Tuple, ready: float, worker: int) -> None:
        h = self.load.costs.merge
        if self.way == "collector":
            self.collector.put(each.time, ready, h - self.collector.work + self.scene.after)
        elif self.way == "ring":
            self.collector.put(each.time, self.panes[worker].put(ready, h))
        else:
            self.merged = (self.merged + 1) % len(self.merging)
            copies = max(1, min(len(self.merging), self.panes_kept)) * self.load.panes_a_slide
            taken = copies / len(self.merging) * self.machine.take
            self.collector.put(each.time, self.merging[self.merged].put(ready, taken * len(self.merging) + h))


class _Partitioned:
    """Workers that divide each window, and reduce: window partitioning itself, or a macro-worker of a nesting."""

    def __init__(self, load: Load, machine: Machine, workers: int, pattern: typed.Pattern):
        self.load, self.machine, self.pattern = load, machine, pattern
        self.stations = [Station(LINK) for _ in range(workers)]
        self.contiguous = not load.shares_panes if pattern.partition is None else pattern.partition == "contiguous"
        kept = load.shares_panes and not self.contiguous
        self.part = load.costs.merge if kept else load.mapped / workers
        self.reduce = workers * machine.collect + load.costs.merge * workers / max(load.panes, 1.0)

    def keeping(self, play: _Play) -> float:
        """What the feeding thread does for each tuple."""
        return self.load.keeping(self.machine) * play.scene.grain if self.contiguous else play.sent

    def keep(self, play: _Play, each: Tuple) -> None:
        if not self.contiguous:
            play.send(self.stations[each.number % len(self.stations)], play.kept)

    def compute(self, time: float) -> float:
        """When the last part is done."""
        return max(station.put(time, self.machine.take + self.part) for station in self.stations)


class _WindowPartitioning(_Play):
    def __init__(self, scene: Scene):
        super().__init__(scene)
        self.group = _Partitioned(scene.load, scene.machine, self.workers, scene.pattern)
        self.stations = self.group.stations

    def take(self, each: Tuple) -> None:
        ends = self.ends_window(each)
        self.begin(each, self.group.keeping(self) + (self.workers * self.machine.emit if ends else 0.0))
        self.group.keep(self, each)
        if ends:
            self.now = max([self.now, *(station.room(self.now) for station in self.stations)])
            done = self.group.compute(self.now)
            if self.scene.pattern.reduce == "synchronous":
                done = self.group.compute(self.collector.take(done, self.group.reduce))
            self.collector.put(each.time, done, self.group.reduce - self.machine.collect)


class _Nesting(_Play):
    """Macro-workers: each has a thread that feeds it, its workers, and a thread that reduces."""

    def __init__(self, scene: Scene):
        super().__init__(scene)
        inner = scene.pattern.inner_workers or 2
        self.groups = [_Partitioned(scene.load, scene.machine, inner, replace(scene.pattern, partition=None))
                       for _ in range(self.workers)]
        self.feeding = [Station(LINK) for _ in self.groups]
        self.reducing = [Station(LINK) for _ in self.groups]
        self.stations = [*self.feeding, *self.reducing, *(one for group in self.groups for one in group.stations)]
        self.home = partition(scene.shares, self.workers, scene.machine.routing, scene.seed)
        self.by_key = scene.pattern.outer == "key_partitioning"
        self.overlap = max(1, round(scene.load.window / scene.load.slide))

    def take(self, each: Tuple) -> None:
        first = each.number // self.slide
        owner = self.home[each.key] if self.by_key else (each.key + first) % self.workers
        homes = {owner} if self.by_key else {(each.key + first + i) % self.workers for i in range(self.overlap)}
        self.begin(each, len(homes) * self.sent)
        ends = self.ends_window(each)
        for home in homes:
            group = self.groups[home]
            inner = len(group.stations)
            work = group.keeping(self) + (inner * self.machine.emit if ends and home == owner else 0.0)
            fed = self.send(self.feeding[home], work)
            group.keep(self, each)
            if ends and home == owner:
                done = self.reducing[home].put(group.compute(fed), group.reduce)
                self.collector.put(each.time, done)


_PLAYS: dict[str, Callable[[Scene], _Play]] = {
    "sequential": _Sequential, "farm": _Farm, "key_partitioning": _KeyPartitioning, "window_farming": _WindowFarming,
    "pane_farming": _PaneFarming, "window_partitioning": _WindowPartitioning, "nesting": _Nesting}

__all__ = ["Played", "Scene", "play"]
