"""std.stats beside Python's statistics module."""

import csv
import math
import random
import statistics
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
