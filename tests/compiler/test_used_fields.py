"""Which fields of a source anything looks at: what a generator need not draw."""

from __future__ import annotations

from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.used import used_fields

from tests.differential.native import build, check_inputs

HEAD = """app used
record R { ts: timestamp<ms>, a: i64, b: f64, c: i64, d: bool, e: symbol, v: f64[2] }
source in: R = generate(count: 400, rate: 1000/s, keys: 7, disorder: 5ms, b: 1.0..9.0)
source timed: R = generate(count: 300, rate: 700/s, keys: 7, disorder: 9ms, seed: 5) event time ts late to tardy
"""
CASES = {
    "a map": ('stream s = in |> map { x: b * 2.0, k: v[1] }\n', "in", "b v"),
    "a filter and what comes after it": ("stream s = in |> filter d |> map { a }\n", "in", "a d"),
    "a filter before a sink": ("stream s = in |> filter d\n", "in", "ts a b c d e v"),
    "outlets of a split": (
        "split in into few when a < 3, some when c < 5, rest otherwise\nstream s = rest |> map { b }\n", "in", "a b c"),
    "a scan": ("stream s = in |> by e |> scan { n: count(), top: max(b) }\n", "in", "b e"),
    "a state": (
        "stream s = in |> by c |> update { n: i64 = 0 } with { n: n + a } emit { n, b }\n", "in", "a b c"),
    "a count window": ("stream s = in |> by a |> window count 5 |> aggregate { total: sum(b) }\n", "in", "a b"),
    "a delta window": ("stream s = in |> window delta 0.5 of b |> aggregate { n: count(), x: last(a) }\n", "in", "a b"),
    "nothing but the number of tuples": ("stream s = in |> window count 10 |> aggregate { n: count() }\n", "in", ""),
    "event time": ("stream s = timed |> window time 50ms |> aggregate { n: count() }\n", "timed", "ts"),
    "late tuples": (
        "stream n = timed |> window time 50ms |> aggregate { n: count() }\nstream s = tardy |> map { a }\n"
        'sink other = n to csv("other.csv")\n', "timed", "ts a"),
    "both sides of a join": (
        "stream right_ = timed |> filter d\n"
        "stream s = timed |> join right_ by a within 3ms { x: timed.b, y: right_.c }\n", "timed", "ts a b c d"),
    "the slow side of a broadcast": (
        "stream s = in |> broadcast timed { x: in.a, y: timed.e }\n", "timed", "ts e"),
    "a union": ("stream other = in |> filter a > 2\nstream s = in |> union other |> map { b, c }\n", "in", "a b c"),
}


@pytest.mark.parametrize("case", CASES)
def test_used_fields(case: str) -> None:
    text, name, expected = CASES[case]
    graph = pipeline.flow(pipeline.check(f'{HEAD}{text}sink out = s to csv("out.csv")\n', "program.dfl", {}))
    assert used_fields(graph, graph.step(name)) == set(expected.split())


def test_c_sees_the_whole_tuple() -> None:
    text = 'record Out { x: f64 }\noperator s on in -> Out {\n  alternate only = c("own.c", "own")\n}\n'
    graph = pipeline.flow(pipeline.check(f'{HEAD}{text}sink out = s to csv("out.csv")\n', "program.dfl", {}))
    assert used_fields(graph, graph.step("in")) == set("ts a b c d e v".split())


def test_c_sees_the_columns_that_it_names_and_the_key() -> None:
    text = ('record Out { x: f64 }\noperator s on in by c window count 5 -> Out {\n'
            '  alternate one columns b = c("own.c", "one")\n  alternate two columns v = c("own.c", "two")\n}\n')
    graph = pipeline.flow(pipeline.check(f'{HEAD}{text}sink out = s to csv("out.csv")\n', "program.dfl", {}))
    assert used_fields(graph, graph.step("in")) == {"b", "c", "v"}


@pytest.mark.parametrize("case", CASES)
def test_fields_that_are_not_drawn_change_nothing(case: str, tmp_path: Path) -> None:
    check_inputs(build(f'{HEAD}{CASES[case][0]}sink out = s to csv("out.csv")\n', tmp_path, 0), {})
