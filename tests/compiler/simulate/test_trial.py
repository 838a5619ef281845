"""Whole runs with the controllers: nothing is lost, the same seed gives the same run, limits hold, goals are worked
for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from dfc.compiler.simulate.control_library import Goals, Limits, Options, Setting, open_controls
from dfc.compiler.simulate.experiment import Experiment, Interval, run_experiment
from dfc.compiler.simulate.measure import measure, quantile_of
from dfc.compiler.simulate.plant import PROTOCOLS, Costs, Plant
from dfc.compiler.simulate.trace import Arrivals, make_trace
from dfc.compiler.simulate.trial import SLOTS, Operator, Variant, parts_of, play

POLICIES = ("mpc", "rule", "threshold", "spl", "rl", "static", "alternates", "auto")
FREQUENCIES = (1e9, 1.5e9, 2e9)
LIMITS = Limits(6, 1, FREQUENCIES, (0.85, 0.9, 1.0), 3.0)
KEYS = np.arange(1, 301, dtype=float) ** -0.7
KEYS /= KEYS.sum()
# Quiet, a step up, a stretch without any tuple, and a load that nobody can carry.
RATES = [800.0] * 6 + [2500.0] * 8 + [0.0] * 3 + [9000.0] * 3 + [1000.0] * 6


def operator(rates=RATES, name="op", **more):
    return Operator(name, Arrivals(rates, KEYS, 1, 0.3), Costs((1e-3,)), LIMITS, Goals(latency=5e-3), Setting(2, 2),
                    **more)


def one_run(variant, subject=None, seed=1):
    subject = subject or operator()
    return play([subject], variant, [make_trace(subject.arrivals, seed)], open_controls(), 6)[subject.name]


@pytest.mark.parametrize("policy", POLICIES)
def test_nothing_is_lost_and_limits_hold(policy):
    played = one_run(Variant(policy, Options(policy)))
    assert len(played.steps) == len(RATES)
    assert played.arrivals == played.results + played.shed + played.backlogs[-1]
    assert played.shed == 0
    for step in played.steps:
        assert 1 <= step.workers <= 6 and step.frequency in FREQUENCIES and 0 < step.power <= 100


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("balancer", ["balanced", "flux", None])
def test_nothing_is_lost_whatever_moves(protocol, balancer):
    played = one_run(Variant("x", Options("rule"), balancer=balancer, protocol=protocol))
    assert played.moved_keys > 0
    assert played.arrivals == played.results + played.backlogs[-1]


def test_the_step_up_is_answered():
    """Twice what two workers carry: a controller gets there, a fixed degree of two would not."""
    for policy in ("mpc", "rule", "threshold"):
        steps = one_run(Variant(policy, Options(policy))).steps
        assert max(step.workers * step.frequency for step in steps[6:14]) >= 3 * 2e9, policy


@pytest.mark.parametrize("overhead", [3e-3, 9e-3])
def test_what_no_setting_changes_costs_neither_trust_nor_workers(overhead):
    """The goal is 5 ms: with 3 ms of overhead it is kept, with 9 ms it can't be and nothing is done for it."""
    rates = [800.0] * 15 + [2000.0] * 15 + [800.0] * 15
    plain = one_run(Variant("mpc", Options("mpc"), fixed_frequency=True), operator(rates))
    subject = replace(operator(rates), costs=Costs((1e-3,), overhead=overhead))
    late = one_run(Variant("mpc", Options("mpc"), fixed_frequency=True), subject)
    workers, more = (sum(step.workers for step in one.steps) / len(one.steps) for one in (plain, late))
    assert late.fell_back <= 5 and more <= workers + 1.5, (late.fell_back, workers, more)
    if overhead < 5e-3:
        assert sum(step.violation for step in late.steps) <= sum(step.violation for step in plain.steps) + 3
    else:
        assert any("no setting meets the goal" in reason for _, reason in late.reasons)


@pytest.mark.parametrize("policy", ["mpc", "rule", "alternates", "auto"])
def test_after_an_overload_the_better_alternate_comes_back_and_stays(policy):
    """One worker at half load, at one and a half, and at half again."""
    subject = Operator("op", Arrivals([420.0] * 20 + [1250.0] * 8 + [420.0] * 60, KEYS, 1, 0.3), Costs((1.2e-3, 4e-4)),
                       Limits(1, values=(1.0, 0.6), costs=(math.nan, math.nan)), Goals(latency=7e-3), Setting(1, 0))
    for seed in range(3):
        noted = one_run(Variant(policy, Options(policy)), subject, seed).log.steps
        taken = [step.after.alternate for step in noted]
        assert 1 in taken[20:30] and set(taken[60:]) == {0}, (seed, taken)


def test_shedding_leaves_what_the_goal_of_throughput_asks_for():
    """Nobody can carry the load: as much is shed as is allowed, what is shed counts as missing, in the log too."""
    subject = replace(operator([9000.0] * 12), limits=replace(LIMITS, shed_most=0.5))
    for goal, most in ((math.nan, 0.5), (0.9, 0.1)):
        played = one_run(Variant("mpc", Options("mpc"), goals=Goals(latency=5e-3, throughput=goal)), subject)
        assert max(one.after.shed for one in played.log.steps) == pytest.approx(most)
    last = played.log.steps[-1]
    assert last.before.shed == pytest.approx(0.1)
    assert last.throughput == pytest.approx(0.9 * last.measured["results"] / last.measured["arrivals"])


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    first, again, other = (one_run(Variant("mpc", Options("mpc")), seed=seed) for seed in (3, 3, 4))
    assert first.steps == again.steps and first.reasons == again.reasons
    assert first.steps != other.steps


