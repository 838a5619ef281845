"""A stream in parts: each instance sees some keys, and the watermarks of the whole stream."""

from __future__ import annotations

import os

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402

SEED = int(os.environ.get("DFC_TEST_SEED", "20"))
PROGRAM = """\
app parts
record Item {{ ts: timestamp<ms>, key: i32, v: i64 }}
source items: Item = csv("items.csv") event time ts {slack} late to tardy
stream sums = items |> by key |> window time 20ms |> aggregate {{ key, at: window_start, n: count(), v: sum(v) }}
stream runs = items |> by key |> update {{ n: i64 = 0 }} with {{ n: n + 1 }} emit {{ key, v, n }} expire after 15ms
stream visits = items |> by key |> window session gap 7ms |> aggregate {{ key, n: count(), till: window_end }}
sink a = sums to csv("a.csv")
sink b = runs to csv("b.csv")
sink c = visits to csv("c.csv")
sink late = tardy to csv("late.csv")
"""
BIG = 1 << 62


def items(count: int = 3000) -> np.ndarray:
    random = np.random.default_rng(SEED)
    found = np.zeros(count, [("ts", "i8"), ("key", "i4"), ("v", "i8")])
    found["ts"] = np.arange(count) * 2 - random.integers(0, 40, count) * (random.random(count) < 0.2)
    found["key"], found["v"] = random.integers(0, 9, count), np.arange(count)
    found["ts"][[100, 1700]] = BIG + 1, -BIG - 1  # beyond the axis: late, and moves nothing
    return found


def watermarks(times: np.ndarray, slack: int | None) -> np.ndarray:
    """Before each tuple, by the rule of the language; None is `slack auto`."""
    found, highest, measured, mark = [], None, 0, -(1 << 63)
    for time in times.tolist():
        found.append(mark)
        if abs(time) > BIG:
            continue
        highest = time if highest is None else max(highest, time)
        measured = max(measured, highest - time)
        mark = max(mark, highest - (measured if slack is None else slack))
    return np.array(found, dtype="i8")


def rows(results: dict) -> dict[str, list[tuple]]:
    return {name: [tuple(row) for row in part.view(np.ndarray).tolist()] for name, part in results.items()}


@pytest.mark.parametrize(("slack", "words"), [(0, ""), (10, "slack 10ms"), (None, "slack auto")])
@pytest.mark.parametrize("workers", [1, 2])
def test_parts_with_the_watermarks_of_the_whole_give_the_whole(slack, words, workers):
    program, whole = dfc.load(PROGRAM.format(slack=words), workers=workers), items()
    marks, found = watermarks(whole["ts"], slack), {name: [] for name in program.sinks}
    for part in range(3):
        mine = whole["key"] % 3 == part
        with program.open() as stream:
            stream.push_at("items", np.ascontiguousarray(whole[mine]), marks[mine])
            for name, some in rows(stream.drain()).items():
                found[name] += some
    expected = rows(program.run(items=whole))
    assert {name: sorted(some, key=repr) for name, some in found.items()} == \
        {name: sorted(some, key=repr) for name, some in expected.items()}, f"DFC_TEST_SEED={SEED}"
    assert len(expected["late"]) > 2 and len(expected["a"]) > 100
    for key in range(9):  # and each key in its order
        assert [row for row in found["b"] if row[0] == key] == [row for row in expected["b"] if row[0] == key]


def test_a_watermark_for_each_tuple():
    program = dfc.load(PROGRAM.format(slack=""))
    with program.open() as stream, pytest.raises(dfc.BadData, match="a watermark for each of 3000 tuples, got 2"):
        stream.push_at("items", items(), [1, 2])
