"""The rest of the language in the interpreter, against results computed by hand: windows at tuples, aggregates of
the program, update and expiry, broadcast, arrays, processing time. What is in C stands in test_interpret_c.py."""

from __future__ import annotations

import math

import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.runnable import NotRunnable
from dfc.compiler.interpret import run, write_sinks

HEAD = """\
app more
record Reading { ts: timestamp<ms>, k: i64, x: f64 }
source s: Reading = csv("s.csv") event time ts slack SLACK
"""
NAN = math.nan


def program(text: str, slack: str = "0ms"):
    head = "" if text.startswith("app") else HEAD.replace("SLACK", slack)
    return pipeline.check(f'{head}{text}\nsink out = r to csv("out.csv")\n', "more.dfl", {})


def results(text: str, rows, slack: str = "0ms", **more):
    """`rows` of `s` are (time, value) or (time, key, value)."""
    readings = [(row[0], row[1] if len(row) > 2 else 0, float(row[-1])) for row in rows]
    return run(program(text, slack), {"s": readings, **more}, check=False)


def out(text: str, *rows, slack: str = "0ms", **more) -> list[tuple]:
    return results(text, rows, slack, **more).rows["out"]


# --- delta windows ----------------------------------------------------------------------------------


def test_a_delta_window_ends_before_the_first_tuple_that_is_too_far_from_its_first():
    text = "stream r = s |> window delta 2.0 of x |> aggregate { n: count(), first: first(x), last: last(x) }"
    rows = [(0, 10), (1, 11), (2, 12), (3, 12.5), (4, 11), (5, 10.4), (6, 20), (7, 20)]
    # 12 is exactly 2 away; 12.5 opens the next window, 10.4 is 2.1 from that, 20 too far from it; the last stays open.
    assert out(text, *rows) == [(3, 10.0, 12.0), (2, 12.5, 11.0), (1, 10.4, 10.4)]


def test_delta_windows_have_keys_and_take_tuples_by_event_time():
    text = ("stream r = s |> by k |> window delta 1.0 of x "
            "|> aggregate { k, first: first(x), last: last(x), n: count() }")
    rows = [(5, 1, 1), (3, 2, 50), (2, 1, 2), (6, 2, 52), (9, 1, 9), (10, 2, 52), (11, 2, 0)]
    assert out(text, *rows, slack="10ms") == [(2, 50.0, 50.0, 1), (1, 2.0, 1.0, 2), (2, 52.0, 52.0, 2)]


def test_nan_never_differs():
    text = "stream r = s |> window delta 0.5 of x |> aggregate { n: count() }"
    assert out(text, (0, 1), (1, NAN), (2, 1.2), (3, 3), (4, NAN)) == [(3,)]
    assert out(text, (0, NAN), (1, 1), (2, 100)) == []
    assert out(text, (0, math.inf), (1, math.inf), (2, 1), (3, math.inf)) == [(2,), (1,)]


def test_integers_and_times_are_compared_exactly():
    big = (1 << 53) + 1
    text = "stream r = s |> window delta 1 of k |> aggregate { n: count() }"
    assert out(text, (0, big, 0), (1, big - 1, 0), (2, big + 2, 0)) == [(2,)]
    assert out(text, (0, -(1 << 63), 0), (1, (1 << 63) - 1, 0)) == [(1,)]
    text = "stream r = s |> window delta 10ms of ts |> aggregate { n: count() }"
    assert out(text, (0, 0), (10, 0), (11, 0), (30, 0)) == [(2,), (1,)]


def test_a_delta_result_carries_the_highest_time_of_its_tuples_and_of_the_one_that_ended_it():
    text = ("stream d = s |> by k |> window delta 1.0 of x |> aggregate { n: count() }\n"
            "stream r = d |> window time 10ms |> aggregate { start: window_start, n: sum(n) }")
    assert out(text, (32, 0), (28, 0), (25, 9), (46, 0), slack="10ms") == [(30, 2), (40, 1)]
    # When the window of key 1 ends, the watermark has passed its only tuple by far.
    assert out(text, (0, 1, 0), (50, 2, 0), (60, 1, 9), (70, 2, 0)) == [(60, 1)]


