"""The simulation has the shapes of 002 Tab. 4.2 and fig. 4.16, 4.17."""

from __future__ import annotations

from functools import cache

import pytest
from dfc.compiler.simulate.arrivals import partition
from dfc.compiler.simulate.scalability import play_once, scenario_keys, series, with_keys
from dfc.dsl.span import NOWHERE
from dfc.dsl.typed import Pattern

from tests.compiler.patterns.reference import MACHINE, OPERATOR


@cache
def scaling(title: str, keys: str, routing: str | None = None) -> dict[int, float]:
    found = with_keys(OPERATOR, scenario_keys(1000, keys))
    return {point.degree: point.scaling for point in series(found, title, routing, MACHINE, (6, 12, 24))}


@pytest.mark.parametrize("keys", ["uniform", "0.03", "0.16"])
@pytest.mark.parametrize("title", ["window_farming", "pane_farming", "window_partitioning"])
def test_what_is_not_divided_by_keys_goes_on(title, keys):
    found = scaling(title, keys)
    assert found[6] > 5 and found[12] > 9 and found[24] > 16


def test_key_partitioning_with_even_keys_goes_on():
    found = scaling("key_partitioning, balanced", "uniform", "balanced")
    assert found[12] > 10 and found[24] > 18


def test_key_partitioning_with_skewed_keys_goes_on_until_33():
    assert scaling("key_partitioning, balanced", "0.03", "balanced")[24] > 18


def test_key_partitioning_with_very_skewed_keys_stops_at_6():
    found = scaling("key_partitioning, balanced", "0.16", "balanced")
    assert found[12] == pytest.approx(1 / 0.16, rel=0.1) and found[24] == pytest.approx(found[12], rel=0.02)
    by_hash = scaling("key_partitioning", "0.16", "hash")
    assert by_hash[12] <= found[12] * 1.02 and by_hash[24] <= 1 / 0.16 * 1.1


def pattern(name: str, workers: int) -> Pattern:
    return Pattern(name, NOWHERE, workers=workers)


@pytest.mark.parametrize("workers", [1, 4, 12])
def test_pane_farming_has_five_times_the_throughput(workers):
    panes, windows = (play_once(OPERATOR, MACHINE, pattern(name, workers)) for name in
                      ("pane_farming", "window_farming"))
    assert panes.rate / windows.rate == pytest.approx(5, rel=0.1)


def test_latency_at_200_k():
    """Fig. 4.17: ten workers, with pane farming two, which are as busy; with ten it has a fifth of the latency."""
    latency = {name: play_once(OPERATOR, MACHINE, pattern(name, workers), 200_000).latency for name, workers in
               (("window_farming", 10), ("key_partitioning", 10), ("pane_farming", 2), ("window_partitioning", 10))}
    assert latency["window_farming"] >= 7.5e6 and latency["key_partitioning"] >= 7.5e6
    few = play_once(OPERATOR, MACHINE, pattern("pane_farming", 10), 200_000).latency
    assert few / latency["window_farming"] == pytest.approx(1 / 5, rel=0.15)
    assert latency["window_partitioning"] < latency["pane_farming"] < latency["window_farming"]


def test_one_seed_gives_one_result():
    once = [play_once(OPERATOR, MACHINE, pattern("pane_farming", 3), 100_000, seed=7) for _ in range(2)]
    assert once[0] == once[1]
    assert play_once(OPERATOR, MACHINE, pattern("pane_farming", 3), 100_000, seed=8) != once[0]


def test_on_demand_and_order_are_played():
    patterns = (Pattern("window_farming", NOWHERE, workers=3, schedule=schedule)
                for schedule in ("round_robin", "on_demand"))
    turn, demand = (play_once(OPERATOR, MACHINE, one, 60_000) for one in patterns)
    assert turn.results == demand.results and demand.latency <= turn.latency * 1.01


def test_balanced_partition_gives_each_worker_its_part():
    shares = [0.4, 0.2, 0.2, 0.1, 0.1]
    home = partition(shares, 3, "balanced", 1)
    loads = [sum(share for key, share in enumerate(shares) if home[key] == worker) for worker in range(3)]
    assert max(loads) == 0.4
