"""Every kind of keyed state moves between replicas, again and again, and no result shows it.

One program a kind, a long input, and many changes at random rounds. DFC_TEST_SEED repeats a run.
"""

from __future__ import annotations

import random

import pytest

from tests.differential.native import Different
from tests.differential.pattern_programs import PatternCase
from tests.differential.test_reconfiguration import MOST, Changes, check_case, hash_of
from tests.differential.trying import SEED

HEAD = """app moved
record Row { ts: timestamp<ms>, k: i32, v: i64, w: f64 }
record Out { k: i32, a: f64, b: i64 }
source rows: Row = csv("rows.csv") event time ts slack 20ms
source others: Row = csv("others.csv") event time ts slack 20ms
"""
STEPS = {
    "count_panes": "stream s = rows |> by k |> window count 7 slide 3 |> aggregate { k, a: sum(v), b: max(w) }",
    "count_kept": "stream s = rows |> by k |> window count 9 slide 4 partial |> aggregate { k, a: median(w) }",
    "time_panes": "stream s = rows |> by k |> window time 50ms slide 20ms |> aggregate { k, a: sum(v), b: stddev(w) }",
    "time_kept": "stream s = rows |> by k |> window time 50ms slide 20ms |> aggregate { k, a: median(w), n: count() }",
    "sessions": "stream s = rows |> by k |> window session gap 15ms |> aggregate { k, a: sum(v), n: count() }",
    "sessions_kept": "stream s = rows |> by k |> window session gap 15ms |> aggregate { k, a: median(w) }",
    "delta": "stream s = rows |> by k |> window delta 12 of v |> aggregate { k, a: sum(v), n: count() }",
    "delta_kept": "stream s = rows |> by k |> window delta 12 of v |> aggregate { k, a: median(w) }",
    "moving": "stream s = rows |> by k |> window time 40ms every tuple |> aggregate { k, a: sum(v), b: max(w) }",
    "moving_kept": "stream s = rows |> by k |> window time 40ms every tuple |> aggregate { k, a: median(w) }",
    "scan": "stream s = rows |> by k |> scan { k, a: sum(v), n: count() }",
    "scan_kept": "stream s = rows |> by k |> scan { k, a: median(w) }",
    "update": "stream s = rows |> by k |> update { n: i64 = 0 } with { n: n * 3 + v } emit { k, n }",
    "update_expires":
        "stream s = rows |> by k |> update { n: i64 = 0 } with { n: n + v } emit { k, n } expire after 30ms",
    "count_expires": "operator s on rows by k window count 4 slide 2 expire after 30ms -> Out "
                     "{ alternate only = { k, a: avg(w), b: sum(v) } }",
    "moving_expires": "operator s on rows by k window time 40ms every tuple expire after 30ms -> Out "
                      "{ alternate only = { k, a: avg(w), b: sum(v) } }",
    "join": "stream s = rows |> join others by k within 10ms { k: rows.k, a: rows.v, b: others.v }",
    "join_itself": "stream l = rows |> filter v > 3\n"
                   "stream s = l |> join rows by k within 5ms { k: l.k, a: l.v, b: rows.v }",
    "shared_counts": "stream s = rows |> by k |> window count 6 slide 2 |> aggregate { k, a: sum(v) }\n"
                     "stream u = rows |> by k |> window count 10 slide 5 |> aggregate { k, a: avg(w) }",
    "shared_times": "stream s = rows |> by k |> window time 40ms slide 10ms |> aggregate { k, a: sum(v) }\n"
                    "stream u = rows |> by k |> window time 90ms slide 30ms |> aggregate { k, a: avg(w) }",
    "one_after_another": "stream t = rows |> by k |> window time 20ms |> aggregate { k, v: sum(v) }\n"
                         "stream s = t |> by k |> window time 60ms slide 20ms |> aggregate { k, a: median(v) }",
    "farm": "stream s = rows |> filter v > 1 |> map { k, a: v * 2 }",
    "broadcast": "stream s = rows |> broadcast others { k: rows.k, a: rows.v + others.v }",
}
SINKS = ("s", "u")


def rows(rng: random.Random, count: int, keys: int) -> bytes:
    lines, now = ["ts,k,v,w"], 1000
    for _ in range(count):
        now += rng.choice((0, 0, 1, 1, 2, 30 if rng.random() < 0.05 else 0))
        key = min(rng.randrange(keys), rng.randrange(keys))
        lines.append(f"{now - rng.randrange(15)},{key},{rng.randrange(40)},{rng.randrange(400) / 4}")
    return "".join(f"{line}\n" for line in lines).encode()


def random_changes(rng: random.Random, last_round: int) -> Changes:
    lines = []
    for at in sorted(rng.randrange(last_round) for _ in range(rng.randrange(3, 25))):
        workers = rng.randrange(1, MOST + 1)
        rest = f"protocol={rng.choice(('fluent', 'fluent', 'r-blk', 's-blk'))}"
        rest += f" seed={rng.randrange(1000)}" if rng.random() < 0.5 else ""
        if rng.random() < 0.5:
            keys = rng.sample(range(40), rng.randrange(1, 8))
            rest += " heavy=" + ",".join(f"{hash_of(key)}:{rng.randrange(workers)}" for key in keys)
        lines.append((at, workers, rng.randrange(6), rest))
    return Changes(rng.randrange(1, MOST + 1), tuple(lines))


@pytest.mark.parametrize("kind", [kind if i % 2 == 0 else pytest.param(kind, marks=pytest.mark.slow)
                                  for i, kind in enumerate(STEPS)])
def test_moved_state(kind: str) -> None:
    rng = random.Random(f"{SEED} {kind}")
    steps = STEPS[kind]
    sinks = [f'sink out_{name} = {name} to csv("out_{name}.csv")' for name in SINKS
             if f"stream {name} =" in steps or f"operator {name} " in steps]
    text = "\n".join([HEAD, steps, *sinks, "control off", ""])
    files = {"rows.csv": rows(rng, 1200, 30), "others.csv": rows(rng, 1200, 30)}
    case = PatternCase(text, (), (), (files,), ((),), "extern int unused;")
    try:
        check_case(case, [random_changes(rng, 1200 // 7) for _ in range(6)], 7)
    except Different as different:
        raise Different(f"DFC_TEST_SEED={SEED}: {different}") from different
