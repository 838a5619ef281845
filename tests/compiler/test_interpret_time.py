"""Watermarks, lateness, slack and the order in which sources, joins and unions go."""

from __future__ import annotations

from dfc.compiler.interpret import run
from dfc.dsl import typed
from dfc.dsl.types import F64, I64, Field, Record

from tests.compiler.hand_built import (
    HERE,
    MS,
    READING,
    aggregate,
    binary,
    bound,
    construct,
    filtered,
    joined,
    late,
    lit,
    mapped,
    program,
    readings,
    ref,
    sink,
    source,
    step,
    time_window,
    windowed,
)

N = aggregate("count", type_=I64)
PLAIN = Record("Plain", (Field("x", F64),))


def times(rows):
    return [row[0] for row in rows]


def test_a_tuple_before_the_watermark_is_late_and_reaches_only_the_late_stream():
    s, tardy = source(slack=5, late_to="tardy"), late("tardy", "s")
    result = run(program(s, tardy, sink(s), sink(tardy, "lost")),
                 {"s": readings((10, 0), (5, 0), (4, 0), (20, 0), (15, 0), (14, 0))})
    assert times(result.rows["out"]) == [10, 5, 20, 15]
    assert times(result.rows["lost"]) == [4, 14]
    assert result.counters["s"].taken == 6 and result.counters["s"].given == 4 and result.counters["s"].late == 2
    assert result.counters["tardy"].given == 2


def test_late_tuples_are_counted_without_a_late_stream():
    result = run(program(source()), {"s": readings((10, 0), (9, 0), (10, 0))})
    assert times(result.rows["out"]) == [10, 10] and result.counters["s"].late == 1


def test_late_tuples_do_not_move_the_watermark_of_the_late_stream_before_the_end():
    s, tardy = source(late_to="tardy"), late("tardy", "s")
    both = step("both", ("tardy", "s"), typed.Union_(), READING)
    counted = windowed("w", "both", time_window(10), start=bound("start"), n=N)
    result = run(program(s, tardy, both, counted), {"s": readings((25, 0), (3, 0), (40, 0))})
    assert result.rows["out"] == [(0, 1), (20, 1), (40, 1)]


def test_automatic_slack_is_the_largest_delay_so_far():
    rows = readings((100, 0), (90, 0), (110, 0), (100, 0), (120, 0), (104, 0), (130, 0), (114, 0))
    result = run(program(source(slack=None)), {"s": rows})
    # 90 is late and teaches 10; then the watermark is 100, 110; 104 is late and teaches 16; 114 is on time.
    assert times(result.rows["out"]) == [100, 110, 100, 120, 130, 114]
    assert result.counters["s"].late == 2


def test_a_window_closes_by_the_slowest_source():
    a, b = source("a"), source("b")
    both = step("both", ("a", "b"), typed.Union_(), READING)
    counted = windowed("w", "both", time_window(10), start=bound("start"), n=N)
    rows = {"a": readings((1, 0), (100, 0)), "b": readings((2, 0), (3, 0), (50, 0))}
    result = run(program(a, b, both, counted), rows)
    assert result.rows["out"] == [(0, 3), (50, 1), (100, 1)]


def test_the_source_that_is_furthest_behind_is_read_next():
    a, b = source("a"), source("b")
    both = step("both", ("b", "a"), typed.Union_(), READING)
    result = run(program(a, b, both), {"a": readings((1, 0), (5, 0), (6, 0)), "b": readings((1, 1), (2, 1), (7, 1))})
    assert times(result.rows["out"]) == [1, 1, 5, 2, 7, 6]


def test_sources_without_time_are_read_once_a_turn_before_the_others():
    a, b = source("a", PLAIN, event_time=None), source("b")
    plain = mapped("plain", "b", x=ref("x"))
    plain = typed.Step(plain.name, plain.inputs, plain.body, plain.record, None, HERE)
    both = step("both", ("plain", "a"), typed.Union_(), PLAIN, None)
    result = run(program(a, b, plain, both), {"a": [(1.0,), (2.0,)], "b": readings((1, 10), (2, 20), (3, 30), (4, 40))})
    assert [row[0] for row in result.rows["out"]] == [1.0, 10.0, 2.0, 20.0, 30.0, 40.0]


