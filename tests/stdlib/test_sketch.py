"""std.sketch beside exact answers: within the errors that its page states."""

import csv
import random
from collections import Counter
from pathlib import Path

PROGRAM = """
app sketch
use std.sketch
use std.text
record Visit { ts: timestamp<ms>, user: symbol, took: f64 }
source visits: Visit = csv("visits.csv") event time ts
stream found = visits |> window time 1s slide 500ms |> aggregate {
  start: window_start, n: count(), users: distinct(hash(user)), u1: frequency(hash(user), hash("u1")),
  slow: approx_quantile(took, 0.9), quick: approx_quantile(-took, 0.9),
  first_user: top(user, 1), first_count: top_count(user, 1), second_user: top(user, 2), nobody: top(user, 99),
}
sink out = found to csv("out.csv")
"""


def test_sketches(dfc, tmp_path: Path):
    chance = random.Random(11)
    rows = [(at // 4, f"u{min(int(chance.paretovariate(0.7)), 3000)}", chance.lognormvariate(2, 1))
            for at in range(12000)]
    (tmp_path / "sketch.dfl").write_text(PROGRAM)
    (tmp_path / "visits.csv").write_text("ts,user,took\n" + "".join(f"{t},{u},{x!r}\n" for t, u, x in rows))
    answer = dfc("run", "sketch.dfl")
    assert answer.returncode == 0, answer.stderr
    with open(tmp_path / "out.csv", newline="") as file:
        results = list(csv.DictReader(file))
    assert len(results) == 7
    for result in results:
        start = int(result["start"])
        check(result, [(user, took) for ts, user, took in rows if start <= ts < start + 1000])


def check(result: dict[str, str], window: list[tuple[str, float]]) -> None:
    counts, times = Counter(user for user, _ in window), sorted(took for _, took in window)
    assert int(result["n"]) == len(window)
    assert abs(int(result["users"]) - len(counts)) <= 0.08 * len(counts)
    assert counts["u1"] <= int(result["u1"]) <= counts["u1"] + 0.01 * len(window)
    exact = times[int(0.9 * (len(times) - 1))]
    assert abs(float(result["slow"]) - exact) <= 0.0101 * exact
    low = times[len(times) - 1 - int(0.9 * (len(times) - 1))]
    assert abs(-float(result["quick"]) - low) <= 0.0101 * low
    (first, often), (second, _) = counts.most_common(2)
    assert (result["first_user"], result["second_user"]) == (first, second)
    assert often <= int(result["first_count"]) <= often + len(window) / 64
    assert result["nobody"] == ""


def test_distinct_of_many(dfc, tmp_path: Path):
    """Far more items than registers."""
    (tmp_path / "many.dfl").write_text("""
app many
use std.sketch
record Item { id: u64 }
source items: Item = csv("items.csv")
stream found = items |> window count 50000 |> aggregate { n: distinct(id) }
sink out = found to csv("out.csv")
""")
    (tmp_path / "items.csv").write_text("id\n" + "".join(f"{i // 2}\n" for i in range(50000)))
    assert dfc("run", "many.dfl").returncode == 0
    (estimate,) = (tmp_path / "out.csv").read_text().split()[1:]
    assert abs(int(estimate) - 25000) <= 0.08 * 25000
