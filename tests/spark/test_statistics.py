"""Each statistic by itself, against series whose truth is known. No Spark."""

from __future__ import annotations

import os

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from dfc.compiler.artifacts.profile import Keys, OperatorProfile, Profile, from_json, to_json  # noqa: E402
from dfc.compiler.generate.processes import process  # noqa: E402
from dfc.compiler.generate.spans import counts  # noqa: E402
from dfc.compiler.spark.disorder import disorder  # noqa: E402
from dfc.compiler.spark.forecast import fitted  # noqa: E402
from dfc.compiler.spark.keys import figures  # noqa: E402
from dfc.compiler.spark.measure import Counts, bucket_top, buckets  # noqa: E402
from dfc.compiler.spark.rates import arrivals, finest, hurst  # noqa: E402
from dfc.compiler.spark.seasons import seasons  # noqa: E402
from dfc.compiler.spark.sketch import estimate, registers  # noqa: E402

SEED = int(os.environ.get("DFC_TEST_SEED", "7"))


def made(word: str, slots: int, every: float) -> np.ndarray:
    print(f"DFC_TEST_SEED={SEED}")
    chance = np.random.default_rng(SEED)
    return counts(process(word).spans(chance), every, slots, chance)


@pytest.mark.parametrize("wanted", [1000, 2000, 3000, 4000])
def test_index_of_dispersion_of_bursty_traffic(wanted):
    found = arrivals(made(f"map:rate=30k,dispersion={wanted}", 10_001, 1.0), 1.0, [])
    assert found["dispersion"]["value"] == pytest.approx(wanted, rel=0.12)
    assert (found["dispersion"]["seconds"], found["dispersion"]["span"]) == (1, 10_000)


@pytest.mark.parametrize("wanted", [0.6, 0.7, 0.8])
def test_hurst_exponent_of_self_similar_traffic(wanted):
    found = hurst(made(f"pareto:rate=50k,hurst={wanted},least=0.01s", 50_000, 0.1), 0.1)
    assert found["value"] == pytest.approx(wanted, abs=0.07)
    assert found["from"] == 0.1 and found["to"] > 10


def test_chance_has_a_hurst_exponent_of_one_half_and_a_dispersion_of_one():
    found = made("poisson:rate=10k", 100_000, 0.01)
    assert hurst(found, 0.01)["value"] == pytest.approx(0.5, abs=0.05)
    assert arrivals(found, 0.01, [])["dispersion"]["value"] == pytest.approx(1, abs=0.2)


def test_short_series_say_nothing_rather_than_something_wrong():
    found = arrivals(np.array([3]), 1.0, [])
    assert found["dispersion"] is None and found["hurst"] is None and found["gaps"] is None


def test_the_finest_resolution_fits_the_span_and_the_unit():
    assert finest(60, 1e-3) == 0.001 and finest(60, 1.0) == 1 and finest(365 * 86400, 1e-3) == 60
    assert finest(1e15, 1.0) == 86400


def test_days_and_weeks_are_seen_when_they_were_there_twice():
    hours = np.arange(24 * 21)
    rates = 100 + 50 * np.cos(2 * np.pi * (hours % 24 - 15) / 24)
    rates = np.where(hours // 24 % 7 >= 5, rates / 2, rates)  # the first day is a Monday
    monday = 4 * 86400.0
    found = seasons(np.round(rates * 3600).astype(np.int64), 3600.0, monday)
    assert int(np.argmax(found["daily"]["relative"])) == 15 and found["daily"]["strength"] > 0.5
    weekly = found["weekly"]["relative"]
    assert weekly[5] == pytest.approx(weekly[0] / 2, rel=0.01) and weekly[6] == pytest.approx(weekly[0] / 2, rel=0.01)
    assert seasons(np.ones(24, np.int64), 3600.0, 0.0) == {}


def test_the_forecaster_of_a_random_walk_is_the_last_value_and_of_a_line_the_trend():
    chance = np.random.default_rng(SEED)
    walk = fitted(300e3 + np.cumsum(chance.normal(0, 16554, 3000)), 1.0)
    assert walk["level"] > 0.9 and walk["trend"] < 0.1
    line = fitted(1000.0 + 50 * np.arange(500), 1.0)
    assert line["error"] < 0.2 * line["error_of_last"]
    noise = fitted(chance.normal(1000, 50, 3000), 1.0)
    assert noise["level"] < 0.15 and fitted(np.arange(10.0), 1.0) is None


def test_delays_are_bucketed_from_above():
    delays = np.array([0, 1, 31, 32, 100, 12345, 10 ** 12])
    tops = np.array([bucket_top(int(one)) for one in buckets(delays)])
    assert (tops >= delays * 0.999999).all() and (tops <= delays * 1.023 + 1e-9).all()
    found = disorder({10: 10}, 10, 100, 0.001)
    assert found["quantiles"]["p50"] == 0 and found["quantiles"]["p95"] == 0.01 and found["k"] == 0.01


@pytest.mark.parametrize("count", [10, 5000, 200_000])
def test_the_sketch_counts_different_values(count):
    once = registers([f"key {at}" for at in range(count)])
    again = np.maximum(once, registers([f"key {at}" for at in range(0, count, 3)]))
    assert estimate(once) == pytest.approx(count, rel=0.03) and estimate(again) == estimate(once)


@pytest.mark.parametrize("keys", [1, 6, 11, 600])
def test_shares_of_keys_are_together_no_more_than_everything(keys):
    """Six keys of 0.166667 would be: nobody could read the profile."""
    seen = Counts(keys={"k": {0: {f"key {at}": 7 for at in range(keys)}}})
    found = figures("k", seen, 7 * keys, 1)
    assert len(found.top) == found.count == keys and sum(found.top) <= 1 + 1e-9
    assert found.top == pytest.approx([1 / keys] * keys, rel=1e-5) and found.heavy[0][1] == found.top[0]
    profile = Profile("a", "trace", operators={"w": OperatorProfile({}, None, Keys(keys, found.top[0], found.top))})
    assert from_json(to_json(profile)) == profile