# --- every tuple ------------------------------------------------------------------------------------


def test_a_count_window_on_every_tuple():
    text = "stream r = s |> by k |> window count 3 every tuple |> aggregate { k, n: count(), total: sum(x) }"
    rows = [(0, 1, 1), (1, 1, 2), (2, 2, 9), (3, 1, 4), (4, 1, 8)]
    assert out(text, *rows) == [(1, 1, 1.0), (1, 2, 3.0), (2, 1, 9.0), (1, 3, 7.0), (1, 3, 14.0)]


def test_a_time_window_on_every_tuple():
    text = ("stream r = s |> window time 10ms every tuple |> aggregate { start: window_start, end: window_end, "
            "n: count(), first: first(x) }")
    rows = [(0, 1), (9, 2), (10, 3), (10, 4), (30, 5)]
    assert out(text, *rows) == [(-9, 1, 1, 1.0), (0, 10, 2, 1.0), (1, 11, 2, 2.0), (1, 11, 3, 2.0), (21, 31, 1, 5.0)]


def test_a_moving_window_sees_what_has_arrived_and_is_not_later():
    text = "stream r = s |> window time 10ms every tuple |> aggregate { end: window_end, n: count(), total: sum(x) }"
    assert out(text, (20, 1), (15, 2), (12, 4), (20, 8), slack="10ms") == [
        (21, 1, 1.0), (16, 1, 2.0), (13, 1, 4.0), (21, 4, 15.0)]


def test_a_moving_window_carries_the_time_of_its_tuple():
    text = ("stream m = s |> window time 10ms every tuple |> aggregate { n: count() }\n"
            "stream r = m |> window time 10ms |> aggregate { start: window_start, n: sum(n) }")
    assert out(text, (1, 0), (2, 0), (11, 0)) == [(0, 3), (10, 2)]


def test_ewma_of_a_count_window_goes_by_event_time():
    text = "stream r = s |> window count 3 |> aggregate { e: ewma(x, 0.5) }"
    assert out(text, (3, 8), (1, 1), (2, 4), slack="50ms") == [(5.25,)]


# --- aggregates of the program ----------------------------------------------------------------------

GEOMEAN = """\
aggregate geomean(x: f64) -> f64 associative commutative {
  state { total: f64, n: i64 }
  lift { total: log2(x), n: 1 }
  combine { total: left.total + right.total, n: left.n + right.n }
  lower pow(2.0, total / n)
}
"""
DIGITS = """\
aggregate digits(d: i64, base: i64) -> i64 {
  state { value: i64, base: i64 }
  lift { value: d, base: base }
  combine { value: left.value * right.base + right.value, base: right.base }
  lower value
}
"""
RATIO = """\
aggregate ratio(a: i64, b: i64) -> i64 {
  state { q: i64, n: i64 }
  lift { q: a / b, n: 1 }
  combine { q: left.q + right.q / (right.q - right.q), n: left.n + right.n }
  lower q / (n - 2)
}
"""


def test_lift_combine_lower():
    text = GEOMEAN + "stream r = s |> by k |> window count 3 |> aggregate { k, g: geomean(x), half: geomean(x) / 2.0 }"
    assert out(text, (0, 1, 1), (1, 2, 5), (2, 1, 8), (3, 1, 64)) == [(1, 8.0, 4.0)]


@pytest.mark.parametrize("window", ["count 3", "time 100ms", "session gap 50ms"])
def test_tuples_are_combined_by_event_time(window):
    text = DIGITS + f"stream r = s |> window {window} |> aggregate {{ d: digits(k, 10) }}"
    assert out(text, (7, 3, 0), (5, 1, 0), (5, 2, 0), slack="20ms") == [(123,)]


def test_a_scan_combines_as_tuples_arrive():
    text = DIGITS + "stream r = s |> scan { d: digits(k, 10) }"
    assert out(text, (7, 3, 0), (5, 1, 0), (5, 2, 0), slack="20ms") == [(3,), (31,), (312,)]


