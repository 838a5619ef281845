"""Model and simulation say the same where a slide holds little of a key, where costs are small, and of batches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dfc.compiler.patterns import PATTERNS
from dfc.compiler.patterns.forced import why_not
from dfc.compiler.patterns.load import Costs, Load, Prediction
from dfc.compiler.select.traffic import skewed
from dfc.compiler.simulate.arrivals import tuples
from dfc.compiler.simulate.scalability import Operator, play_once, series, with_keys
from dfc.dsl.span import NOWHERE
from dfc.dsl.typed import Pattern

from tests.compiler.patterns.reference import FUNCTION, MACHINE
from tests.compiler.patterns.test_models import text

WORKERS = 4


def windows(slide: float, keys: int, costs: Costs, kind: str = "time", panes_a_slide: float = 1.0) -> Operator:
    """Windows of five slides."""
    chance = 1.0 if keys > slide else max(1 / slide, keys / slide)
    load = Load(costs, window=5 * slide, slide=slide, panes=5 * panes_a_slide, panes_a_slide=panes_a_slide, ca2=chance,
                timed=kind == "time")
    function = replace(FUNCTION, keyed=keys > 1, window=kind)
    return with_keys(Operator("w", function, load, skewed(keys, 0.0), before=0.0, after=0.0), skewed(keys, 0.0))


def predicted(one: Operator, pattern: Pattern, rate: float | None = None, machine=MACHINE) -> Prediction:
    return PATTERNS[pattern.name].cost(replace(one.load, rate=rate), machine, pattern)


def patterns(keys: int):
    one = windows(2.0, keys, Costs())
    for module in PATTERNS.values():
        if module.applies(one.function) is None:
            yield from (found for found in module.configurations(one.load, WORKERS)
                        if why_not(one.function, found) is None and found.partition != "round_robin")


EVERY = [pytest.param(keys, pattern, id=f"{keys}-{text(pattern)}") for keys in (1, 1000) for pattern in patterns(keys)]


# --- slides -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slide", [0.01, 0.37, 1.5, 20.0])
@pytest.mark.parametrize(("keys", "pattern"), EVERY)
def test_any_slide_is_played_as_it_is(keys, pattern, slide):
    one = windows(slide, keys, Costs(tuple=40.0, window=20e3, merge=2e3))
    full = predicted(one, pattern).rate
    assert play_once(one, MACHINE, pattern).rate == pytest.approx(full, rel=0.1)
    played = play_once(one, MACHINE, pattern, 0.5 * full)
    assert played.latency == pytest.approx(predicted(one, pattern, 0.5 * full).latency, rel=0.35)


@pytest.mark.parametrize("slide", [0.3, 2.5])
@pytest.mark.parametrize(("keys", "pattern"), [one for one in EVERY if "pane_farming" in one.id])
def test_slides_of_two_panes(keys, pattern, slide):
    one = windows(slide, keys, Costs(tuple=40.0, window=20e3, merge=2e3), panes_a_slide=2.0)
    assert play_once(one, MACHINE, pattern).rate == pytest.approx(predicted(one, pattern).rate, rel=0.1)


@pytest.mark.parametrize("panes", [1, 2])
@pytest.mark.parametrize("keys", [1, 10])
@pytest.mark.parametrize("slide", [0.003, 0.1, 0.37, 0.9, 1.0, 1.5, 2.7, 20.0, 333.3])
def test_tuples_end_as_many_windows_as_they_should(slide, keys, panes):
    count = max(100, round(300 * keys * slide))
    ends = [end for each in tuples(slide, panes, [1 / keys] * keys, count, None, 1) for end in each.ends]
    assert len(ends) == pytest.approx(panes * count / slide, rel=0.01, abs=keys)
    assert sum(end.whole for end in ends) == pytest.approx(count / slide, rel=0.01, abs=keys)
    numbers = [end.window for end in ends if end.key == 0 and end.whole]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_very_many_results_of_a_tuple_take_no_longer_to_play():
    one = windows(1e-6, 1000, Costs(tuple=40.0, window=20e3))
    pattern = Pattern("window_farming", NOWHERE, workers=WORKERS)
    played = play_once(one, MACHINE, pattern)
    assert played.rate == pytest.approx(predicted(one, pattern).rate, rel=0.05) and played.results < 100_000


def test_results_of_one_tuple_wait_for_each_other():
    """Also where no rate is known; as many workers as there are results compute them at once."""
    ten = windows(0.1, 1, Costs(window=1e6))
    latency = {workers: predicted(ten, Pattern("window_farming", NOWHERE, workers=workers)).latency - 2 * MACHINE.hop
               for workers in (1, 2, 10)}
    assert latency == {1: pytest.approx(5.5e6, rel=1e-3), 2: pytest.approx(3e6, rel=1e-3), 10: pytest.approx(1e6)}
    assert predicted(ten, Pattern("sequential", NOWHERE)).latency == pytest.approx(5.5e6)


# --- forced patterns --------------------------------------------------------------------------------


@pytest.mark.parametrize(("forced", "degrees", "found"), [
    (Pattern("pane_farming", NOWHERE, workers=1, merge_workers=5), (6,), [(6, 1, 5, None)]),
    (Pattern("pane_farming", NOWHERE, merge_workers=3, merge="farm"), (1, 3, 4, 8), [(4, 1, 3, None), (8, 5, 3, None)]),
    (Pattern("pane_farming", NOWHERE, workers=2, merge="ring"), (2,), [(2, 2, None, None)]),
    (Pattern("nesting", NOWHERE, workers=2), (2,), [(4, 2, None, 2)]),
    (Pattern("nesting", NOWHERE, workers=1, inner_workers=1), (1,), [(1, 1, None, 1)]),
    (Pattern("nesting", NOWHERE, inner_workers=3), (3, 6, 7), [(3, 1, None, 3), (6, 2, None, 3), (6, 2, None, 3)]),
    (Pattern("window_farming", NOWHERE, batch=7), (2, 3), [(2, 2, None, None), (3, 3, None, None)]),
], ids=lambda one: text(one) if isinstance(one, Pattern) else None)
def test_what_a_forced_pattern_leaves_open_is_filled_in(forced, degrees, found):
    one = replace(windows(20.0, 1000, Costs(tuple=40.0, window=20e3, merge=2e3), "count"), forced=forced)
    points = series(one, forced.name, None, MACHINE, degrees)
    assert [(point.degree, point.pattern.workers, point.pattern.merge_workers, point.pattern.inner_workers)
            for point in points] == found
    assert all(point.pattern.batch == forced.batch for point in points) or forced.batch is None


# --- hops -------------------------------------------------------------------------------------------


def small() -> Operator:
    return windows(10.0, 1000, Costs(tuple=20.0, window=400.0, merge=100.0))


def hops_of(pattern: Pattern) -> float:
    with_them, without = (predicted(small(), pattern, 1e4, machine).latency for machine in
                          (MACHINE, replace(MACHINE, hop=0.0)))
    return (with_them - without) / MACHINE.hop


SECOND_PASS = Pattern("window_partitioning", NOWHERE, workers=WORKERS, reduce="synchronous", partition="contiguous")


@pytest.mark.parametrize("pattern", [*patterns(1000), SECOND_PASS], ids=text)
def test_reaching_a_thread_takes_as_long_in_the_simulation(pattern):
    """At a low rate, where a hop is most of the latency, and every thread waits."""
    played, near = (play_once(small(), machine, pattern, 1e4).latency for machine in
                    (MACHINE, replace(MACHINE, hop=0.0)))
    assert played - near == pytest.approx(hops_of(pattern) * MACHINE.hop, rel=0.02)
    assert played == pytest.approx(predicted(small(), pattern, 1e4).latency, rel=0.05)


def test_hops_are_counted_from_thread_to_thread():
    found = {pattern.merge or pattern.reduce or pattern.name: hops_of(pattern)
             for pattern in (*patterns(1000), SECOND_PASS)}
    assert found == {name: pytest.approx(hops) for name, hops in {
        "sequential": 0, "key_partitioning": 2, "window_farming": 2, "collector": 2, "ring": 2, "shuffled": 3,
        "farm": 4, "asynchronous": 2, "nesting": 2, "synchronous": 4}.items()}


def test_hops_do_not_take_from_throughput():
    one, pattern = small(), Pattern("key_partitioning", NOWHERE, workers=2)
    assert play_once(one, MACHINE, pattern).rate == play_once(one, replace(MACHINE, hop=0.0), pattern).rate


# --- batches ----------------------------------------------------------------------------------------


DEALING = {"in turn": {"style": "agnostic", "schedule": "round_robin"},
           "on demand": {"style": "agnostic", "schedule": "on_demand"},
           "active": {"style": "active", "schedule": "round_robin"}}


def batches(size: int, dealing: str) -> Pattern:
    return Pattern("window_farming", NOWHERE, workers=WORKERS, batch=size, **DEALING[dealing])


@pytest.mark.parametrize("load", [0.4, 0.8])
@pytest.mark.parametrize("size", [2, 8, 64])
@pytest.mark.parametrize("keys", [1, 1000])
@pytest.mark.parametrize("dealing", DEALING)
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "free"])
def test_windows_of_a_batch_wait_for_each_other_whatever_their_keys(ordered, dealing, keys, size, load):
    one = windows(200.0, keys, Costs(tuple=5.0, window=7.5e6), "count")
    one = replace(one, load=replace(one.load, ordered=ordered), free=frozenset() if ordered else {"window_farming"})
    rate = load * predicted(one, batches(1, dealing)).rate
    played = play_once(one, MACHINE, batches(size, dealing), rate)
    assert played.latency == pytest.approx(predicted(one, batches(size, dealing), rate).latency, rel=0.3)


@pytest.mark.parametrize("dealing", DEALING)
def test_larger_batches_have_more_latency_and_the_same_throughput(dealing):
    one = windows(200.0, 1000, Costs(tuple=5.0, window=7.5e6), "count")
    full = [predicted(one, batches(size, dealing)) for size in (1, 8, 64)]
    assert full[0].rate == full[1].rate == full[2].rate and 3 * full[0].latency < full[1].latency < full[2].latency / 5
    played = [play_once(one, MACHINE, batches(size, dealing), 0.5 * full[0].rate).latency for size in (1, 8, 64)]
    assert 2 * played[0] < played[1] < played[2] / 4


def test_active_workers_deal_time_windows_by_key():
    """Of a thousand keys others come between the windows of a batch, so that none waits for it."""
    one = windows(200.0, 1000, Costs(tuple=5.0, window=7.5e6), "time")
    rate = 0.5 * predicted(one, batches(1, "active")).rate
    models = [predicted(one, batches(size, "active"), rate).latency for size in (1, 64)]
    played = [play_once(one, MACHINE, batches(size, "active"), rate).latency for size in (1, 64)]
    assert models[0] == models[1] and played == [pytest.approx(latency, rel=0.35) for latency in models]
