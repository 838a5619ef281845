"""The simulated operator against queueing theory and against itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from dfc.compiler.simulate.plant import PROTOCOLS, Costs, Plant
from dfc.compiler.simulate.trace import Arrivals, make_trace

SERVICE = 1e-3


def played(plant, trace, seconds, each=lambda plant, second: None):
    """The slices of so many seconds; `each` may change the plant behind every one."""
    slices = []
    for second in range(seconds):
        slices.append(plant.advance(trace.between(second, second + 1), second + 1.0))
        each(plant, second)
    return slices


def one_worker(load, cv, seconds, seed):
    trace = make_trace(Arrivals([load / SERVICE] * seconds, np.ones(1), 1, cv), seed)
    return trace, played(Plant(Costs((SERVICE,)), np.zeros(1, int), np.zeros(1, int), 1, 1), trace, seconds)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
@pytest.mark.parametrize("cv", [0.0, 0.5, 1.0])
def test_waiting_is_that_of_an_m_g_1_queue(load, cv):
    """Pollaczek and Khinchine: W = ρ/(1−ρ) · (1+c²)/2 · S. Twenty independent runs give the error of the mean; five of
    those are allowed, which chance exceeds less than once in a million times."""
    means = []
    for seed in range(20):
        _, slices = one_worker(load, cv, 60, seed)
        means.append(np.concatenate([one.waits for one in slices[5:]]).mean())
    expected = load / (1 - load) * (1 + cv * cv) / 2 * SERVICE
    error = np.std(means, ddof=1) / math.sqrt(len(means))
    assert abs(np.mean(means) - expected) < 5 * error + 1e-6 * SERVICE, (np.mean(means), expected, error)


def test_an_overhead_adds_to_every_latency_and_to_nothing_else():
    trace, plain = one_worker(0.7, 0.5, 5, 3)
    late = played(Plant(Costs((SERVICE,), overhead=0.02), np.zeros(1, int), np.zeros(1, int), 1, 1), trace, 5)
    for one, other in zip(plain, late, strict=True):
        np.testing.assert_allclose(other.latencies, one.latencies + 0.02)
        assert (other.waits == one.waits).all() and (other.done == one.done).all() and other.backlog == one.backlog


def test_what_comes_is_done_or_waits():
    trace, slices = one_worker(1.2, 0.3, 20, 7)
    assert slices[-1].backlog > 1000
    assert len(trace) == sum(len(one.done) for one in slices) + slices[-1].backlog
    for one in slices:
        assert 0 <= one.busy[0] <= 1 + 1e-9


def test_a_worker_is_busy_for_the_work_that_it_does():
    _, slices = one_worker(0.7, 1.0, 50, 3)
    done = sum(one.services.sum() for one in slices)
    assert sum(one.busy[0] for one in slices) == pytest.approx(done, rel=1e-3)


def scalar_lindley(times, work, free=0.0):
    """The recursion as it is written down, one job after the other."""
    finish = []
    for time, service in zip(times, work, strict=True):
        free = max(free, time) + service
        finish.append(free)
    return np.array(finish)


def test_many_workers_are_many_queues():
    keys = np.full(40, 1 / 40)
    trace = make_trace(Arrivals([3500.0] * 8, keys, 1, 0.7), 11)
    owner = np.arange(40) % 4
    slices = played(Plant(Costs((SERVICE,)), np.arange(40), owner, 4, 6), trace, 8)
    finish = []
    for worker in range(4):
        own = owner[trace.keys] == worker
        finish.append(scalar_lindley(trace.times[own], trace.work[own] * SERVICE))
    finish = np.sort(np.concatenate(finish))
    done = np.concatenate([one.done for one in slices])
    np.testing.assert_allclose(done, finish[finish <= 8], rtol=0, atol=1e-9)


def test_ordered_results_wait_for_what_came_before_them():
    keys = np.full(40, 1 / 40)
    trace = make_trace(Arrivals([3600.0] * 8, keys, 1, 0.7), 12)
    owner = np.arange(40) % 4
    slices = played(Plant(Costs((SERVICE,)), np.arange(40), owner, 4, 4, ordered=True), trace, 8)
    finish = np.empty(len(trace))
    for worker in range(4):
        own = owner[trace.keys] == worker
        finish[own] = scalar_lindley(trace.times[own], trace.work[own] * SERVICE)
    handed_on = np.maximum.accumulate(finish)
    out = handed_on <= 8
    np.testing.assert_allclose(np.concatenate([one.done for one in slices]), handed_on[out], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.concatenate([one.latencies for one in slices]), (handed_on - trace.times)[out],
                               rtol=0, atol=1e-9)
    assert slices[-1].backlog == len(trace) - out.sum()


def test_half_the_frequency_takes_twice_as_long_also_for_what_waits():
    trace, _ = one_worker(0.9, 0.0, 10, 1)
    plant = Plant(Costs((SERVICE,)), np.zeros(1, int), np.zeros(1, int), 1, 1)
    plant.set_speed(0.5, 0)
    slices = played(plant, trace, 10)
    assert sum(len(one.done) for one in slices) == pytest.approx(5000, abs=2)
    assert np.concatenate([one.services for one in slices]).mean() == pytest.approx(2 * SERVICE)


def test_a_job_that_is_being_served_goes_on_at_the_new_speed():
    trace = make_trace(Arrivals([1.0], np.ones(1), 1, 0.0, "regular"), 1)
    assert len(trace) == 1
    plant = Plant(Costs((1.0,)), np.zeros(1, int), np.zeros(1, int), 1, 1)
    plant.advance(trace, 1.0)  # came at 0.5, half done
    plant.set_speed(0.25, 0)
    found = plant.advance(trace.between(1.0, 4.0), 4.0)
    assert found.done == pytest.approx([3.0])
    assert found.latencies == pytest.approx([2.5])


def test_an_alternate_changes_the_work():
    trace = make_trace(Arrivals([500.0] * 4, np.ones(1), 1, 0.0), 5)
    plant = Plant(Costs((SERVICE, SERVICE / 10)), np.zeros(1, int), np.zeros(1, int), 1, 1)
    slices = played(plant, trace, 4, lambda plant, second: plant.set_speed(1.0, 1))
    assert slices[0].services.mean() == pytest.approx(SERVICE)
    assert slices[2].services.mean() == pytest.approx(SERVICE / 10)


def test_shedding_drops_the_share_that_it_is_told():
    trace = make_trace(Arrivals([2000.0] * 10, np.ones(1), 1, 0.0), 5)
    plant = Plant(Costs((SERVICE / 4,)), np.zeros(1, int), np.zeros(1, int), 1, 1)
    plant.set_speed(1.0, 0, 0.25)
    slices = played(plant, trace, 10)
    shed = sum(one.shed for one in slices)
    assert shed / len(trace) == pytest.approx(0.25, abs=0.02)
    assert len(trace) == shed + sum(len(one.done) for one in slices) + slices[-1].backlog


# --- moving keys --------------------------------------------------------------------------------------


def moving(protocol, take_out=20e-6):
    """Two workers, then three, at the end of second 2; 600 keys, of which 400 move."""
    keys = np.full(600, 1 / 600)
    trace = make_trace(Arrivals([1700.0] * 3 + [2500.0] * 7, keys, 1, 0.2), 9)
    plant = Plant(Costs((SERVICE,), take_out, take_out), np.arange(600), np.arange(600) % 2, 2, 3, protocol=protocol)
    moved = []

    def change(plant, second):
        if second == 2:
            moved.append(plant.move(np.arange(600) // 7 % 3, 3))

    return trace, played(plant, trace, 10, change), moved[0]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_is_lost_while_keys_move(protocol):
    trace, slices, moved = moving(protocol)
    assert moved > 300
    assert len(trace) == sum(len(one.done) for one in slices) + slices[-1].backlog
    assert (np.concatenate([one.latencies for one in slices]) > 0).all()


def test_the_less_a_protocol_blocks_the_less_is_waited():
    """000 §5.2.2: fluent, then the receivers wait, then everybody waits."""
    waits = [moving(protocol)[1][3].latencies.mean() for protocol in PROTOCOLS]
    assert waits[0] < waits[1] <= waits[2]


def test_without_a_cost_of_moving_idle_workers_do_not_wait():
    """Nothing is queued and nothing has to be taken out, so state is there at once."""
    keys = np.full(10, 0.1)
    trace = make_trace(Arrivals([1.0, 1.0, 50.0], keys, 1, 0.0), 2)
    for protocol in PROTOCOLS:
        plant = Plant(Costs((SERVICE,), 0.0, 0.0, 0.0), np.arange(10), np.zeros(10, int), 1, 2, protocol=protocol)
        plant.advance(trace.between(0, 2), 2.0)
        assert plant.move(np.arange(10) % 2, 2) == 5
        assert plant.moving_until <= 2.0 + SERVICE


def test_the_same_seed_gives_the_same_run():
    first, second = moving("fluent")[1], moving("fluent")[1]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.latencies, other.latencies)


# --- arrivals -----------------------------------------------------------------------------------------


def test_triggers_come_at_the_rates_of_their_seconds():
    rates = [1000.0, 0.0, 0.0, 5000.0, 20.0] * 20
    trace = make_trace(Arrivals(rates, np.full(50, 0.02), 1), 3)
    counts = np.bincount(trace.times.astype(int), minlength=100)
    assert (np.diff(trace.times) >= 0).all()
    for rate, count in zip(rates, counts, strict=True):
        assert abs(count - rate) <= 6 * math.sqrt(rate)


def test_every_slide_th_tuple_of_a_key_triggers():
    """The stretch between two triggers of a key holds `slide` tuples: its variance is that of a sum of so many gaps."""
    trace = make_trace(Arrivals([25_000.0] * 40, np.array([0.5, 0.3, 0.2, 0.0]), 25), 4)
    gaps = np.diff(trace.times[trace.keys == 0])
    assert gaps.mean() == pytest.approx(25 / 12_500, rel=0.01)
    assert gaps.std() / gaps.mean() == pytest.approx(1 / 5, rel=0.05)
    assert not (trace.keys == 3).any()
    assert np.bincount(trace.keys, minlength=4)[:3] / len(trace) == pytest.approx([0.5, 0.3, 0.2], rel=0.02)


def test_a_stream_without_tuples_has_no_triggers():
    assert len(make_trace(Arrivals([0.0] * 5, np.ones(3) / 3, 10), 1)) == 0
