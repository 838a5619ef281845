"""std.stats beside Python's statistics module."""

import csv
import math
import random
import statistics
from fractions import Fraction
from pathlib import Path

import pytest

PROGRAM = """
app stats
use std.stats
record Pair { key: i32, x: f64, y: f64 }
source pairs: Pair = csv("pairs.csv")
stream found = pairs |> by key |> window count 40 slide 15 |> aggregate {
  key, cov: covariance(x, y), cor: correlation(x, y), rise: slope(x, y), base: intercept(x, y),
  z: z_score(x), geo: geometric_mean(x),
}
sink out = found to csv("out.csv")
"""


def expected(window: list[tuple[float, float]]) -> list[float]:
    xs, ys = [x for x, _ in window], [y for _, y in window]
    line = statistics.linear_regression(xs, ys)
    return [statistics.covariance(xs, ys), statistics.correlation(xs, ys), line.slope, line.intercept,
            (xs[-1] - statistics.fmean(xs)) / statistics.stdev(xs), statistics.geometric_mean(xs)]


@pytest.mark.parametrize("workers", (1, 3))
def test_stats(dfc, tmp_path: Path, workers: int):
    chance = random.Random(7)
    rows = [(chance.randrange(3), chance.uniform(1e3, 1e3 + 5), chance.gauss(0, 1)) for _ in range(600)]
    (tmp_path / "stats.dfl").write_text(PROGRAM)
    (tmp_path / "pairs.csv").write_text("key,x,y\n" + "".join(f"{k},{x!r},{y!r}\n" for k, x, y in rows))
    answer = dfc("run", "stats.dfl", "--workers", workers)
    assert answer.returncode == 0, answer.stderr
    wanted = []
    for key in range(3):
        own = [(x, y) for k, x, y in rows if k == key]
        wanted += [(key, expected(own[at:at + 40])) for at in range(0, len(own) - 39, 15)]
    with open(tmp_path / "out.csv", newline="") as file:
        got = sorted(((int(row["key"]), n, row) for n, row in enumerate(csv.DictReader(file))), key=lambda r: r[:2])
    assert len(got) == len(wanted) > 10
    for (key, values), (got_key, _, row) in zip(wanted, got, strict=True):
        assert key == got_key
        found = [float(row[name]) for name in ("cov", "cor", "rise", "base", "z", "geo")]
        assert all(math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-7)
                   for a, b in zip(values, found, strict=True)), (values, found)


SCALES = ((1.0, 1.0), (1e-90, 1e-90), (1e90, 1e90), (1e-140, 1e140), (1e140, 1e-140), (1e-140, 1e-140), (1e140, 1e140))


def exactly(window: list[tuple[float, float]]) -> list[float]:
    """Correlation, slope, intercept and z-score by rational numbers, which know no smallest and no largest one."""
    xs, ys = [Fraction(x) for x, _ in window], [Fraction(y) for _, y in window]
    mean_x, mean_y, n = sum(xs) / len(xs), sum(ys) / len(ys), len(xs)
    xx, yy = sum((x - mean_x) ** 2 for x in xs), sum((y - mean_y) ** 2 for y in ys)
    xy = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    z = xs[-1] - mean_x
    return [math.copysign(math.sqrt(xy ** 2 / (xx * yy)), xy), float(xy / xx), float(mean_y - xy / xx * mean_x),
            math.copysign(math.sqrt(z ** 2 / (xx / (n - 1))), z)]


@pytest.mark.parametrize("words", [(), ("--interpret",)], ids=["native", "interpreter"])
def test_very_small_and_very_large_values(dfc, tmp_path: Path, words):
    """Products of two sums of squares leave the range of floats long before the sums do."""
    chance = random.Random(11)
    windows = [[(x * by_x, (3 * x + chance.gauss(0, 1)) * by_y) for x in (chance.gauss(2, 1) for _ in range(40))]
               for by_x, by_y in SCALES]
    (tmp_path / "stats.dfl").write_text(PROGRAM)
    (tmp_path / "pairs.csv").write_text("key,x,y\n" + "".join(
        f"{key},{x!r},{y!r}\n" for key, window in enumerate(windows) for x, y in window))
    answer = dfc("run", "stats.dfl", *words)
    assert answer.returncode == 0, answer.stderr
    with open(tmp_path / "out.csv", newline="") as file:
        found = [[float(row[name]) for name in ("cor", "rise", "base", "z")] for row in csv.DictReader(file)]
    for got, window in zip(found, windows, strict=True):
        assert got == pytest.approx(exactly(window), rel=1e-9, abs=0.0)
