"""Arrival processes against what is known of them: means, indices of dispersion, Hurst exponents, bounds."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from dfc.compiler.generate.modulated import dispersion, fitted_change
from dfc.compiler.generate.processes import KINDS, process
from dfc.compiler.generate.settings import WrongSetting
from dfc.compiler.generate.spans import counts, even_times, poisson_times, spans, until

SEED = int(os.environ.get("DFC_TEST_SEED", "7"))


def made(word: str, slots: int, every: float = 1.0, chance: bool = True) -> np.ndarray:
    """Tuples in each slot."""
    print(f"DFC_TEST_SEED={SEED}")
    random = np.random.default_rng(SEED)
    return counts(process(word).spans(random), every, slots, random if chance else None)


def times_of(word: str, seconds: float) -> np.ndarray:
    print(f"DFC_TEST_SEED={SEED}")
    random = np.random.default_rng(SEED)
    return np.concatenate(list(poisson_times(until(process(word).spans(random), seconds), random)))


def index_of_dispersion(found: np.ndarray) -> float:
    return float(np.var(found) / np.mean(found))


def hurst(found: np.ndarray, scales: tuple[int, ...]) -> float:
    """Variance-time: the variance of means over m slots falls like m^(2H−2)."""
    variances = [np.var(found[:len(found) // m * m].reshape(-1, m).mean(axis=1)) for m in scales]
    slope = np.polyfit(np.log(scales), np.log(variances), 1)[0]
    return 1 + float(slope) / 2


def test_poisson_has_the_dispersion_of_chance():
    found = made("poisson:rate=2k", 20_000)
    assert found.mean() == pytest.approx(2000, rel=0.005) and index_of_dispersion(found) == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("wanted", [1000, 2000, 3000, 4000])
def test_the_map_has_its_mean_and_index_of_dispersion(wanted):
    found = made(f"map:rate=30k,dispersion={wanted}", 10_000)
    assert found.mean() == pytest.approx(30_000, rel=0.03)
    assert index_of_dispersion(found) == pytest.approx(wanted, rel=0.12)


@pytest.mark.parametrize(("over", "depth"), [(0.1, 0.8), (10.0, 0.5)])
def test_the_map_is_fitted_at_the_time_scale_that_is_asked_for(over, depth):
    found = made(f"map:rate=20k,dispersion=300,over={over}s,depth={depth}", 10_000, over)
    assert index_of_dispersion(found) == pytest.approx(300, rel=0.15)


def test_the_fit_of_the_map_inverts_its_formula():
    for mean, wanted, depth, over in ((30e3, 4000, 0.8, 1), (100, 5, 0.9, 1), (1e6, 1e5, 0.5, 60)):
        change = fitted_change(mean, wanted, depth, over)
        assert dispersion(mean, depth, change, over) == pytest.approx(wanted, rel=1e-6)


def test_a_dispersion_that_can_not_be_had_is_refused():
    with pytest.raises(WrongSetting, match="from 1 to 641"):
        made("map:rate=1k,dispersion=5k", 10)


@pytest.mark.parametrize("wanted", [0.6, 0.7, 0.8])
def test_self_similar_traffic_has_its_hurst_exponent(wanted):
    """Over two and a half decades from ten times the shortest stay on, where the law of large times holds."""
    found = made(f"pareto:rate=50k,hurst={wanted},least=0.01s", 100_000, 0.1)
    assert found.mean() == pytest.approx(5000, rel=0.05)
    assert hurst(found, (1, 3, 10, 30, 100, 300)) == pytest.approx(wanted, abs=0.07)


def test_the_spread_of_self_similar_traffic_is_that_of_its_users():
    found = made("pareto:rate=1M,hurst=0.7,spread=0.3,least=10s", 100_000, 0.1, chance=False)
    assert float(np.std(found) / np.mean(found)) == pytest.approx(0.3, abs=0.05)


def test_poisson_traffic_has_a_hurst_exponent_of_one_half():
    assert hurst(made("poisson:rate=10k", 60_000), (1, 3, 10, 30, 100)) == pytest.approx(0.5, abs=0.03)


def test_the_walk_has_its_step_and_stays_within_its_bounds():
    found = made("random_walk:rate=300k,step=16554,low=100k,high=500k", 20_000, chance=False)
    assert found[0] == 300_000 and 100_000 <= found.min() and found.max() <= 500_000
    inside = (found[:-1] > 150_000) & (found[:-1] < 450_000)
    assert math.sqrt(np.mean(np.diff(found)[inside].astype(float) ** 2)) == pytest.approx(16_554, rel=0.05)


def test_a_finer_walk_has_the_same_step_in_a_second():
    found = made("random_walk:rate=10M,step=5000,every=0.1s", 5_000, chance=False)
    rates = found.astype(float)
    assert math.sqrt(np.mean(np.diff(rates) ** 2)) == pytest.approx(5000, rel=0.25)


def test_the_day_has_its_lowest_and_highest_hour():
    found = made("daily:low=100,high=900", 48, 3600.0).reshape(2, 24) / 3600
    assert found.argmin() % 24 in (0, 23) and found.argmax() % 24 in (11, 12)
    assert found.min() == pytest.approx(100, rel=0.06) and found.max() == pytest.approx(900, rel=0.02)
    assert found.mean() == pytest.approx(500, rel=0.01)


def test_arrivals_by_chance_have_exponential_gaps():
    times = times_of("poisson:rate=100k", 3.0) / 1e9
    gaps = np.diff(times)
    assert len(times) == pytest.approx(300_000, rel=0.01) and gaps.min() >= 0
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.02)


def test_long_spans_are_divided_and_short_ones_kept_in_order():
    times = times_of("map:rate=2M,dispersion=50k", 2.0)
    assert (np.diff(times) >= 0).all() and times[-1] < 2 * 10**9
    assert len(times) == pytest.approx(4_000_000, rel=0.3)


def test_even_arrivals_follow_recorded_rates(tmp_path):
    """The rule of dfrt/rates.h, as tests/compiler/test_interpret_sources.py has it."""
    (tmp_path / "rates.txt").write_text("3\n10 4\n10.5 0\n11.5 2.6\n")
    blocks = process(f"rates:{tmp_path / 'rates.txt'}").spans(np.random.default_rng(1))
    found = np.concatenate(list(even_times(blocks)))
    assert (found // 10**6).tolist() == [0, 250, 1500, 1833, 2166]


def test_a_cut_falls_within_a_span():
    blocks = [spans([1, 2], [10, 20]), spans([5], [30])]
    assert [block.seconds.tolist() for block in until(blocks, 3.5)] == [[1, 2], [0.5]]
    assert [block.seconds.tolist() for block in until(blocks, 1.5)] == [[1, 0.5]]


@pytest.mark.parametrize("word", ["sometimes", "poisson", "poisson:rate=0", "poisson:rate=x", "poisson:speed=3",
                                  "map:rate=5k", "pareto:rate=5k,hurst=1.0", "pareto:rate=1k,hurst=0.5", "rates",
                                  "daily:low=1,high=5,period=3", "random_walk:rate=5,step=1,every=5"])
def test_wrong_words(word):
    with pytest.raises(WrongSetting):
        process(word)


def test_equal_seeds_give_equal_traffic():
    for kind, word in (("map", "map:rate=1k,dispersion=50"), ("pareto", "pareto:rate=1k,hurst=0.7"),
                       ("random_walk", "random_walk:rate=1k,step=10")):
        assert kind in KINDS and (made(word, 200) == made(word, 200)).all()
