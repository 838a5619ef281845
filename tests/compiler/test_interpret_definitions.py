"""Random streams through the interpreter, against results taken straight from the definitions, without any
notion of events: all tuples are at hand, and every window is looked for in all of them."""

from __future__ import annotations

from dfc.compiler.interpret import run
from dfc.dsl.types import I64
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.hand_built import (
    MS,
    aggregate,
    bound,
    count_window,
    joined,
    program,
    readings,
    ref,
    session,
    source,
    time_window,
    windowed,
)

ROWS = st.lists(st.tuples(st.integers(-40, 40), st.integers(0, 2), st.integers(0, 9)), max_size=40)
SLACK = st.integers(0, 30)
SIZE = st.integers(1, 15)
VALUES = {"k": ref("k", I64), "n": aggregate("count", type_=I64), "first": aggregate("first", ref("x")),
          "last": aggregate("last", ref("x")), "high": aggregate("max", ref("x"))}


def on_time(rows, slack):
    """The tuples that are not late."""
    kept, watermark = [], None
    for row in rows:
        if watermark is None or row[0] >= watermark:
            kept.append(row)
        watermark = max(row[0] - slack, watermark) if watermark is not None else row[0] - slack
    return kept


def summary(key, tuples):
    """k, n, first, last, high of tuples in the order they arrived."""
    first = min(tuples, key=lambda row: row[0])
    last = max(reversed(tuples), key=lambda row: row[0])
    return (key, len(tuples), float(first[2]), float(last[2]), float(max(row[2] for row in tuples)))


def interpreted(rows, slack, window, **more):
    step = windowed("w", "s", window, ("k",), **VALUES, **more)
    return run(program(source(slack=slack), step), {"s": readings(*rows)}).rows["out"]


@given(ROWS, SLACK, SIZE, SIZE)
def test_time_windows(rows, slack, size, slide):
    kept, expected = on_time(rows, slack), []
    for k in range(-60 // slide - size, 60 // slide + size):
        for key in range(3):
            inside = [row for row in kept if row[1] == key and k * slide <= row[0] < k * slide + size]
            if inside:
                expected.append((*summary(key, inside), k * slide, k * slide + size))
    assert interpreted(rows, slack, time_window(size, slide), start=bound("start"), end=bound("end")) == expected


@given(ROWS, SLACK, SIZE)
def test_sessions(rows, slack, gap):
    kept, expected = on_time(rows, slack), []
    for key in range(3):
        mine = [row for row in kept if row[1] == key]
        times = sorted({row[0] for row in mine})
        starts = [time for i, time in enumerate(times) if i == 0 or time - times[i - 1] >= gap]
        for start, following in zip(starts, starts[1:] + [1000], strict=False):
            inside = [row for row in mine if start <= row[0] < following]
            expected.append((*summary(key, inside), start, max(row[0] for row in inside) + gap))
    expected.sort(key=lambda result: (result[-1], result[0]))
    assert interpreted(rows, slack, session(gap), start=bound("start"), end=bound("end")) == expected


@given(ROWS, SLACK, SIZE, SIZE, st.booleans())
def test_count_windows(rows, slack, size, slide, partial):
    kept, expected = on_time(rows, slack), []
    for i, (_, key, _) in enumerate(kept):
        mine = [row for row in kept[:i + 1] if row[1] == key]
        if partial and len(mine) % slide == 0:
            expected.append(summary(key, mine[-size:]))
        complete = [k for k in range(len(mine)) if k * slide + size == len(mine)]
        if not partial and complete:
            expected.append(summary(key, mine[-size:]))
    assert interpreted(rows, slack, count_window(size, slide, partial)) == expected


@given(ROWS, ROWS, SLACK, SIZE)
def test_joins(left, right, slack, within):
    step = joined("j", "a", "b", within, at=ref("ts", MS), met=ref("ts", MS, 1), x=ref("x"), y=ref("x", side=1))
    found = run(program(source("a", slack=slack), source("b", slack=slack), step),
                {"a": readings(*left), "b": readings(*right)}).rows["out"]
    assert sorted(found) == sorted(
        (a[0], b[0], float(a[2]), float(b[2])) for a in on_time(left, slack) for b in on_time(right, slack)
        if a[1] == b[1] and abs(a[0] - b[0]) <= within)