def test_a_source_ends_in_the_turn_after_its_last_tuple():
    a, b = source("a"), source("b")
    counted = windowed("w", "a", time_window(10), x=aggregate("sum", ref("x")))
    plain = mapped("m", "b", x=ref("x"))
    both = step("both", ("m", "w"), typed.Union_(), plain.record)
    rows = {"a": readings((100, 7)), "b": readings((1, 1), (2, 2), (3, 3))}
    # The first turn reads 7; the second finds that a has ended, which releases its window, and reads 1.
    assert run(program(a, b, counted, plain, both), rows).rows["out"] == [(7.0,), (1.0,), (2.0,), (3.0,)]


def test_union_takes_the_first_input_first_within_an_event():
    low = filtered("low", "s", binary("<", ref("x"), lit(5.0)))
    same = step("same", ("low", "s", "low"), typed.Union_(), READING)
    result = run(program(source(), low, same), {"s": readings((1, 1), (2, 9))})
    assert times(result.rows["out"]) == [1, 1, 1, 2]


def pair(within=10):
    return joined("j", "a", "b", within, l=ref("ts", MS), r=ref("ts", MS, 1), k=ref("k", I64))


def join(a, b, slack=0, within=10):
    return run(program(source("a", slack=slack), source("b", slack=slack), pair(within)),
               {"a": readings(*a), "b": readings(*b)}).rows["out"]


def test_join_pairs_equal_keys_within_the_duration_both_ways():
    rows = join([(0, 1, 0), (20, 1, 0), (30, 2, 0)], [(10, 1, 0), (11, 1, 0), (31, 1, 0), (31, 2, 0)])
    assert sorted(rows) == [(0, 10, 1), (20, 10, 1), (20, 11, 1), (30, 31, 2)]


def test_join_meets_the_stored_ones_by_time_and_then_by_arrival():
    s = source(slack=100)
    left = filtered("a", "s", binary("==", ref("k", I64), lit(1)))
    right = mapped("b", "s", ts=ref("ts", MS), k=lit(1), x=ref("x"))
    body = joined("j", "a", "b", 100, x=ref("x"), y=ref("x", F64, 1))
    rows = readings((5, 2, 1), (3, 2, 2), (5, 2, 3), (4, 1, 4))
    # The tuple of key 1 meets three on the right, then itself comes to the right and meets itself on the left.
    assert run(program(s, left, right, body), {"s": rows}).rows["out"] == [
        (4.0, 2.0), (4.0, 1.0), (4.0, 3.0), (4.0, 4.0)]


def test_a_pair_carries_the_later_time_and_join_forgets_what_can_not_be_reached():
    counted = windowed("w", "j", time_window(10), start=bound("start"), n=N)
    result = run(program(source("a"), source("b"), pair(), counted),
                 {"a": readings((8, 0), (40, 0)), "b": readings((12, 0), (60, 0))})
    assert result.rows["out"] == [(10, 1)]


def test_the_late_stream_that_nobody_reads_is_dropped():
    s, tardy = source(late_to="tardy"), late("tardy", "s")
    result = run(program(s, tardy, sink(s)), {"s": readings((5, 0), (1, 0))})
    assert times(result.rows["out"]) == [5] and result.counters["s"].late == 1 and "tardy" not in result.counters


def test_alternates_choose_the_highest_value_and_of_equal_ones_the_first():
    bodies = [construct("R", v=lit(value)) for value in (1, 2, 3)]
    alternates = tuple(typed.Alternate(f"a{i}", value, None, None, body, HERE)
                       for i, (value, body) in enumerate(zip((0.5, 1.0, 1.0), bodies, strict=True)))
    one = step("o", "s", typed.Operator((), None, alternates), bodies[0].record)
    assert run(program(source(), one), {"s": readings((1, 1))}).rows["out"] == [(2,)]
    assert run(program(source(), one), {"s": readings((1, 1))}, active={"o": "a0"}).rows["out"] == [(1,)]