def test_faults_count_in_lift_once_a_tuple_and_in_lower_once_a_result():
    text = RATIO + "stream r = s |> window count 2 slide 1 partial |> aggregate { q: ratio(k, i64(x)) }"
    given = results(text, [(0, 8, 2), (1, 6, 0), (2, 9, 3)])
    # lift: one of three tuples; lower: n is 1, 2, 2, so two results; combine: never counted.
    assert given.rows["out"] == [(-4,), (0,), (0,)] and given.counters["r"].faults == 3


# --- update -----------------------------------------------------------------------------------------


def test_update_computes_all_parts_from_the_old_state_and_emits_from_the_new():
    text = ("stream r = s |> by k |> update { before: f64 = -1.0, now: f64 = 0.0, n: i64 = 0 } "
            "with { before: now, now: x, n: n + 1 } emit { k, change: now - before, n }")
    assert out(text, (0, 1, 5), (1, 2, 7), (2, 1, 6), (3, 1, 4)) == [
        (1, 5.0, 1), (2, 7.0, 1), (1, 1.0, 2), (1, -2.0, 3)]


def test_update_without_keys_keeps_parts_that_are_not_mentioned():
    text = ("stream r = s |> update { high: f64 = 2.0, limit: f64 = 9.0 } with { high: greatest(high, x) } "
            "emit { high, limit }")
    assert out(text, (0, 1), (1, 4), (2, 3)) == [(2.0, 9.0), (4.0, 9.0), (4.0, 9.0)]


def test_update_keeps_the_event_time_and_counts_faults():
    text = ("stream u = s |> update { n: i64 = 0 } with { n: n + 10 / k } emit { n }\n"
            "stream r = u |> window time 10ms |> aggregate { start: window_start, n: last(n) }")
    given = results(text, [(1, 5, 0), (2, 0, 0), (12, 1, 0)])
    assert given.rows["out"] == [(0, 2), (10, 12)] and given.counters["u"].faults == 1


# --- expiry -----------------------------------------------------------------------------------------

COUNTED = "stream r = s |> by k |> update { n: i64 = 0 } with { n: n + 1 } emit { k, n } expire after 10ms"


def test_a_key_is_forgotten_when_the_watermark_has_reached_its_latest_tuple_plus_the_time():
    assert out(COUNTED, (0, 1, 0), (9, 2, 0), (9, 1, 0), (19, 2, 0), (19, 1, 0)) == [
        (1, 1), (2, 1), (1, 2), (2, 2), (1, 1)]


def test_the_watermark_that_counts_is_the_one_before_the_tuple():
    # The tuple of time 100 itself comes when the watermark is still 0: key 1 goes on.
    assert out(COUNTED, (0, 1, 0), (100, 1, 0), (200, 2, 0), (200, 1, 0)) == [(1, 1), (1, 2), (2, 1), (1, 1)]


def test_slack_delays_expiry_and_the_latest_time_is_the_highest():
    # Watermark 0 at (15, 2): 8 + 10 is ahead. At the last tuple it is 25 and 18 is behind.
    rows = [(8, 1, 0), (3, 1, 0), (15, 2, 0), (12, 1, 0), (40, 2, 0), (26, 1, 0)]
    assert out(COUNTED, *rows, slack="15ms") == [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (1, 1)]


OPERATOR = """\
record N { k: i64, n: i64, total: f64 }
operator r on s by k window WINDOW expire after 10ms -> N {
  alternate a = { k, n: count(), total: sum(x) }
}
"""


@pytest.mark.parametrize(("window", "expected"), [
    ("count 2", [(1, 2, 3.0), (2, 2, 12.0), (1, 2, 48.0)]),
    ("count 3 slide 1 partial", [(1, 1, 1.0), (1, 2, 3.0), (2, 1, 4.0), (2, 2, 12.0), (1, 1, 16.0), (1, 2, 48.0)]),
    ("time 100ms every tuple", [(1, 1, 1.0), (1, 2, 3.0), (2, 1, 4.0), (2, 2, 12.0), (1, 1, 16.0), (1, 2, 48.0)]),
    ("delta 20.0 of x", []),
    ("time 100ms", [(1, 4, 51.0), (2, 2, 12.0)]),
    ("session gap 50ms", [(2, 2, 12.0), (1, 4, 51.0)]),
])
def test_windows_of_a_forgotten_key_start_afresh(window, expected):
    rows = [(0, 1, 1), (1, 1, 2), (20, 2, 4), (30, 2, 8), (31, 1, 16), (32, 1, 32)]
    assert out(OPERATOR.replace("WINDOW", window), *rows) == expected


