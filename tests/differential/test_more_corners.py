"""Corners of the language that random programs seldom reach, natively and in the interpreter, in every layout: arrays
wherever a value may stand, results that must not be late, expiry before the first watermark, slow streams of another
unit."""

from __future__ import annotations

import random

import pytest

from tests.differential.more_programs import MoreCase
from tests.differential.own_code import DEFINITIONS
from tests.differential.test_more_programs import check_case

HEAD = f"""\
app random_program
use std.text
{DEFINITIONS}
record R {{ ts: timestamp<ms>, k: i64, x: f64 }}
source s: R = csv("s.csv") event time ts late to tardy
"""
ARRAYS = """\
record B { ts: timestamp<ms>, v: f64[3], m: i8[2][2], names: text<3>[2], syms: symbol[2], at: i64 }
source b: B = csv("b.csv") event time ts
record C { w: f32[2][2], n: i16[2] }
fn dot(a: f64[3], b: f64[3]) -> f64 = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
fn crossed(m: i8[2][2], k: i64) -> i64 = m[k][0] + m[0][k]
aggregate norm(v: f64[3]) -> f64 {
  state { t: f64[3] }
  lift { t: v }
  combine { t: [left.t[0] + right.t[0], left.t[1], right.t[2]] }
  lower t[0] + t[2]
}
aggregate total() -> i64 associative commutative {
  state { n: i64 }
  lift { n: 1 }
  combine { n: left.n + right.n }
  lower n
}
"""
ARRAY_STREAMS = [
    "b |> map { a: v[at], row: m[at], e: m[at][at - 1], name: names[at], sym: syms[at], names, again: [v[0], v[2]] }",
    "b |> map { w: [[v[0], 1], [at, 2.5]], n: [m[1][0], 70000] } -> C",
    "b |> map { v: if at > 1 then v else [0.0, 1.0, 2.0], w: (if at > 1 then v else [0.0, 1.0, 2.0])[at] }",
    'b |> map { s: ["x", syms[0]], t: [names[0], names[1]], u: ["x", names[1], "abc"][at] }',
    "b |> map { n: [[1, at], [3, 4]][at][1], o: [[[at]]] }",
    "b |> map { p: [m[0], m[1]], x: v[10 / at], d: dot(v, [1.0, 2.0, 3.0]), c: crossed([m[1], m[0]], at) }",
    "b |> window count 2 |> aggregate { first: first(v), last: last(names), m: max(v[1]), n: norm(v), k: total() }",
    "b |> window time 25ms every tuple |> aggregate { first: first(v), q: median(v[1]), l: last(syms), e: last(m[1]) }",
    "b |> scan { ts, first: first(v), last: last(names), v, n: norm(v) }",
    'b |> update { high: f64[3] = [0.0, 0.0, 0.0], last: text<3>[2] = ["", ""] } '
    "with { high: if v[0] > high[0] then v else high, last: names } emit { high, last, x: high[at] }",
    "s |> broadcast b { x: s.x, v: b.v, n: b.names[0] }",
    "s |> join keyed by k within 1s { x: s.x, v: keyed.v, n: keyed.names }",
    "b |> filter v[at] > 1.0 and m[at][0] < 2 |> union b",
    "b |> window delta 1.0 of v[at] |> aggregate { n: count() }",
]
ROWS = [(0, 1, 0), (5, 2, 0), (50, 2, 0), (60, 1, 9), (70, 2, 0), (71, 2, 5), (72, 1, 0), (90, 3, 0), (100, 2, 0)]
EARLY = [(-400, 1, 0), (-395, 2, 0), (-395, 1, 3), (-390, 2, 5), (-380, 1, 9), (-379, 2, 0), (-300, 1, 5), (-299, 1, 0)]


def readings(rows: list[tuple]) -> bytes:
    return "".join(["ts,k,x\n", *(f"{ts},{k},{x}\n" for ts, k, x in rows)]).encode()


def check(text: str, streams: list[str], head: str = HEAD, **files: bytes) -> None:
    """Each stream goes to a sink of its own."""
    lines = [f'stream q{i} = {stream}\nsink out{i} = q{i} to csv("out{i}.csv")' for i, stream in enumerate(streams)]
    named = {f"{name}.csv": data for name, data in files.items()}
    check_case(MoreCase("\n".join([head, text, *lines, "control off", ""]), (), (), (named,), ((),)), 7)


def test_arrays():
    header = "ts,v[0],v[1],v[2],m[0][0],m[0][1],m[1][0],m[1][1],names[0],names[1],syms[0],syms[1],at\n"
    rows = (f"{10 * i},{i}.5,{-i},3,{i},{i + 1},{-i},7,n{i},o{i},s{i},t{i},{i - 1}\n" for i in range(6))
    check(ARRAYS + "stream keyed = b |> map { ts, k: at, v, names }", ARRAY_STREAMS, s=readings(ROWS),
          b=(header + "".join(rows)).encode())


