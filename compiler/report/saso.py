"""How well a controller did: stability, accuracy, settling time and overshoot of one operator over a run.

The four properties and their measures are those of 000 §2.3 and §5.3 and of 002 §7.2.3: reconfigurations, goal
violations, mean amplitude of the changes, mean workers and power. The papers judge settling by the amplitude alone;
here it is also timed: from the first step that misses the goal to the first of several that keep it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

NAN = math.nan
SETTLED_STEPS = 3  # so many steps in a row keep the goal: it is met again
FREQUENCY_STEP = 1e8  # hertz: the papers count frequencies in steps of 0.1 GHz


@dataclass(frozen=True)
class Step:
    """One operator during one control step, with what was in force while it was measured. NaN: not known."""

    time: float  # seconds: when the step ended
    workers: float
    frequency: float = NAN  # hertz
    power: float = NAN
    latency: float = NAN  # seconds, by the statistic that the goal names
    goal: float = NAN  # seconds
    reconfigured: int = 0  # changes in this step and at its end
    missed: bool | None = None  # whether the step missed a goal, where that is not just latency above `goal`

    @property
    def violation(self) -> bool:
        return self.latency > self.goal if self.missed is None else self.missed


@dataclass(frozen=True)
class Saso:
    """The figures of a run; NaN where nothing was measured."""

    steps: int
    reconfigurations: int  # stability
    violations: int  # accuracy: steps that missed the goal
    violation_share: float
    mean_excess: float  # of the steps that missed it: by what factor, 1 being at the goal
    workers: float  # overshoot: mean over the steps
    peak_workers: float
    frequency: float
    power: float
    amplitude: float  # mean distance between the settings of neighbouring steps, as in the papers
    change_amplitude: float  # the same over the steps that changed something
    settling: float  # mean seconds from missing the goal to keeping it for good
    worst_settling: float
    unsettled: bool  # the run ended before the goal was met again


def goal_missed(latency: float, latency_goal: float, throughput: float, throughput_goal: float) -> bool:
    """Either of them; NaN is no goal, or nothing that could miss one. Throughput as dfrt_throughput counts it."""
    return latency > latency_goal or throughput < throughput_goal


def saso(steps: Sequence[Step], frequency_step: float = FREQUENCY_STEP) -> Saso:
    """The figures of one operator's steps, in order of time."""
    moves = [_distance(before, after, frequency_step) for before, after in zip(steps, steps[1:], strict=False)]
    missed = [step for step in steps if step.violation]
    episodes = list(_episodes(steps))
    times = [end - begin for begin, end, _ in episodes]
    return Saso(
        steps=len(steps), reconfigurations=sum(step.reconfigured for step in steps), violations=len(missed),
        violation_share=len(missed) / len(steps) if steps else NAN,
        mean_excess=mean(step.latency / step.goal for step in missed if step.latency > step.goal > 0),
        workers=mean(step.workers for step in steps),
        peak_workers=max((step.workers for step in steps if not math.isnan(step.workers)), default=NAN),
        frequency=mean(step.frequency for step in steps), power=mean(step.power for step in steps),
        amplitude=mean(moves), change_amplitude=mean(move for move in moves if move > 0),
        settling=mean(times) if missed else 0.0, worst_settling=max(times, default=0.0),
        unsettled=bool(episodes) and not episodes[-1][2])


def mean(values: Iterable[float]) -> float:
    """Of the values that are known; NaN when none is."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else NAN


def _distance(before: Step, after: Step, frequency_step: float) -> float:
    """Between two settings: workers, and the frequency in its steps. A frequency that is not known does not count."""
    hertz = after.frequency - before.frequency
    return math.hypot(after.workers - before.workers, 0.0 if math.isnan(hertz) else hertz / frequency_step)


def _episodes(steps: Sequence[Step]) -> Iterator[tuple[float, float, bool]]:
    """From the beginning of a step that misses the goal to that of the first of SETTLED_STEPS that keep it, and whether
    there was such an end."""
    begin, end, kept = None, NAN, 0
    for number, step in enumerate(steps):
        if step.violation:
            begin = _begin(steps, number) if begin is None else begin
            end, kept = step.time, 0
        elif begin is not None:
            kept += 1
            if kept == SETTLED_STEPS:
                yield begin, end, True
                begin = None
    if begin is not None:
        yield begin, end, kept > 0


def _begin(steps: Sequence[Step], number: int) -> float:
    """When a step began: where the one before it ended. The first one is taken to be as long as the second."""
    if number > 0:
        return steps[number - 1].time
    return 2 * steps[0].time - steps[1].time if len(steps) > 1 else 0.0
