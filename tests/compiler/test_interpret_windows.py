"""Every kind of window against results computed by hand."""

from __future__ import annotations

import pytest
from dfc.compiler.interpret import run
from dfc.dsl.types import F64, I64

from tests.compiler.hand_built import (
    MS,
    aggregate,
    bound,
    count_window,
    program,
    readings,
    ref,
    scanned,
    session,
    source,
    time_window,
    windowed,
)

N = aggregate("count", type_=I64)
SUM = aggregate("sum", ref("x"))
START, END = bound("start"), bound("end")


def out(step, *rows, slack=0):
    return run(program(source(slack=slack), step), {"s": readings(*rows)}).rows["out"]


# --- time -------------------------------------------------------------------------------------------


def test_tumbling_windows_are_counted_from_zero_also_for_negative_times():
    step = windowed("w", "s", time_window(10), start=START, end=END, n=N)
    assert out(step, (-11, 1), (-10, 1), (-1, 1), (0, 1), (9, 1), (10, 1)) == [
        (-20, -10, 1), (-10, 0, 2), (0, 10, 2), (10, 20, 1)]


def test_sliding_windows_hold_a_tuple_several_times():
    step = windowed("w", "s", time_window(10, 5), start=START, total=SUM)
    assert out(step, (1, 1), (7, 2), (12, 4)) == [(-5, 1.0), (0, 3.0), (5, 6.0), (10, 4.0)]


def test_a_slide_that_does_not_divide_the_size():
    step = windowed("w", "s", time_window(10, 4), start=START, n=N)
    assert out(step, (9, 1)) == [(0, 1), (4, 1), (8, 1)]


def test_tuples_between_windows_are_in_none():
    step = windowed("w", "s", time_window(3, 10), start=START, n=N)
    assert out(step, (0, 1), (2, 1), (3, 1), (9, 1), (12, 1), (25, 1), (30, 1)) == [(0, 2), (10, 1), (30, 1)]


def test_a_window_waits_for_the_slack_and_takes_what_comes_meanwhile():
    step = windowed("w", "s", time_window(10), start=START, n=N)
    assert out(step, (1, 1), (12, 1), (8, 1), (15, 1), (9, 1), slack=5) == [(0, 2), (10, 2)]


def test_results_come_by_end_and_then_by_key():
    step = windowed("w", "s", time_window(10), ("k",), k=ref("k", I64), start=START, n=N)
    assert out(step, (1, 7, 0), (2, -3, 0), (11, 7, 0), (12, 1, 0), (35, 7, 0)) == [
        (-3, 0, 1), (7, 0, 1), (1, 10, 1), (7, 10, 1), (7, 30, 1)]


def test_a_result_carries_the_last_instant_of_its_window():
    inner = windowed("a", "s", time_window(10), high=aggregate("max", ref("x")))
    outer = windowed("w", "a", time_window(20), start=START, n=N, high=aggregate("max", ref("high")))
    rows = readings((1, 5), (12, 9), (19, 1), (20, 4), (41, 2))
    assert run(program(source(), inner, outer), {"s": rows}).rows["out"] == [
        (0, 2, 9.0), (20, 1, 4.0), (40, 1, 2.0)]


# --- sessions ---------------------------------------------------------------------------------------


def test_a_pause_of_the_gap_ends_a_session():
    step = windowed("w", "s", session(10), start=START, end=END, n=N)
    assert out(step, (0, 1), (9, 1), (19, 1), (28, 1)) == [(0, 19, 2), (19, 38, 2)]


def test_a_late_comer_within_the_slack_merges_two_sessions():
    step = windowed("w", "s", session(10), start=START, end=END, n=N)
    assert out(step, (0, 1), (15, 1), (8, 1), slack=20) == [(0, 25, 3)]
    assert out(step, (0, 1), (15, 1), slack=20) == [(0, 10, 1), (15, 25, 1)]


