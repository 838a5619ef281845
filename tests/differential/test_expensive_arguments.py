"""Arguments of aggregates that take long are computed by workers, with the results and the faults of the interpreter.

A fault counts once a tuple, also where windows overlap, where a tuple is in none that is complete, and where the same
division stands in two arguments.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from dfc.compiler import interpret
from dfc.compiler.select.asked import Asked

from tests.differential import native
from tests.differential.test_patterns import with_parts

HEAD = """app expensive
use std.text
record R { ts: timestamp<ms>, k: i32, v: i32, name: text<8>, many: f64[3] }
record Out { k: i32, a: f64, b: f64, c: f64, d: i64 }
source in: R = csv("in.csv") event time ts slack 5ms
fn wave(x: f64) -> f64 = exp(sin(x) * cos(x * 2.0))
fn part(a: i64, b: i64) -> i64 = a / b
aggregate energy(x: f64, w: f64) -> f64 associative commutative {
  state { a: f64, n: i64 } lift { a: wave(x) * w, n: 1 } combine { a: left.a + right.a, n: left.n + right.n }
  lower a / f64(n)
}
aggregate third(v: i64) -> f64 associative commutative {
  state { a: f64 } lift { a: wave(f64(100 / v)) } combine { a: left.a + right.a } lower a
}
aggregate longest(t: text<8>) -> text<8> associative commutative {
  state { t: text<8>, n: i64 } lift { t: upper(t), n: length(t) }
  combine { t: if left.n > right.n or left.n == right.n and left.t <= right.t then left.t else right.t,
            n: greatest(left.n, right.n) }
  lower t
}
"""
INPUT = "ts,k,v,name,many[0],many[1],many[2]\n" + "".join(
    f"{t + t // 90 * 60 - (t % 4) * 2},{t % 3},{(t * 7) % 11 - 3},{'n' * (t % 7)}{t % 5},{t % 9},{t % 4}.5,{t % 2}\n"
    for t in range(0, 400, 2))
BODY = """{ k, mean: avg(wave(f64(v))), top: max(wave(f64(v))), spread: stddev(wave(many[1]) + many[2]),
  quotient: sum(wave(f64(10 / v))), again: sum(wave(f64(10 / v)) - wave(f64(part(10, v)))), plain: sum(10 / v),
  chosen: sum(if v != 0 then wave(f64(7 / v)) else 0.5), picked: sum(wave(many[v])), first: first(upper(name)),
  low: min(wave(f64(k - v)) * 0.5), energy: energy(wave(f64(v)), f64(10 / v)), other: energy(many[0], many[2]),
  third: third(v), fourth: third(10 / v), fifth: sum(i64(wave(f64(9 / v)) * 10.0)),
  sixth: third(i64(wave(f64(9 / v)) * 10.0)), longest: longest(name),
  compared: sum(if f64(v) > avg(wave(f64(v))) then 1 else 0) }"""
FOLDED = BODY[:BODY.index(",\n  compared")] + " }"
ONE_BY_ONE = FOLDED.replace("first(upper(name))", "min(length(upper(name)))")
WINDOWS = ("count 4", "count 6 slide 2", "count 3 slide 5", "time 20ms", "time 30ms slide 10ms", "time 10ms slide 25ms")
TIMES = tuple(window for window in WINDOWS if window.startswith("time"))

CASES = {
    "whole windows, as many workers as windows overlap": (BODY, WINDOWS, "window_farming:3,style=agnostic", "total"),
    "whole windows, more workers than windows overlap": (BODY, WINDOWS, "window_farming:4,style=agnostic", "free"),
    "batches in turn": (BODY, WINDOWS, "window_farming:5,batch=3,schedule=round_robin,style=agnostic", "total"),
    "panes": (FOLDED, TIMES, "pane_farming:3", "total"),
    "panes merged by others": (FOLDED, TIMES, "pane_farming:2,2,merge=shuffled", "free"),
    "panes in a ring": (FOLDED, TIMES, "pane_farming:3,merge=ring", "free"),
    "parts of windows": (FOLDED, WINDOWS, "window_partitioning:4,partition=contiguous", "total"),
    "every n-th tuple": (ONE_BY_ONE, WINDOWS, "window_partitioning:2,partition=round_robin", "total"),
    "a second pass": (BODY, WINDOWS, "window_partitioning:4,partition=contiguous,reduce=synchronous", "total"),
    "teams": (FOLDED, WINDOWS, "nesting:2,2", "total"),
}


def check(text: str, words: tuple[str, ...], folder: Path, *lines: tuple[str, ...],
          active: tuple[str, str] = ()) -> None:
    program = native.build(HEAD + text, folder, 7, Asked(patterns=words))
    (folder / "in.csv").write_text(INPUT)
    expected = interpret.run(program.typed, folder=folder, active=dict([active] if active else ()))
    assert all(expected.rows.values()) and any(one.faults for one in expected.counters.values())
    chosen = ["--alternate", "=".join(active)] if active else []
    for line in lines:
        native.compare(program, expected, with_parts(native.run(program, [*line, *chosen])))


@pytest.mark.parametrize("name", CASES)
def test_workers_compute_arguments(name: str, tmp_path: Path) -> None:
    body, windows, pattern, order = CASES[name]
    text = "".join(f"stream s{i} = in |> by k |> window {window} |> aggregate {body}\n"
                   f'sink out{i} = s{i} to csv("out{i}.csv") order {order}\n' for i, window in enumerate(windows))
    words = tuple(f"s{i}={pattern}" for i in range(len(windows)))
    check(text, words, tmp_path, (), ("--layout", "fused"), ("--workers", "2"))


ALTERNATES = """operator w on in by k window count 6 slide 3 -> Out {
  alternate middle value 0.9 = { k, a: median(wave(f64(v))), b: quantile(wave(f64(v)), 0.9), c: avg(wave(f64(v))),
    d: sum(10 / v) }
  alternate quick value 0.5 = { k, a: median(wave(f64(10 / v))), b: ewma(many[1], 0.3), c: energy(many[0], 1.0),
    d: count() }
  alternate last value 0.4 = { k, a: third(v), b: wave(f64(k)), c: max(many[1]), d: i64(sum(wave(many[v]))) }
}
sink out = w to csv("out.csv")
"""


@pytest.mark.parametrize("alternate", ("middle", "quick", "last"))
def test_each_alternate_has_what_it_reads(alternate: str, tmp_path: Path) -> None:
    check(ALTERNATES, ("w=window_farming:3,style=agnostic",), tmp_path, (), ("--workers", "2"), active=("w", alternate))