# --- broadcast --------------------------------------------------------------------------------------

RATES = """\
record Rate { from: timestamp<ms>, rate: f64 }
source rates: Rate = csv("rates.csv") event time from
"""


def test_broadcast_gives_the_latest_by_arrival_and_nothing_before_there_is_one():
    text = RATES + "stream r = s |> broadcast rates { ts: s.ts, price: s.x * rates.rate }"
    rates = [(5, 2.0), (3, 3.0), (20, 10.0)]  # the second is late; the third is read before 10, being behind it
    assert out(text, (0, 1), (6, 1), (10, 2), (30, 4), rates=rates) == [(6, 2.0), (10, 20.0), (30, 40.0)]


def test_in_one_event_the_first_input_comes_first():
    text = "stream other = s |> filter x > 1.0\nstream r = s |> broadcast other { now: s.x, latest: other.x }"
    assert out(text, (0, 2), (1, 1), (2, 3), (3, 1)) == [(1.0, 2.0), (3.0, 2.0), (1.0, 3.0)]


def test_a_slow_stream_holds_no_watermark_back():
    text = ("record Rate { rate: f64 }\nsource rates: Rate = csv(\"rates.csv\")\n"
            "stream sums = s |> broadcast rates { rate: rates.rate } "
            "|> window time 10ms |> aggregate { x: sum(rate) }\n"
            "stream r = s |> map { x } |> union sums")
    rates = [(float(i),) for i in range(1, 9)]  # one before each tuple of s
    assert out(text, (0, 100), (5, 101), (12, 102), (13, 103), rates=rates) == [
        (100.0,), (101.0,), (102.0,), (3.0,), (103.0,), (7.0,)]


# --- arrays -----------------------------------------------------------------------------------------

ARRAYS = """\
app arrays
record A { v: f64[3], m: i8[2][2], at: i64 }
source s: A = csv("s.csv")
"""


def arrays(text: str, *rows):
    return run(program(ARRAYS + text), {"s": rows}, check=False)


def test_elements_and_arrays_written_out():
    text = "stream r = s |> map { at: v[at], pair: [m[1][0], m[0][1]], first: m[0], sum: v[0] + v[1] + v[2] }"
    given = arrays(text, ((1.0, 2.0, 4.0), ((1, 2), (3, 4)), 2), ((1.0, 2.0, 4.0), ((1, 2), (3, 4)), 0))
    assert given.rows["out"] == [(4.0, (3, 2), (1, 2), 7.0), (1.0, (3, 2), (1, 2), 7.0)]
    assert list(given.csv_lines("out"))[:2] == ["at,pair[0],pair[1],first[0],first[1],sum", "4.0,3,2,1,2,7.0"]


@pytest.mark.parametrize("index", [-1, 3, 1 << 40])
def test_an_index_outside_is_a_fault_and_gives_zero(index):
    text = "stream r = s |> map { x: v[at], row: m[at], e: m[at][1] }"
    given = arrays(text, ((1.0, 2.0, 4.0), ((1, 2), (3, 4)), index))
    # m[at][1] counts once: the row of zeros has an element 1.
    assert given.rows["out"] == [(0.0, (0, 0), 0)] and given.counters["r"].faults == 3


def test_an_array_is_stored_as_its_field_is_declared():
    text = "record B { v: i8[2], w: f32[2][1] }\nstream r = s |> map { v: [300, at], w: [[at], [1]] } -> B"
    assert arrays(text, ((1.0, 2.0, 4.0), ((1, 2), (3, 4)), -2)).rows["out"] == [((44, -2), ((-2.0,), (1.0,)))]


