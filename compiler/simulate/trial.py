"""One run: operators under a workload, each with its controller, and the manager above them.

Every control step the controllers see what was measured and decide; what they want and may have is applied between two
steps, as in a running program.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..report.saso import Step, goal_missed
from .control_library import BALANCED, Controls, Decision, Goals, Limits, Options, Setting, Wish
from .decision_log import Log, Noted
from .measure import Measured, measure, quantile_of
from .plant import FLUENT, Costs, Plant, Slice
from .trace import Arrivals, Trace

SLOTS, HEAVY_KEYS = 1024, 64  # as the runtime has them
_HEAVY = 2.0  # times what a slot has on average
_HASH_SEED = 0x5107


@dataclass(frozen=True, slots=True)
class Operator:
    """An elastic operator as it is simulated. `start`: what is in force when the run begins. `parts`: "slots" as the
    runtime routes, or "keys", each on its own, as in the papers. `ordered`: results keep the order of their
    triggers. `dealt`: so many triggers in a row go to each worker in turn, whatever their keys; 0: keys have
    workers."""

    name: str
    arrivals: Arrivals
    costs: Costs
    limits: Limits
    goals: Goals
    start: Setting
    parts: str = "slots"
    ordered: bool = False
    dealt: int = 0
    alternates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """What is compared: a policy with its parameters and the control step in seconds. `goals` replaces those of the
    operators; `balancer` as in rebalance.h, `imbalance` is Flux's; without one, keys move only when the number of
    workers changes. `fixed_frequency` keeps the highest one."""

    name: str
    options: Options
    step: float = 1.0
    goals: Goals | None = None
    balancer: str | None = BALANCED
    imbalance: float = 0.1
    protocol: str = FLUENT
    fixed_frequency: bool = False


@dataclass(slots=True)
class Played:
    """One operator's run: a step for each slice of time, and what does not belong to a step."""

    steps: list[Step] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    backlogs: list[int] = field(default_factory=list)
    reasons: list[tuple[float, str]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # of the alternate in force
    arrivals: int = 0
    results: int = 0
    shed: int = 0
    moved_keys: int = 0
    rebalances: int = 0
    latency: float = math.nan
    latency_p95: float = math.nan
    fell_back: int = 0
    log: Log | None = None


class _Run:
    """One operator while it is simulated."""

    def __init__(self, operator: Operator, variant: Variant, trace: Trace, controls: Controls):
        self.variant, self.controls, self.dealt = variant, controls, operator.dealt
        self.trace = _in_turn(trace, operator.dealt) if operator.dealt else trace
        self.goals = variant.goals or operator.goals
        self.limits = _fixed(operator.limits) if variant.fixed_frequency else operator.limits
        self.now = operator.start._replace(frequency=len(self.limits.frequencies) - 1) if variant.fixed_frequency \
            else operator.start
        parts = np.arange(SLOTS) if operator.dealt else parts_of(operator.arrivals.keys, operator.parts)
        owner = np.arange(int(parts.max()) + 1) % self.now.workers
        self.plant = Plant(operator.costs, parts, owner, self.now.workers, self.limits.workers_most,
                           protocol=variant.protocol, ordered=operator.ordered)
        if operator.dealt:
            self.plant.keys_of = np.zeros(SLOTS, int)  # no state lies with a worker
        self._set_speed()
        self.weights = np.zeros(len(owner))
        self.controller = controls.controller(variant.options, self.limits, self.goals, self.now)
        self.alternates: list[float] = [math.nan] * len(self.limits.values)
        self.since_change = 2  # steps
        self.unevenness = controls.unevenness()
        self.played = Played(log=Log(variant.options.policy, variant.step, self.goals, self.limits,
                                     operator.alternates))
        self.decision: Decision | None = None
        self._latencies: list[np.ndarray] = []
        self._most_power = controls.power(operator.limits, operator.limits.workers_most,
                                           len(operator.limits.frequencies) - 1)

    def _set_speed(self) -> None:
        frequencies = self.limits.frequencies
        self.plant.set_speed(frequencies[self.now.frequency] / frequencies[-1], self.now.alternate, self.now.shed)

    def decide(self, slices: Sequence[Slice]) -> Decision:
        measured = measure(slices, self.goals.quantile)
        seen = measured.values["service"]
        self.alternates[self.now.alternate] = seen if seen == seen else self.alternates[self.now.alternate]
        measured.values |= {"power": self.power, "downstream": math.nan, "alternate_service": self.alternates,
                            "moved": self.since_change < 2, "alternate_selectivity": [1.0] * len(self.alternates)}
        self.weights = np.where(np.isnan(measured.weights), self.weights, measured.weights)
        self.measured: Measured = measured
        self.foretold = None if self.decision is None else self.decision.expected
        self.decision = self.controller.step(measured.values, self.limits, self.now)
        self.played.fell_back += self.controller.fell_back
        return self.decision

    @property
    def power(self) -> float:
        return self.controls.power(self.limits, self.now.workers, self.now.frequency)

    def apply(self, wanted: Setting, reason: str) -> bool:
        """What may change now: one move of state at a time, as the runtime has it. Answers whether anything did."""
        if self.plant.moving_until > self.plant.now:
            wanted = wanted._replace(workers=self.now.workers)
        before, self.now = self.now, wanted
        self._set_speed()
        moved = self._divide_anew(wanted.workers, wanted.workers == before.workers)
        self.since_change = 0 if moved or wanted != before else self.since_change + 1
        if wanted != before:
            self.played.reasons.append((self.plant.now, reason))
        self._log(before, moved and wanted.workers == before.workers, reason)
        return wanted != before

    def _log(self, before: Setting, rebalanced: bool, reason: str) -> None:
        made, controller = self.decision, self.controller
        values = self.measured.values
        throughput = self.controls.throughput(values["results"], values["arrivals"], before.shed)
        held = "" if self.now == made.setting else reason if reason != made.reason else "the last change is on its way"
        self.played.log.steps.append(Noted(
            self.plant.now, values, before, made.setting, self.now, rebalanced, made.forecast, self.foretold,
            made.expected, made.reason, held, controller.fell_back, throughput, controller.error))

    def _divide_anew(self, workers: int, same: bool) -> bool:
        """Between another number of workers, or the `same` one when it is time and worth the moves."""
        if same and (self.dealt or not self._uneven()):
            return False
        if self.dealt:
            self.plant.move(np.arange(SLOTS) % workers, workers)
            return True
        owner = self.controls.rebalance(self.variant.balancer or BALANCED, self.weights, self.plant.owner, workers,
                                        self.variant.imbalance)
        if same and not self.controls.rebalance_pays(self.weights, self.plant.owner, owner, workers):
            return False
        self.played.moved_keys += self.plant.move(owner, workers)
        self.played.rebalances += same
        return True

    def _uneven(self) -> bool:
        values = self.measured.values
        grain = values["service"] / values["step"]
        return (self.variant.balancer is not None
                and self.controls.rebalance_due(self.unevenness, self.measured.loads, grain, self.since_change < 2)
                and self.plant.moving_until <= self.plant.now)

    def note(self, one: Slice) -> None:
        """A slice of time becomes a step of the log."""
        quantile = self.goals.quantile
        latency = quantile_of(one.latencies, quantile) if quantile else \
            float(one.latencies.mean()) if len(one.latencies) else math.nan
        came = len(one.arrivals) + one.shed
        throughput = self.controls.throughput(len(one.done), came)
        missed = goal_missed(latency, self.goals.latency, throughput, self.goals.throughput)
        played = self.played
        played.steps.append(Step(one.end, self.now.workers, self.limits.frequencies[self.now.frequency],
                                 100 * self.power / self._most_power, latency, self.goals.latency, False, missed))
        played.rates.append(came / (one.end - one.start))
        played.backlogs.append(one.backlog)
        played.values.append(self.limits.values[self.now.alternate])
        played.arrivals += came
        played.results += len(one.done)
        played.shed += one.shed
        self._latencies.append(one.latencies)

    @property
    def backlog_seconds(self) -> float:
        """What waits, in seconds of what came on average."""
        return self.played.backlogs[-1] * self.plant.now / max(self.played.arrivals, 1)

    def finish(self) -> Played:
        latencies = np.concatenate(self._latencies)
        self.played.latency = float(latencies.mean()) if len(latencies) else math.nan
        self.played.latency_p95 = quantile_of(latencies, 0.95)
        return self.played


def play(operators: Sequence[Operator], variant: Variant, traces: Sequence[Trace], controls: Controls,
         cores: int, slice_seconds: float = 1.0, changes: tuple[float, float] = (1.0, 4.0),
         hopeless: float = math.inf) -> dict[str, Played]:
    """By the operators' names. `cores`: workers of all operators together; with one operator its limits alone hold.
    `changes`: how many the manager allows a step, and at once. `hopeless`: when what comes in so many seconds waits,
    the run ends early."""
    runs = [_Run(operator, variant, trace, controls) for operator, trace in zip(operators, traces, strict=True)]
    end = float(max(len(operator.arrivals.rates) for operator in operators))
    manager = controls.manager(cores, *changes) if len(runs) > 1 else None
    for number in range(math.ceil(end / variant.step)):
        begin = number * variant.step
        until = min(end, begin + variant.step)
        slices = [list(_slices(run, begin, until, slice_seconds)) for run in runs]
        for run, found in zip(runs, slices, strict=True):
            for one in found:
                run.note(one)
        decisions = [run.decide(found) for run, found in zip(runs, slices, strict=True)]
        settled = zip(runs, _settled(runs, decisions, manager, controls), strict=True)
        for run, (wanted, reason) in sorted(settled, key=lambda one: one[1][0].workers > one[0].now.workers):
            if manager is not None:  # cores are taken when somebody has given them up, and not before
                free = max(0, cores - sum(one.now.workers for one in runs))
                wanted = wanted._replace(workers=min(wanted.workers, run.now.workers + free))
            if run.apply(wanted, reason):
                run.played.steps[-1] = replace(run.played.steps[-1], reconfigured=True)
        if any(run.backlog_seconds > hopeless for run in runs):
            break
    return {operator.name: run.finish() for operator, run in zip(operators, runs, strict=True)}


def _slices(run: _Run, begin: float, until: float, length: float) -> Iterator[Slice]:
    count = max(1, round((until - begin) / length))
    for number in range(count):
        start, end = begin + (until - begin) * number / count, begin + (until - begin) * (number + 1) / count
        yield run.plant.advance(run.trace.between(start, end), end)


def _settled(runs: Sequence[_Run], decisions: Sequence[Decision], manager,
             controls: Controls) -> list[tuple[Setting, str]]:
    """What each may have. Need is the utilisation that the present setting would have."""
    if manager is None:
        return [(decision.setting, decision.reason) for decision in decisions]
    wishes = [Wish(run.now, decision.setting, run.limits.workers_least, _need(run)) for run, decision in
              zip(runs, decisions, strict=True)]
    controls.settle(manager, wishes)
    return [(wish.wanted if wish.granted else wish.now, wish.reason or decision.reason)
            for wish, decision in zip(wishes, decisions, strict=True)]


def _need(run: _Run) -> float:
    loads = run.measured.loads
    return float(loads.max()) if len(loads) else 0.0


def _in_turn(trace: Trace, dealt: int) -> Trace:
    """The worker follows from the number of the trigger."""
    return replace(trace, keys=(np.arange(len(trace)) // dealt % SLOTS).astype(np.uint32))


def _fixed(limits: Limits) -> Limits:
    return replace(limits, frequencies=limits.frequencies[-1:], voltages=limits.voltages[-1:])


def parts_of(keys: np.ndarray, how: str) -> np.ndarray:
    """Key → part: slots by hash, behind them a part for each of the heaviest keys; or a part for each key."""
    if how == "keys":
        return np.arange(len(keys))
    parts = np.random.default_rng(_HASH_SEED).integers(0, SLOTS, len(keys))
    heaviest = np.argsort(-keys, kind="stable")[:HEAVY_KEYS]
    heavy = heaviest[keys[heaviest] > _HEAVY / SLOTS]
    parts[heavy] = SLOTS + np.arange(len(heavy))
    return parts
