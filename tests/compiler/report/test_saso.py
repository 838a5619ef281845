"""The figures of a run against values worked out by hand."""

from __future__ import annotations

import math

from dfc.compiler.report.saso import Step, saso

GOAL = 0.01


def run_of(latencies: list[float], workers: list[float] | None = None, **more) -> list[Step]:
    degrees = workers or [1.0] * len(latencies)
    changed = [a != b for a, b in zip(degrees, degrees[1:], strict=False)] + [False]
    return [Step(time=float(i + 1), workers=w, latency=s, goal=GOAL, reconfigured=c, **more)
            for i, (s, w, c) in enumerate(zip(latencies, degrees, changed, strict=True))]


def test_nothing_measured_gives_no_figures():
    found = saso([])
    assert (found.steps, found.reconfigurations, found.violations, found.unsettled) == (0, 0, 0, False)
    assert math.isnan(found.workers) and math.isnan(found.amplitude) and math.isnan(found.violation_share)
    assert found.settling == 0


def test_a_quiet_run():
    found = saso(run_of([0.005] * 4, [2.0] * 4))
    assert (found.violations, found.reconfigurations, found.workers, found.amplitude) == (0, 0, 2.0, 0.0)
    assert found.settling == found.worst_settling == 0 and math.isnan(found.change_amplitude)


def test_changes_are_counted_and_measured():
    found = saso(run_of([0.005] * 5, [1.0, 4.0, 4.0, 2.0, 2.0]))
    assert found.reconfigurations == 2
    assert found.amplitude == (3 + 0 + 2 + 0) / 4 and found.change_amplitude == 2.5
    assert found.peak_workers == 4 and found.workers == 13 / 5


def test_frequency_counts_in_steps():
    steps = [Step(1.0, 1.0, frequency=1.2e9), Step(2.0, 4.0, frequency=1.6e9)]
    assert math.isclose(saso(steps).amplitude, 5.0)
    assert math.isclose(saso(steps, frequency_step=4e8).amplitude, math.hypot(3, 1))
    assert saso([Step(1.0, 1.0), Step(2.0, 4.0, frequency=1.6e9)]).amplitude == 3.0


def test_settling_is_from_the_first_miss_to_the_last_before_the_goal_is_kept():
    found = saso(run_of([0.005, 0.02, 0.03, 0.005, 0.02, 0.005, 0.005, 0.005, 0.005, 0.02, 0.005, 0.005, 0.005]))
    assert found.violations == 4
    assert found.worst_settling == 4.0, "a single good step between two bad ones is not the end"
    assert found.settling == (4.0 + 1.0) / 2 and not found.unsettled
    assert math.isclose(found.mean_excess, (2 + 3 + 2 + 2) / 4)


def test_a_run_that_ends_in_trouble_says_so():
    found = saso(run_of([0.005, 0.02, 0.02]))
    assert found.unsettled and found.settling == 2.0
    assert not saso(run_of([0.02, 0.005])).unsettled


def test_unknown_latency_and_no_goal_are_no_violations():
    assert saso([Step(1.0, 1.0, latency=5.0)]).violations == 0
    assert saso([Step(1.0, 1.0, goal=GOAL)]).violations == 0


def test_another_goal_than_latency():
    found = saso([Step(1.0, 1.0, latency=5.0, goal=GOAL, missed=False), Step(2.0, 1.0, missed=True)])
    assert found.violations == 1 and math.isnan(found.mean_excess) and found.settling == 1.0