def test_sessions_come_by_end_and_then_by_key():
    step = windowed("w", "s", session(10), ("k",), k=ref("k", I64), end=END, n=N)
    assert out(step, (0, 2, 0), (0, 1, 0), (5, 1, 0), (100, 2, 0)) == [(2, 10, 1), (1, 15, 2), (2, 110, 1)]


# --- counts -----------------------------------------------------------------------------------------


def test_count_windows_come_when_complete():
    step = windowed("w", "s", count_window(3), total=SUM)
    assert out(step, *((t, t) for t in range(8))) == [(3.0,), (12.0,)]


def test_sliding_count_windows():
    step = windowed("w", "s", count_window(3, 2), total=SUM)
    assert out(step, *((t, t) for t in range(8))) == [(3.0,), (9.0,), (15.0,)]


def test_count_windows_with_gaps():
    step = windowed("w", "s", count_window(2, 5), total=SUM)
    assert out(step, *((t, t) for t in range(12))) == [(1.0,), (11.0,), (21.0,)]


def test_partial_count_windows_come_after_every_slide():
    step = windowed("w", "s", count_window(5, 2, partial=True), n=N, total=SUM)
    assert out(step, *((t, t) for t in range(8))) == [(2, 1.0), (4, 6.0), (5, 15.0), (5, 25.0)]


def test_partial_count_windows_with_a_slide_beyond_the_size():
    step = windowed("w", "s", count_window(2, 3, partial=True), n=N, total=SUM)
    assert out(step, *((t, t) for t in range(7))) == [(2, 3.0), (2, 9.0)]


def test_count_windows_are_counted_by_group():
    step = windowed("w", "s", count_window(2), ("k",), k=ref("k", I64), total=SUM)
    assert out(step, (0, 1, 1), (1, 2, 2), (2, 2, 4), (3, 1, 8)) == [(2, 6.0), (1, 9.0)]


def test_a_count_window_carries_the_highest_time_of_its_tuples():
    counted = windowed("a", "s", count_window(2), total=SUM)
    outer = windowed("w", "a", time_window(10), start=START, n=N)
    rows = readings((12, 0), (8, 0), (13, 0), (22, 0))
    assert run(program(source(slack=10), counted, outer), {"s": rows}).rows["out"] == [(10, 1), (20, 1)]


# --- first, last and order --------------------------------------------------------------------------


@pytest.mark.parametrize("window", [time_window(100), count_window(4), session(100)])
def test_first_and_last_go_by_event_time_and_ties_by_arrival(window):
    step = windowed("w", "s", window, first=aggregate("first", ref("x")), last=aggregate("last", ref("x")))
    assert out(step, (7, 1), (5, 2), (7, 3), (5, 4), slack=50) == [(2.0, 3.0)]


def test_ewma_of_a_window_goes_by_event_time():
    step = windowed("w", "s", time_window(100), e=aggregate("ewma", ref("x"), 0.5))
    assert out(step, (3, 8), (1, 1), (2, 4), slack=50) == [(5.25,)]


def test_scan_runs_as_tuples_arrive_but_first_and_last_go_by_event_time():
    step = scanned("c", "s", ("k",), ts=ref("ts", MS), n=N, total=SUM, first=aggregate("first", ref("x")),
                   last=aggregate("last", ref("x")), e=aggregate("ewma", ref("x"), 0.5))
    assert out(step, (5, 1, 4), (3, 1, 2), (3, 2, 7), (5, 1, 8), slack=50) == [
        (5, 1, 4.0, 4.0, 4.0, 4.0), (3, 2, 6.0, 2.0, 4.0, 3.0), (3, 1, 7.0, 7.0, 7.0, 7.0),
        (5, 3, 14.0, 2.0, 8.0, 5.5)]


def test_an_operator_without_window_gives_a_result_a_tuple():
    assert out(windowed("w", "s", None, x=ref("x", F64)), (1, 2), (3, 4)) == [(2.0,), (4.0,)]