def test_the_number_of_processes_changes_nothing():
    variants = (Variant("mpc", Options("mpc")), Variant("static", Options("static")))
    experiment = Experiment((operator(RATES[:10]),), variants, 6)
    told = []
    alone = run_experiment(experiment, 3, jobs=1, tell=lambda done, of: told.append((done, of)))
    many = run_experiment(experiment, 3, jobs=2)
    assert [repr(one.figures) for one in alone] == [repr(one.figures) for one in many]
    assert [one.first.steps for one in alone] == [one.first.steps for one in many]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_longer_control_step_is_logged_by_the_second():
    played = one_run(Variant("rule", Options("rule"), step=4.0))
    assert len(played.steps) == len(RATES)
    changed = [number for number, step in enumerate(played.steps, 1) if step.reconfigured]
    assert changed and all(number % 4 == 0 or number == len(RATES) for number in changed)


def test_a_fixed_frequency_stays_the_highest():
    played = one_run(Variant("mpc", Options("mpc", {"strategy": "lat_power"}), fixed_frequency=True))
    assert {step.frequency for step in played.steps} == {2e9}


def test_operators_share_the_cores():
    """Both want more than there is; together they never have more."""
    operators = [operator([2600.0] * 12, "first"), operator([2600.0] * 12, "second")]
    traces = [make_trace(one.arrivals, seed) for seed, one in enumerate(operators)]
    played = play(operators, Variant("threshold", Options("threshold")), traces, open_controls(), 5)
    first, second = ([step.workers for step in one.steps] for one in played.values())
    together = [one + other for one, other in zip(first, second, strict=True)]
    assert max(together) <= 5 and together[-1] == 5


def test_cores_go_over_with_one_change_at_a_time():
    """Both want more than there is, and the needy one begins with the least."""
    operators = [replace(operator([4000.0] * 15, "needy"), start=Setting(1, 2)),
                 replace(operator([2600.0] * 15, "donor"), start=Setting(4, 2))]
    traces = [make_trace(one.arrivals, seed) for seed, one in enumerate(operators)]
    played = play(operators, Variant("threshold", Options("threshold")), traces, open_controls(), 5, changes=(1.0, 1.0))
    needy, donor = ([step.workers for step in one.steps] for one in played.values())
    assert needy[-1] >= 3 and all(one + other <= 5 for one, other in zip(needy, donor, strict=True))


def test_a_load_that_no_worker_gets_is_no_reason_to_fall_over():
    played = one_run(Variant("mpc", Options("mpc")), operator([0.0] * 5))
    assert played.arrivals == played.results == 0 and math.isnan(played.latency)
    assert {step.workers for step in played.steps} <= set(range(1, 7))


def test_a_key_on_its_own_when_it_is_heavy():
    keys = np.array([0.3] + [0.7 / 5000] * 5000)
    parts = parts_of(keys, "slots")
    assert parts[0] == SLOTS and (parts[1:] < SLOTS).all()
    assert (parts_of(keys, "keys") == np.arange(5001)).all()


# --- what a controller sees ---------------------------------------------------------------------------


def test_measurements_of_a_step():
    trace = make_trace(Arrivals([1500.0] * 20, KEYS, 1, 0.5), 8)
    plant = Plant(Costs((1e-3,)), np.arange(300), np.arange(300) % 3, 3, 4)
    slices = [plant.advance(trace.between(second, second + 1), second + 1.0) for second in range(20)]
    found = measure(slices, 0.95).values
    assert found["step"] == 20 and found["arrivals"] == len(trace)
    assert found["interarrival"] == pytest.approx(1 / 1500, rel=0.02)
    assert found["interarrival_sd"] == pytest.approx(1 / 1500, rel=0.05)
    assert found["service"] == pytest.approx(1e-3, rel=0.02)
    assert found["service_sd"] == pytest.approx(0.5e-3, rel=0.05)
    assert found["busy"] == pytest.approx(0.5, rel=0.03)
    assert found["latency"] == pytest.approx(found["waiting"] + found["service"], rel=0.01)
    assert found["latency_quantile"] > found["latency"]
    assert found["imbalance"] >= 1 and found["blocked"] == 0


def test_an_empty_step_is_unknown_and_not_zero():
    plant = Plant(Costs((1e-3,)), np.zeros(1, int), np.zeros(1, int), 1, 1)
    found = measure([plant.advance(make_trace(Arrivals([0.0], np.ones(1)), 1), 1.0)], 0.0).values
    for name in ("interarrival", "service", "waiting", "latency", "imbalance", "result_spacing_cv"):
        assert math.isnan(found[name]), name
    assert found["arrivals"] == found["results"] == found["backlog"] == found["busy"] == 0


def test_a_queue_that_does_not_fit_holds_the_sender_up():
    trace = make_trace(Arrivals([1500.0] * 4, np.ones(1), 1, 0.0), 1)
    plant = Plant(Costs((1e-3,), queue=100.0), np.zeros(1, int), np.zeros(1, int), 1, 1)
    blocked = [measure([plant.advance(trace.between(s, s + 1), s + 1.0)], 0.0).values["blocked"] for s in range(4)]
    assert 0.5 < blocked[0] < 1 and blocked[1:] == [1.0, 1.0, 1.0]


def test_quantiles_and_intervals():
    assert quantile_of(np.arange(1.0, 101.0), 0.95) == 95.0
    assert math.isnan(quantile_of(np.empty(0), 0.5))
    found = Interval.of([1.0, 2.0, 3.0, math.nan])
    assert found.mean == 2.0 and found.half == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
