"""What a pattern's model takes and gives: the load of an operator, the machine, the prediction.

All costs are nanoseconds. A prediction is a list of stages with their work per input tuple: an operator is as fast as
its busiest thread, and all threads together have only the cores that there are. So the same stages add up to
the model of a whole program.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...dsl import typed

SECOND = 1e9


@dataclass(frozen=True, slots=True)
class Costs:
    """`tuple`: taking one into the store (a combinable function computes here). `keep`: putting one away for others to
    compute with, in panes (0: as much as `tuple`); `keep_whole`: in whole windows (0: as much as in panes). `pane`: G
    over a pane (0: it follows from the others). `window`: F at the end of a window (of a combinable function: merging
    its panes). `merge`: H over a window's panes. `whole`: F by a worker that gets a window's tuples (0: it follows from
    the others)."""

    tuple: float = 0.0
    pane: float = 0.0
    window: float = 0.0
    merge: float = 0.0
    keep: float = 0.0
    keep_whole: float = 0.0
    whole: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """An operator's work. Windows are in tuples of one key; a step without a window has window and slide of one.

    `shares_panes`: the store keeps a value a pane, so that neighbouring windows share the work. `computes_panes`: it
    computes each pane when that is complete, from its tuples, and windows share that.
    `rate`: tuples a second that must be taken (None: not known). `ca2`, `cs2`: squared coefficients of variation of
    the time between window ends, and of a window's computing time. `ordered`: results wait for those before them.
    `timed`: windows end by time, not after so many tuples.
    """

    costs: Costs
    window: float = 1.0
    slide: float = 1.0
    panes: float = 1.0
    panes_a_slide: float = 1.0
    shares_panes: bool = False
    keys: int = 1
    p_max: float = 1.0
    spread: float = 1.0  # the sum of the squares of the keys' shares
    rate: float | None = None
    ca2: float = 1.0
    cs2: float = 0.0
    tuple_bytes: float = 64.0
    partial_bytes: float = 32.0
    computes_panes: bool = False
    ordered: bool = True
    timed: bool = False

    @property
    def at_once(self) -> float:
        """Results that one tuple brings at once."""
        return max(1.0, 1 / self.slide)

    @property
    def ending(self) -> float:
        """What the thread that keeps the windows pays at the end of one."""
        return self.panes_a_slide * self._pane_alone + self.costs.merge if self.computes_panes else self.costs.window

    @property
    def pane(self) -> float:
        """G over the tuples of a pane, by a worker that gets it when it is full. Work does not vanish where windows
        share their panes also without a pattern: what was measured in other runs is no less than what is left then."""
        if not (self.shares_panes or self.computes_panes):
            return self._pane_alone
        left = self._left(self.keeping) - self.costs.merge
        return max(self._pane_alone, left / self.panes_a_slide)

    @property
    def _pane_alone(self) -> float:
        """As measured, or as it follows from the others."""
        if self.costs.pane:
            return self.costs.pane
        if self.shares_panes:
            return self.slide / self.panes_a_slide * self.costs.tuple
        return max(0.0, self.costs.window - self.costs.merge) / self.panes

    @property
    def mapped(self) -> float:
        """G over all tuples of a window: what can be divided among workers. Nothing is shared with its neighbours."""
        if self.costs.whole:
            return self.whole
        return max(self.panes * self._pane_alone, self._left(self.keeping_whole) - self.costs.merge)

    @property
    def whole(self) -> float:
        """F over the tuples of a window: what a worker pays that gets windows whole. Work does not vanish."""
        if self.costs.whole:
            return max(self.costs.whole, self._left(self.keeping_whole))
        if self.shares_panes:
            return self.mapped + self.costs.merge
        return max(self.costs.window, self._left(self.keeping_whole))

    def _left(self, keeping: float) -> float:
        """Of what one thread has to do for a result without a pattern, the part that putting tuples away is not."""
        return self.ending + self.slide * (self.costs.tuple - keeping)

    @property
    def keeping(self) -> float:
        """Putting a tuple away, once, where all workers find its pane."""
        return self.costs.keep or self.costs.tuple

    @property
    def keeping_whole(self) -> float:
        """The same for windows: more memory is in use at a time than for panes."""
        return self.costs.keep_whole or self.keeping

    @property
    def store_bytes(self) -> float:
        """The state of all keys, once."""
        return self.keys * self.panes * self.partial_bytes if self.shares_panes else self.kept_bytes

    @property
    def kept_bytes(self) -> float:
        """The tuples of all open windows, once."""
        return self.keys * self.window * self.tuple_bytes


@dataclass(frozen=True, slots=True)
class Machine:
    """Cores, and what passing things between threads costs: `emit` to route one element and put it into a link,
    `take` to get it out, `collect` to put a result in order and hand it on, `hop` until a waiting thread has it.
    `emit_shared`: the same as `emit` where who takes it may be on the same core, `emit_all`: where in addition all
    workers take it (None: nothing is known of that).
    `crowded`: what is lost where threads share cores, by what is handed over and the number of workers (crowding.py).
    `counted`: nanoseconds more for each thing that is handed over, however many take it: 1 tells how many there are.
    """

    cores: int = 1
    emit: float = 12.0
    take: float = 1.0
    collect: float = 3.0
    hop: float = 3000.0
    emit_shared: float | None = None
    emit_all: float | None = None
    link_bytes: float = 16 * 40 * 1024.0
    routing: str = "hash"  # how keys get to workers: by hash, or balanced by a table
    crowded: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    counted: float = 0.0

    def taking(self, readers: float = 1) -> float:
        """All that readers of one thing take together: of an element that goes to all, or of the parts of a window."""
        return readers * self.take + self.counted

    def collecting(self, parts: float = 1) -> float:
        """Of a result, or of all its parts."""
        return parts * self.collect + self.counted

    def sending(self, workers: int) -> float:
        """Of a tuple to one of so many workers. Another core must give up the lines that are written again, and the
        sender waits for them; workers that share its core have left them where they are."""
        return self.emit if workers < self.cores or self.emit_shared is None else self.emit_shared

    def sending_all(self, workers: int) -> float:
        """Of a tuple to each of so many workers: it is written once, but can be let go only when all have read it."""
        known = self.emit_all is not None and workers > 1 and workers >= self.cores
        return self.emit_all if known else self.sending(workers)


@dataclass(frozen=True, slots=True)
class Stage:
    """Threads that do the same. `work` is theirs together for one input tuple, `peak` the busiest one's."""

    name: str
    threads: int
    work: float
    peak: float


