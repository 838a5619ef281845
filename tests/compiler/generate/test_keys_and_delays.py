"""Shares of keys and delays of tuples against what was asked for; draws against the generator of the runtime."""

from __future__ import annotations

import numpy as np
import pytest
from dfc.compiler.generate.delays import delays
from dfc.compiler.generate.keys import keys
from dfc.compiler.generate.settings import WrongSetting
from dfc.compiler.generate.splitmix import below, draws, fractions
from dfc.compiler.interpret.arrivals import WrongFile
from dfc.compiler.interpret.generate import SplitMix64

MANY = 400_000
DRAWN = draws(3, 0, 1, MANY)


def shares(word: str) -> np.ndarray:
    chosen = keys(word)
    return np.bincount(chosen.of(DRAWN).astype(int), minlength=chosen.count) / MANY


def test_draws_are_those_of_splitmix64():
    random = SplitMix64(12345)
    expected = [random.next() for _ in range(30)]
    assert draws(12345, 0, 1, 30).tolist() == expected and draws(12345, 4, 5, 3).tolist() == expected[4:15:5]


@pytest.mark.parametrize("bound", [1, 2, 1000, (1 << 32) - 1, 1 << 32, 10**15 + 7, (1 << 64) - 1, 1 << 64])
def test_below_is_the_upper_half_of_the_product(bound):
    some = [0, 1, (1 << 64) - 1, *DRAWN[:500].tolist()]
    assert below(np.array(some, np.uint64), bound).tolist() == [one * bound >> 64 for one in some]


def test_zipf_shares():
    found = shares("zipf:count=1000,exponent=1.1")
    weights = np.arange(1, 1001) ** -1.1
    assert found[:20] == pytest.approx((weights / weights.sum())[:20], rel=0.05)
    assert found[500:].sum() == pytest.approx((weights / weights.sum())[500:].sum(), rel=0.03)


def test_uniform_shares():
    found = shares("uniform:count=50")
    assert len(found) == 50 and found == pytest.approx(np.full(50, 0.02), rel=0.05)


def test_shares_of_a_file(tmp_path):
    (tmp_path / "weights.txt").write_text("# of four keys\n5 0\n3 2\n")
    found = shares(f"weights:{tmp_path / 'weights.txt'}")
    assert found == pytest.approx([0.5, 0, 0.3, 0.2], abs=0.005) and found[1] == 0


@pytest.mark.parametrize("word", ["zipf:count=10", "uniform:count=0", "uniform:count=1.5", "weights", "often:count=3"])
def test_wrong_keys(word):
    with pytest.raises(WrongSetting):
        keys(word)


def test_a_file_of_no_weights(tmp_path):
    (tmp_path / "weights.txt").write_text("0 0\n")
    with pytest.raises(WrongFile):
        keys(f"weights:{tmp_path / 'weights.txt'}")


def test_uniform_delays():
    found = delays("uniform:most=50ms").of(DRAWN)
    assert found.min() >= 0 and found.max() <= 50_000_000 and found.mean() == pytest.approx(25e6, rel=0.01)


def test_exponential_delays_of_a_share():
    found = delays("exponential:mean=5ms,share=0.1").of(DRAWN)
    late = found[found > 0]
    assert len(late) / MANY == pytest.approx(0.1, rel=0.03) and late.mean() == pytest.approx(5e6, rel=0.03)
    assert np.quantile(late, 0.5) == pytest.approx(5e6 * np.log(2), rel=0.05)


def test_pareto_delays_have_a_heavy_tail():
    found = delays("pareto:least=1ms,shape=1.5").of(DRAWN) / 1e6
    assert found.min() >= 1
    for times in (2, 10, 50):
        assert (found > times).mean() == pytest.approx(times ** -1.5, rel=0.1)


@pytest.mark.parametrize("word", ["uniform", "uniform:most=5", "exponential:mean=5ms,share=2", "late:most=5s"])
def test_wrong_delays(word):
    with pytest.raises(WrongSetting):
        delays(word)


def test_fractions_lie_below_one():
    assert fractions(np.array([0, (1 << 64) - 1], np.uint64)).tolist() == [0.0, 1 - 2.0**-53]
