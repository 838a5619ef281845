"""The sign of a zero is the same in every layout, also of aggregates whose result depends on the order of equal values.

Compared as texts: -0.0 and 0.0 are equal as numbers.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

AGGREGATES = """low: min(x), high: max(x), low_y: min(y), high_y: max(y), opening: first(x), closing: last(x),
  middle: median(x), q1: quantile(y, 0.25), q3: quantile(x, 0.75), total: sum(x), total_y: sum(y), mean: avg(x),
  e: ewma(x, 0.5), over: 1.0 / min(x), under: 1.0 / sum(x)"""
WINDOWS = ("count 5 slide 2", "count 4 every tuple", "count 3", "time 20ms slide 5ms", "session gap 2ms",
           "time 7ms every tuple", "delta 0.5 of x")
PROGRAM = """
app zeros
record R { ts: timestamp<ms>, k: symbol, x: f64, y: f32 }
source in: R = csv("in.csv") event time ts slack 4ms
"""


def program() -> str:
    stages = [f"window {window} |> aggregate" for window in WINDOWS] + ["scan"]
    return PROGRAM + "".join(f'sink s{at} = in |> by k |> {stage} {{ k, {AGGREGATES} }} to csv("s{at}.csv")\n'
                             for at, stage in enumerate(stages))


def rows() -> str:
    """Hardly anything but zeros of both signs, out of order within the slack."""
    chance = random.Random(3)
    zeros = ("-0.0", "0.0", "-0.0", "0.0", "1.0", "-1.0", "nan")
    return "ts,k,x,y\n" + "".join(
        f"{10 + at - chance.randrange(4)},{chance.choice('ab')},{chance.choice(zeros)},{chance.choice(zeros[:4])}\n"
        for at in range(600))


def results(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("s*.csv")}


@pytest.mark.parametrize("workers", (1, 3))
def test_zeros(dfc, tmp_path: Path, workers: int):
    (tmp_path / "zeros.dfl").write_text(program())
    (tmp_path / "in.csv").write_text(rows())
    assert dfc("run", "--interpret", "zeros.dfl").returncode == 0
    expected = results(tmp_path)
    answer = dfc("run", "zeros.dfl", "--workers", workers)
    assert answer.returncode == 0, answer.stderr
    assert len(expected) == len(WINDOWS) + 1 and all(text.count("\n") > 100 for text in expected.values())
    assert results(tmp_path) == expected