def balanced(name: str, threads: int, work: float) -> Stage:
    return Stage(name, threads, work, work / threads)


@dataclass(frozen=True, slots=True)
class Prediction:
    """service: time between two results at full speed. rate: tuples a second, at most (λ_max). latency: from the tuple
    that ends a window to its result, waiting included when a rate is known. replication: copies of a tuple."""

    pattern: typed.Pattern
    stages: tuple[Stage, ...]
    service: float
    rate: float
    latency: float
    memory: float
    replication: float
    limit: str = field(default="", compare=False)  # which stage is the bottleneck

    @property
    def threads(self) -> int:
        return sum(stage.threads for stage in self.stages)


def fastest(stages: tuple[Stage, ...], cores: int) -> tuple[float, str]:
    """Nanoseconds a tuple at full speed, and what limits it: a stage, or the cores all threads share."""
    busiest = max(stages, key=lambda stage: stage.peak)
    shared = sum(stage.work for stage in stages) / cores
    if shared > busiest.peak and sum(stage.threads for stage in stages) > cores:
        return shared, "cores"
    return busiest.peak, busiest.name


def predict(pattern: typed.Pattern, load: Load, machine: Machine, stages: tuple[Stage, ...], computing: float,
            queue: Queue, memory: float, replication: float = 1.0) -> Prediction:
    """`computing`: a window's time through the stages without waiting."""
    a_tuple, limit = fastest(stages, machine.cores)
    links = machine.link_bytes * max(0, sum(stage.threads for stage in stages) - 1)
    latency = computing + queue.waiting(load, a_tuple)
    return Prediction(pattern, stages, a_tuple * load.slide, SECOND / a_tuple if a_tuple > 0 else float("inf"), latency,
                      memory + links, replication, limit)


@dataclass(frozen=True, slots=True)
class Queue:
    """How results wait for workers. `serving`: how long one keeps its worker busy. `dealt`: among how many workers they
    are dealt in turn, which makes them come evenly (1: they come by chance). `rivals`: how many workers have queues of
    their own, `share`: of all work the part of the busiest one."""

    serving: float
    dealt: int = 1
    rivals: int = 1
    share: float = 0.0

    def waiting(self, load: Load, a_tuple: float) -> float:
        """Kingman's formula for a queue; a collector that restores the order lets a result wait for those before it in
        other queues. Results of one tuple wait for each other, and other tuples for all of them. Without a known rate
        nobody else waits."""
        together = max(0.0, load.at_once - self.dealt) / 2 * a_tuple * load.slide
        if load.rate is None or self.serving <= 0:
            return together
        busiest = load.rate * a_tuple / SECOND
        usual = busiest / (self.rivals * self.share) if self.share else busiest
        one = self._queue(load, busiest, a_tuple)
        if self.rivals == 1:
            return together + one
        mean = self._queue(load, usual, a_tuple)
        if not load.ordered:
            return together + (self.share * one + (1 - self.share) * mean if self.share else mean)
        return together + max(one, mean * (1 + IN_ORDER * math.log(self.rivals)))

    def _queue(self, load: Load, busy: float, a_tuple: float) -> float:
        """Of a worker, which gets its part of what one tuple brings at once. Where results are dealt that is all that
        one tuple is to the busiest thread; of fewer than there are workers, each gets one now and then."""
        if self.dealt == 1:
            return kingman(busy, load.ca2, load.cs2, self.serving * (1 + (load.at_once - 1) / self.rivals))
        serving = max(self.serving, a_tuple) if load.at_once > 1 else self.serving
        return kingman(busy, load.ca2 * min(1.0, load.at_once / self.dealt), load.cs2, serving)


# The last of n queues is later than the mean one by 1 + c·ln n; c is fitted to the simulation.
IN_ORDER = 0.57


def kingman(busy: float, ca2: float, cs2: float, serving: float) -> float:
    """ρ/(1-ρ)·(c_a²+c_s²)/2·T."""
    return math.inf if busy >= 1 else busy / (1 - busy) * (ca2 + cs2) / 2 * serving


def with_workers(name: str, workers: int, **settings) -> typed.Pattern:
    from ...dsl.span import NOWHERE

    return typed.Pattern(name, NOWHERE, workers=workers, **settings)


def filled(pattern: typed.Pattern, **defaults) -> typed.Pattern:
    """The pattern with what it leaves open filled in."""
    missing = {name: value for name, value in defaults.items() if getattr(pattern, name) is None}
    return replace(pattern, **missing)
