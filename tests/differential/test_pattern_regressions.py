"""Patterns that once gave something else than the interpreter, or no C, each as small as it could be made."""

from __future__ import annotations

from pathlib import Path

import pytest
from dfc.compiler import interpret
from dfc.compiler.select.asked import Asked

from tests.differential import native
from tests.differential.test_patterns import with_parts

HEAD = "app regression\nrecord R { ts: timestamp<ms>, k: i32, v: i32 }\n" \
       'source in: R = csv("in.csv") event time ts slack 5ms\n'
INPUT = "ts,k,v\n" + "".join(f"{t + t // 90 * 60 - (t % 4) * 2},{t % 5},{(t * 7) % 11 - 3}\n" for t in range(0, 400, 2))
ACTIVE, SHARED, PANES = "window_farming:3,style=active", "window_partitioning:3", "pane_farming:2,3,merge=shuffled"

CASES = {
    "pairs of one event, joined in the thread that numbers them": (
        "stream sums = in |> by k |> window time 10ms |> aggregate { k, z: min(v) * 0, n: count() }\n"
        "stream other = sums\n"
        "stream pairs = sums |> join other by z within 20ms { b: other.k, n: other.n }\n"
        "stream twos = pairs |> by b |> window count 2 |> aggregate { b, n: sum(n) }\n"
        'sink out = twos to csv("out.csv")\n', ("twos=key_partitioning:3",)),
    "replicas that see everything, behind others": (
        "stream sums = in |> window time 10ms |> aggregate { v: sum(v) }\n"
        "stream again = sums |> window time 30ms |> aggregate { v: sum(v), n: count() }\n"
        'sink out = again to csv("out.csv")\n', (f"sums={ACTIVE}", f"again={ACTIVE}")),
    "a fault in a tuple that all replicas see": (
        "stream parts = in |> by k |> window count 4 slide 2 |> aggregate { k, q: sum(10 / v) }\n"
        'sink out = parts to csv("out.csv")\n', (f"parts={ACTIVE}",)),
    "keys that expire behind another segment": (
        "record Sum { k: i32, v: i64 }\n"
        "stream sums = in |> by k |> window count 2 |> aggregate { k, v: sum(v) }\n"
        "operator late on sums by k window count 3 slide 2 expire after 45ms -> Sum "
        "{ alternate a = { k, v: sum(v) } }\n"
        'sink out = late to csv("out.csv")\n', ("late=window_farming:2",)),
    "active replicas whose keys expire behind another segment": (
        "record Sum { k: i32, v: i64 }\n"
        "stream sums = in |> by k |> window count 2 |> aggregate { k, v: sum(v) }\n"
        "operator late on sums by k window count 3 slide 2 expire after 45ms -> Sum "
        "{ alternate a = { k, v: sum(v) } }\n"
        'sink out = late to csv("out.csv")\n', (f"late={ACTIVE}",)),
    "several alternates": (
        "record Sum { k: i32, v: i64 }\n"
        "operator sums on in by k window count 4 slide 2 -> Sum {\n"
        "  alternate one value 0.4 = { k, v: sum(v) }\n  alternate two value 0.9 = { k, v: max(v) }\n}\n"
        'sink out = sums to csv("out.csv")\n', (f"sums={PANES}",)),
    "faults of a second pass that the active alternate does not have": (
        "record Sum { k: i32, v: i64 }\n"
        "operator sums on in by k window count 4 slide 2 -> Sum {\n"
        "  alternate one value 0.9 = { k, v: sum(v) }\n"
        "  alternate two value 0.4 = { k, v: sum(if 10 / v > min(10 / v) then 1 else 0) }\n}\n"
        'sink out = sums to csv("out.csv")\n', (f"sums={SHARED}",)),
    "second passes of alternates that compare with different values": (
        "record Sum { k: i32, v: i64 }\n"
        "operator sums on in by k window count 4 slide 2 -> Sum {\n"
        "  alternate one value 0.9 = { k, v: sum(if v > min(v) then 1 else 0) }\n"
        "  alternate two value 0.4 = { k, v: sum(if v < max(v) then 1 else 0) }\n}\n"
        'sink out = sums to csv("out.csv")\n', ("sums=window_farming:2",)),
    "an argument that takes long and reads nothing, in panes": (
        "stream powers = in |> by k |> window time 10ms slide 4ms |> aggregate { k, e: max(exp(1.0)) }\n"
        'sink out = powers to csv("out.csv")\n', (f"powers={PANES}",)),
    "nothing is aggregated, in panes": (
        "stream bounds = in |> by k |> window time 10ms slide 4ms |> aggregate { k, from: window_start }\n"
        'sink out = bounds to csv("out.csv")\n', (f"bounds={PANES}",)),
    "nothing is aggregated, in shares": (
        "stream bounds = in |> by k |> window time 10ms slide 4ms |> aggregate { k, from: window_start }\n"
        'sink out = bounds to csv("out.csv")\n', (f"bounds={SHARED}",)),
    "nothing is aggregated, in whole windows": (
        "stream bounds = in |> by k |> window time 10ms slide 4ms |> aggregate { k, from: window_start }\n"
        'sink out = bounds to csv("out.csv")\n', ("bounds=window_farming:3",)),
    "values of tuples where panes are merged": (
        "stream sums = in |> window count 6 slide 4 |> aggregate { a: sum(v * 3 + k), b: max(v - k) }\n"
        'sink out = sums to csv("out.csv")\n', (f"sums={PANES}",)),
    "batches on demand": (
        "stream sums = in |> by k |> window count 3 slide 1 |> aggregate { k, m: median(v) }\n"
        'sink out = sums to csv("out.csv")\n', ("sums=window_farming:4,batch=3,schedule=on_demand",)),
}


@pytest.mark.parametrize("name", CASES)
def test_regression(name: str, tmp_path: Path) -> None:
    text, words = CASES[name]
    program = native.build(HEAD + text, tmp_path, 7, Asked(patterns=words))
    (tmp_path / "in.csv").write_text(INPUT)
    expected = interpret.run(program.typed, folder=tmp_path)
    assert all(expected.rows.values())
    for layout in ((), ("--layout", "fused"), ("--workers", "5")):
        native.compare(program, expected, with_parts(native.run(program, list(layout))))


def test_planned_degrees_are_run(tmp_path: Path) -> None:
    """Also those of key partitioning."""
    text = ("stream sums = in |> by k |> window count 3 |> aggregate { k, v: sum(v) }\n"
            'sink out = sums to csv("out.csv")\n')
    (tmp_path / "in.csv").write_text(INPUT)
    program = native.build(HEAD + text, tmp_path, 0, Asked(patterns=("sums=key_partitioning:4",)))
    assert native.run(program, [])["threads"] >= 6