def test_arrays_in_windows_functions_and_state():
    text = ("fn norm(v: f64[3]) -> f64 = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])\n"
            "stream r = s |> update { high: f64[3] = [0.0, 0.0, 0.0] } "
            "with { high: if norm(v) > norm(high) then v else high } emit { high, first: high[0] }")
    rows = [((1.0, 2.0, 2.0), ((0, 0), (0, 0)), 0), ((0.0, 0.0, 1.0), ((0, 0), (0, 0)), 0)]
    assert arrays(text, *rows).rows["out"] == [((1.0, 2.0, 2.0), 1.0)] * 2
    text = "stream r = s |> window count 2 |> aggregate { last: last(v), total: sum(v[0]) }"
    assert arrays(text, *rows).rows["out"] == [((0.0, 0.0, 1.0), 1.0)]


def test_arrays_are_columns_of_files(tmp_path):
    text = ARRAYS.replace("v: f64[3]", "v: symbol[2]")
    (tmp_path / "s.csv").write_text("m[1][1],v[0],at,v[1],m[0][0],m[0][1],m[1][0]\n4,a,7,b,1,2,3\n4,a,7,b,1,2,300\n")
    given = run(program(text + "stream r = s"), folder=tmp_path, check=False)
    assert given.rows["out"] == [(("a", "b"), ((1, 2), (3, 4)), 7)] and given.counters["s"].malformed == 1
    assert list(given.csv_lines("out")) == ["v[0],v[1],m[0][0],m[0][1],m[1][0],m[1][1],at", "a,b,1,2,3,4,7"]


def test_arrays_are_packed_element_by_element(tmp_path):
    text = ARRAYS.replace("v: f64[3]", "v: symbol[2]")
    checked = pipeline.check(f'{text}\nsink out = s to binary("out.bin")\n', "more.dfl", {})
    rows = [(("a", "b"), ((1, 2), (3, 4)), 7), (("b", "b"), ((-1, 0), (0, 0)), 8)]
    write_sinks(checked, run(checked, {"s": rows}, check=False), tmp_path)
    assert (tmp_path / "out.bin").read_bytes() == bytes.fromhex(
        "00000000 01000000 01020304 0700000000000000" "01000000 01000000 ff000000 0800000000000000")
    back = text.replace('csv("s.csv")', 'binary("out.bin")') + 'sink out = s to csv("-")\n'
    assert run(pipeline.check(back, "more.dfl", {}), folder=tmp_path, check=False).rows["out"] == rows


# --- processing time --------------------------------------------------------------------------------

ARRIVING = """\
app arriving
record X { x: f64 }
source s: X = csv("s.csv") processing time
"""


def arriving(text: str, clock, **rows) -> list[tuple]:
    given = {name: [(float(x),) for x in values] for name, values in rows.items()}
    return run(program(ARRIVING + text), given, clock=clock, check=False).rows["out"]


def test_a_tuple_has_the_time_at_which_it_is_read():
    text = "stream r = s |> window time 10ns |> aggregate { start: window_start, n: count(), total: sum(x) }"
    assert arriving(text, (98, 4), s=[1, 2, 4, 8]) == [(90, 1, 1.0), (100, 2, 6.0), (110, 1, 8.0)]


def test_the_clock_never_goes_back():
    text = "stream r = s |> window session gap 5ns |> aggregate { start: window_start, end: window_end, n: count() }"
    times = iter([10, 8, 14, 30])
    assert arriving(text, times.__next__, s=[1, 2, 3, 4]) == [(10, 19, 3), (30, 35, 1)]


def test_sources_share_the_clock():
    text = ('source t: X = csv("t.csv") processing time\nstream r = s |> union t '
            "|> window time 1ns |> aggregate { start: window_start, x: first(x) }")
    assert arriving(text, (0, 1), s=[1, 2], t=[10, 20, 30]) == [
        (0, 1.0), (1, 10.0), (2, 2.0), (3, 20.0), (4, 30.0)]


def test_a_window_has_no_time_of_its_own():
    text = "stream r = s |> window time 10ms processing |> aggregate { n: count() }"
    with pytest.raises(NotRunnable) as refused:
        run(program(text), {"s": []})
    assert [item.code for item in refused.value.diagnostics.items] == ["E0803"]
    assert run(program(text), {"s": []}, check=False).rows["out"] == []
