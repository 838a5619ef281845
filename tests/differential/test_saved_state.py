"""A program that is saved and goes on as another instance gives, to the last bit, what it gives without.

One program a kind of state, then random programs. DFC_TEST_SEED repeats a run. What is loaded may be damaged: under the
address sanitizer (DFC_SANITIZE=address) the fuzzer below finds what would read or write beside it.
"""

from __future__ import annotations

import os
import random

import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.runnable import NotRunnable
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.differential.more_programs import MoreCase, more_cases
from tests.differential.native import Different
from tests.differential.saved import build, drive
from tests.differential.test_moved_state import HEAD, STEPS, rows

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
MORE = """\
app more
record Row { ts: timestamp<ms>, s: symbol, note: text<6>, b: bool, v: i16[3], w: f32 }
source rows: Row = csv("rows.csv") event time ts slack auto late to tardy
"""
TEXTS = {
    "strings": MORE + """\
stream s = rows |> by s, b |> window time 40ms slide 25ms |> aggregate { s, b, a: first(note), z: last(s), n: count() }
stream u = rows |> by note |> scan { note, z: last(s), m: max(w), q: stddev(w) }
sink a = s to csv("a.csv")
sink b = u to csv("b.csv")
sink c = tardy to csv("c.csv")
""",
    "whole": MORE + """\
stream s = rows |> window count 12 slide 1 |> aggregate { n: count(), m: avg(w), l: last(note) }
stream u = rows |> window time 30ms |> aggregate { q: quantile(w, 0.3), e: ewma(w, 0.5) }
sink a = s to csv("a.csv")
sink b = u to csv("b.csv")
""",
    "updates": MORE + """\
stream s = rows |> by s |> update { seen: text<6> = "", n: i64 = 0, on: bool = false }
  with { seen: note, n: n + v[1], on: b } emit { s, seen, n, on }
sink a = s to csv("a.csv")
""",
    "own_aggregate": """\
app own
record Row { ts: timestamp<ms>, k: i32, v: i64, w: f64 }
source rows: Row = csv("rows.csv") event time ts slack 20ms
aggregate spread(x: f64) -> f64 {
  state { low: f64, high: f64 }
  lift { low: x, high: x }
  combine { low: if left.low < right.low then left.low else right.low, high: left.high + right.high }
  lower high - low
}
stream s = rows |> by k |> window time 50ms slide 20ms |> aggregate { k, a: spread(w) }
stream u = rows |> by k |> window count 9 slide 4 |> aggregate { k, a: spread(w), m: median(w) }
sink a = s to csv("a.csv")
sink b = u to csv("b.csv")
""",
    "untimed": """\
app untimed
record Row { ts: i64, k: i32, v: i64, w: f64 }
source rows: Row = csv("rows.csv")
stream s = rows |> by k |> window count 5 slide 2 |> aggregate { k, a: sum(v), b: stddev(w) }
stream u = rows |> window count 6 slide 1 |> aggregate { a: sum(v), m: max(w) }
sink a = s to csv("a.csv")
sink b = u to csv("b.csv")
""",
}


def more_rows(rng: random.Random, count: int) -> bytes:
    lines, now = ["ts,s,note,b,v[0],v[1],v[2],w"], 0
    for number in range(count):
        now += rng.randrange(4)
        on = rng.choice(("true", "false"))
        lines.append(f"{now - rng.randrange(12)},ü{rng.randrange(5)},n{rng.randrange(9)},{on},"
                     f"{number % 7},{-number},{rng.randrange(99)},{rng.randrange(400) / 8}")
    return "".join(f"{line}\n" for line in lines).encode()


def program(kind: str) -> str:
    if kind in TEXTS:
        return TEXTS[kind]
    steps = STEPS[kind]
    sinks = [f'sink out_{name} = {name} to csv("out_{name}.csv")' for name in ("s", "u")
             if f"stream {name} =" in steps or f"operator {name} " in steps]
    return "\n".join([HEAD, steps, *sinks, ""])


def inputs(kind: str, rng: random.Random, count: int = 700) -> dict[str, bytes]:
    if TEXTS.get(kind, "").startswith("app more"):
        return {"rows.csv": more_rows(rng, count)}
    return {"rows.csv": rows(rng, count, 30), "others.csv": rows(rng, count, 30)}


KINDS = [*STEPS, *TEXTS]


@pytest.mark.parametrize("kind", [kind if i % 2 else pytest.param(kind, marks=pytest.mark.slow)
                                  for i, kind in enumerate(KINDS)])
def test_saved_state(kind: str, tmp_path) -> None:
    rng = random.Random(f"{SEED} {kind}")
    slacks = build(program(kind), tmp_path)
    for _ in range(3):
        number = rng.randrange(1 << 32)
        try:
            said = drive(tmp_path, "check", number, slacks, inputs(kind, rng))
        except Different as different:
            raise Different(f"DFC_TEST_SEED={SEED}: {different}") from different
        assert not said.startswith("equal: 0 bytes"), said


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_state(kind: str, tmp_path) -> None:
    """Some of it is taken for state, most is refused, and nothing goes beside its memory."""
    rng = random.Random(f"{SEED} {kind}")
    slacks = build(program(kind), tmp_path)
    for _ in range(int(os.environ.get("DFC_FUZZ_RUNS", "3"))):
        number = rng.randrange(1 << 32)
        try:
            said = drive(tmp_path, "fuzz", number, slacks, inputs(kind, rng, 300))
        except Different as different:
            raise Different(f"DFC_TEST_SEED={SEED}: {different}") from different
        assert said.startswith("fuzzed:"), said


def try_programs(folder, count: int) -> None:
    built: dict[str, tuple | None] = {}

    @seed(SEED)
    @settings(max_examples=count, deadline=None, database=None, report_multiple_bugs=False,
              phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(more_cases())
    def try_one(case: MoreCase) -> None:
        if case.text not in built:
            place = folder / str(len(built))
            place.mkdir()
            try:
                built[case.text] = place, build(case.text, place, case.c)
            except NotRunnable:  # aggregates in C, processing time
                built[case.text] = None
        if built[case.text] is not None:
            place, slacks = built[case.text]
            for files in case.inputs:
                drive(place, "check", SEED, slacks, files)

    try:
        try_one()
    except Different as wrong:
        raise Different(f"DFC_TEST_SEED={SEED}: {wrong}") from wrong


def test_some_random_programs(tmp_path) -> None:
    try_programs(tmp_path, 4)


@pytest.mark.slow
def test_many_random_programs(tmp_path) -> None:
    try_programs(tmp_path, int(os.environ.get("DFC_SOAK_PROGRAMS", "100")))


@pytest.mark.parametrize("text, why", [
    ('app a\nrecord R { v: f64 }\nsource r: R = csv("r.csv")\naggregate spread(x: f64) -> f64 = c("s.c", "spread")\n'
     'stream s = r |> window count 3 |> aggregate { n: spread(v) }\nsink o = s to csv("o.csv")\n',
     "known to its C only"),
    ('app a\nrecord R { v: f64 }\nsource r: R = csv("r.csv") processing time\n'
     'stream s = r |> window time 3s |> aggregate { n: sum(v) }\nsink o = s to csv("o.csv")\n', "processing time"),
])
def test_what_cannot_be_saved_is_refused(text: str, why: str) -> None:
    with pytest.raises(NotRunnable) as refused:
        pipeline.generate(text, "a.dfl", {}, saves=True)
    (found,) = refused.value.diagnostics.items
    assert found.code == "E0814" and why in found.message
