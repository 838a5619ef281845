"""Programs in parts give what they give in one piece: random programs, tiny ranges, watermarks. No Spark."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler.spark.placement import KEYS, ONE, OVERLAP, RANGES, Placement  # noqa: E402

from tests.differential.programs import Case, cases  # noqa: E402
from tests.differential.trying import SEED, try_examples  # noqa: E402
from tests.rows import difference, read_table  # noqa: E402
from tests.spark.divided import Local, build  # noqa: E402

WHOLE = Placement(ONE, "to compare with")


def tables(folder: Path, names) -> dict[str, tuple]:
    return {name: read_table(folder / f"{name}.csv") for name in names}


def check(program, files: dict[str, bytes], folder: Path, alternates=(), range_bytes: int = 200) -> str:
    """The mode in which it ran; raises AssertionError when the parts give something else."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    names = [port.name for port in program.interface.sinks]
    Local(program, folder, alternates).run(WHOLE)
    expected = tables(folder, names)
    found = Local(program, folder, alternates, range_bytes).run()
    for name, (header, rows) in tables(folder, names).items():
        assert header == expected[name][0]
        assert not difference(expected[name][1], rows), f"{found}: sink {name}: {difference(expected[name][1], rows)}"
    return found.mode


def try_programs(folder: Path, count: int, part: int = 0) -> dict[str, int]:
    built, modes = {}, {}

    def try_one(case: Case) -> None:
        if case.text not in built:
            built[case.text] = build(case.text)
        for files, chosen in zip(case.inputs, case.choices, strict=True):
            mode = check(built[case.text], files, folder / "case", chosen)
            modes[mode] = modes.get(mode, 0) + 1

    try:
        try_examples(try_one, part, count, cases(), shrink=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return modes


GENERATED = """\
app generated
record Item { ts: timestamp<ms>, key: symbol, v: i64 }
source items: Item = generate(count: 3000, rate: 1k/s, start: 0, keys: 7, disorder: 60ms, v: 1..9)
  event time ts slack 20ms late to tardy
stream runs = items |> by key |> scan { ts, key, n: count(), total: sum(v) }
stream sums = items |> by key |> window time 1s slide 300ms |> aggregate { key, at: window_start, n: count() }
sink a = runs to csv("a.csv")
sink b = sums to csv("b.csv")
sink late = tardy to csv("late.csv")
"""


def test_generated_tuples(tmp_path):
    assert check(build(GENERATED), {}, tmp_path / "case") == KEYS
    assert all(len(read_table(tmp_path / "case" / f"{name}.csv")[1]) > 50 for name in ("a", "b", "late"))


TWO = """\
app two
record Item {{ ts: timestamp<ms>, key: i64 }}
source left: Item = csv("left.csv") {time}
source right: Item = csv("right.csv") {time}
stream runs = left |> map {{ ts, key, from: "left" }} |> union both |> by key |> scan {{ ts, key, from, n: count() }}
stream both = right |> map {{ ts, key, from: "right" }}
sink a = runs to csv("a.csv")
"""


@pytest.mark.parametrize("time", ["event time ts slack 9ms", "event time ts slack auto", ""])
def test_two_sources_meet_in_the_order_of_the_program(tmp_path, time):
    """The running count tells which tuple came before which, and the file has the native order."""
    chance = random.Random(SEED)
    files = {f"{name}.csv": "\n".join(["ts,key", *(f"{number * step - chance.randrange(30)},{chance.randrange(5)}"
                                                  for number in range(400))]).encode()
             for name, step in (("left", 5), ("right", 8))}
    program, folder = build(TWO.format(time=time)), tmp_path / "case"
    assert check(program, files, folder) == KEYS, f"DFC_TEST_SEED={SEED}"
    divided = (folder / "a.csv").read_bytes()
    Local(program, folder).run(WHOLE)
    assert divided == (folder / "a.csv").read_bytes(), f"DFC_TEST_SEED={SEED}"


CUT = """\
app cut
record Item {{ ts: timestamp<ms>, key: i64, v: f64 }}
source items: Item = csv("items.csv") {time}
{streams}
sink a = s to csv("a.csv")
"""
TIMES = {"slack": "event time ts slack 40ms late to tardy", "auto": "event time ts slack auto late to tardy"}
TIMED = {
    "tumbling": "stream s = items |> window time 100ms |> aggregate { start: window_start, n: count(), v: sum(v) }",
    "sliding": "stream s = items |> filter key != 2 |> map { ts, w: v } |> window time 170ms slide 30ms "
               "|> aggregate { start: window_start, n: count(), first: first(w), last: last(w) }",
    "every tuple": "stream s = items |> window time 50ms every tuple |> aggregate { n: count(), top: max(v) }",
    "computed keys": "stream s = items |> map { k: key % 2, v } |> by k |> window time 120ms slide 60ms "
                     "|> aggregate { k, start: window_start, v: max(v) }",
    "two": "stream t = items |> window time 500ms |> aggregate { n: count() }\n"
           "sink b = t to csv(\"b.csv\")\nstream s = items |> window time 40ms |> aggregate { v: min(v) }",
}
COUNTED = {
    "tumbling": "stream s = items |> window count 30 |> aggregate { n: count(), first: first(v), v: sum(v) }",
    "sliding": "stream s = items |> map { w: v } |> window count 70 slide 20 |> aggregate { v: sum(w), last: last(w) }",
    "partial": "stream s = items |> window count 70 slide 15 partial |> aggregate { n: count(), v: max(v) }",
    "apart": "stream s = items |> window count 3 slide 40 |> aggregate { n: count(), v: max(v) }",
    "every tuple": "stream s = items |> window count 9 every tuple |> aggregate { n: count(), v: sum(v) }",
}


def items(gap: int) -> bytes:
    """Disordered; one gap is longer than all windows, so that the watermark jumps."""
    chance = random.Random(SEED)
    rows = [f"{number * 4 + gap * (number > 300) - chance.randrange(60)},{chance.randrange(5)},{chance.randrange(99)}"
            for number in range(600)]
    return "\n".join(["ts,key,v", *rows]).encode()


def some(names, kept: set[str]) -> list:
    """The others are slow tests: each program is compiled."""
    return [pytest.param(name, marks=() if name in kept else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("time", some(TIMES, {"slack"}))
@pytest.mark.parametrize("name", some(TIMED, {"sliding", "every tuple"}))
def test_time_windows_are_cut_by_ranges(tmp_path, name, time):
    program = build(CUT.format(time=TIMES[time], streams=TIMED[name] + '\nsink late = tardy to csv("late.csv")'))
    for number, (gap, size) in enumerate(((0, 300), (5000, 90), (5000, 2000))):
        folder = tmp_path / f"case{number}"
        assert check(program, {"items.csv": items(gap)}, folder, range_bytes=size) == OVERLAP, f"DFC_TEST_SEED={SEED}"
    assert len(read_table(folder / "a.csv")[1]) > 5


@pytest.mark.parametrize("name", some(COUNTED, {"sliding", "partial"}))
def test_count_windows_are_cut_by_ranges(tmp_path, name):
    program, folder = build(CUT.format(time="", streams=COUNTED[name])), tmp_path / "case"
    for size in (60, 300, 4000):
        assert check(program, {"items.csv": items(0)}, folder, range_bytes=size) == OVERLAP, f"DFC_TEST_SEED={SEED}"
    cut = (folder / "a.csv").read_bytes()
    Local(program, folder).run(WHOLE)
    assert cut == (folder / "a.csv").read_bytes() and cut.count(b"\n") > 5


def test_some_random_programs(tmp_path):
    try_programs(tmp_path / "random", 4)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_random_programs(tmp_path, part):
    modes = try_programs(tmp_path / "random", int(os.environ.get("DFC_SOAK_PROGRAMS", "100")), part)
    assert {KEYS, ONE, RANGES} <= modes.keys(), modes