def test_results_of_delta_windows_are_not_late():
    """The watermark may have passed the tuples of a window by the time that it ends."""
    check("stream d = s |> by k |> window delta 1.0 of x |> aggregate { k, n: count() }", [
        "d |> window time 10ms |> aggregate { start: window_start, n: sum(n) }",
        "d |> by k |> window time 10ms slide 5ms |> aggregate { k, start: window_start, n: sum(n), m: median(n) }",
        "d |> window session gap 10ms |> aggregate { start: window_start, n: sum(n) }",
        "d |> window time 30ms every tuple |> aggregate { start: window_start, n: sum(n), m: median(n) }",
        "d |> join s by k within 20ms { k: d.k, n: d.n, x: s.x }"], s=readings(ROWS))


def test_keys_do_not_expire_before_the_first_watermark():
    """Late tuples have none, and times may be below zero."""
    updates = [f"{source} |> by k |> update {{ n: i64 = 0 }} with {{ n: n + 1 }} emit {{ k, n }} expire after 10ms"
               for source in ("s", "tardy")]
    windows = ("count 2", "count 2 every tuple", "delta 1.0 of x", "time 100ms every tuple", "time 20ms")
    pairs = [(source, window) for source in ("s", "tardy") for window in windows]
    operators = [f"operator o{i} on {source} by k window {window} expire after 10ms -> N {{\n"
                 f"  alternate a = {{ k, n: count(), m: median(x) }}\n}}" for i, (source, window) in enumerate(pairs)]
    text = "\n".join(["record N { k: i64, n: i64, m: f64 }", *operators])
    streams = [*updates, *(f"o{i}" for i in range(len(pairs)))]
    check(text, streams, s=readings(EARLY))
    check(text, streams, s=readings([(0, 9, 9), *EARLY]))


def test_a_slow_stream_of_another_unit_or_of_none():
    text = ('record Slow { at: timestamp<s>, y: f64 }\nsource slow: Slow = csv("slow.csv") event time at\n'
            'source still: Slow = csv("still.csv")\n')
    sums = "|> window time 10ms |> aggregate { start: window_start, y: sum(y) }"
    slow = b"at,y\n0,1\n0,2\n1,3\n2,4\n3,5\n"
    check(text, [f"s |> broadcast {name} {{ x: s.x, y: {name}.y }} {sums}" for name in ("slow", "still")],
          s=readings(ROWS), slow=slow, still=slow)


def test_faults_in_what_aggregates_read_count_once_a_tuple():
    """However many windows a tuple is in, however many aggregates read the same, whichever alternate is active."""
    body = "{ n: count(), m: median(7 / k), s: sum(7 / k), f: first(7 / k), l: last(k % (k - 1)) }"
    combined = "{ n: count(), m: max(7 / k), s: sum(7 / k), f: first(7 / k), l: last(k % (k - 1)) }"
    own = "{ d: digits(7 / k), w: weighted(x, 7 / k), h: halves(k), v: woven(7 / k, \"a\"), s: sum(7 / k) }"
    windows = ["count 4 slide 1", "count 2 slide 3", "count 3 partial", "time 50ms slide 10ms", "time 10ms slide 30ms",
               "time 30ms every tuple", "count 3 every tuple", "session gap 20ms", "delta 4.0 of x"]
    streams = [f"s |> window {window} |> aggregate {each}" for window in windows for each in (body, combined, own)]
    streams += [f"s |> scan {each}" for each in (body, combined, own)]
    halves = ("aggregate halves(k: i64) -> i64 associative {\n  state { a: i64 }\n  lift { a: 9 / k }\n"
              "  combine { a: left.a - right.a }\n  lower a % (a - a)\n}\n")
    operator = ("operator o on s window count 3 -> { a: i64 } {\n  alternate a value 0.5 = { a: sum(5 / k) }\n"
                "  alternate b = { a: max(6 / k) }\n}\n").replace("{ a: i64 } {", "A {", 1)
    rows = [(10 * i, i % 3, i % 7) for i in range(20)] + [(185, 0, 1), (190, 1, 2)]
    check(halves + "record A { a: i64 }\n" + operator, [*streams, "o"], s=readings(rows))


@pytest.mark.slow
def test_windows_at_every_tuple_with_disorder_of_all_lengths():
    """Tuples in order, a little late, later than the window is long, in bursts of equal times, and after pauses."""
    rng = random.Random(8)
    rows, now = [], 0
    for i in range(1500):
        now += rng.choice([0, 0, 1, 1, 2]) if rng.random() < 0.99 else 300
        late = rng.choice([0, 0, 0, 0, 3, 10, 60]) if i % 400 < 200 else 0
        rows.append((now - late, rng.choice([1, 1, 1, 2]), rng.randrange(1000)))
    body = ("{ n: count(), t: sum(x), low: min(x), high: max(x), f: first(x), l: last(x), d: stddev(x), "
            "p: spread(x), w: weighted(x, k), m: mixed(k) }")
    head = HEAD.replace("late to tardy", "slack 80ms late to tardy")
    streams = [f"s |> {by}window time {size}ms every tuple |> aggregate {body}"
               for size in (1, 5, 40, 500) for by in ("", "by k |> ")]
    check("", streams, head, s=readings(rows))
