"""Which windows share their panes, and which must not."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.plan import Plan, to_text

BEGIN = """\
app shares
record Quote { ts: timestamp<ms>, symbol: symbol, other: symbol, price: f64, size: i64, parts: i64[2] }
record Mean { symbol: symbol, m: f64 }
source quotes: Quote = csv("quotes.csv") event time ts slack 5ms
fn halved(a: i64) -> i64 = a / 2
fn divided(a: i64, b: i64) -> i64 = a / b
"""


def plan_of(*windows: str, more: str = "") -> Plan:
    """Of a program with windows `a`, `b`, …, each written as what follows its stream."""
    names = "abcdefgh"[:len(windows)]
    lines = [f"stream {name} = {window}" for name, window in zip(names, windows, strict=True)]
    sinks = [f'sink {name}_out = {name} to csv("{name}.csv")' for name in names]
    return pipeline.plan(pipeline.flow(pipeline.check("\n".join([BEGIN, more, *lines, *sinks, ""]), "shares.dfl", {})))


def window(words: str, value: str = "avg(price)", stream: str = "quotes |> by symbol") -> str:
    return f"{stream} |> window {words} |> aggregate {{ m: {value} }}"


def together(plan: Plan) -> list[tuple[str, ...]]:
    return [one.steps for one in plan.shared]


@pytest.mark.parametrize("words", [
    ("count 1000 slide 200", "count 400 slide 100", "count 1000"),
    ("count 100 slide 10 partial", "count 100 slide 7"),
    ("time 10s slide 2s", "time 4s slide 1s", "time 1min"),
    ("time 1s", "time 1s slide 5s"),
    ("count 5 slide 1", "count 9 slide 1 partial"),
])
def test_windows_of_one_kind_share(words):
    plan = plan_of(*(window(one) for one in words))
    assert together(plan) == [tuple("abc"[:len(words)])]
    assert [(e.producer, e.consumer) for e in plan.edges if e.producer == "quotes"] == [("quotes", "a")]
    assert len({plan.segment_of(name).number for name in "abc"[:len(words)]}) == 1
    assert f"shared panes: {', '.join('abc'[:len(words)])}  -- same stream, groups by symbol" in to_text(plan)
    assert "takes its panes from those it shares with" in dict(plan.stores)["a"]


def test_windows_without_keys_share():
    plan = plan_of(window("count 10", stream="quotes"), window("count 20 slide 5", stream="quotes"))
    assert together(plan) == [("a", "b")]


def test_an_operator_with_alternates_shares():
    plan = plan_of(window("count 10"), more="""
operator pick on quotes by symbol window count 20 -> Mean {
  alternate one value 1.0 = { symbol, m: avg(price) }
  alternate two value 0.5 = { symbol, m: max(price) }
}
sink picked = pick to csv("picked.csv")
""")
    assert together(plan) == [("pick", "a")] and plan.alternates[0].operator == "pick"


@pytest.mark.parametrize("windows", [
    (window("count 10"), window("time 10s")),
    (window("count 10"), window("count 20", stream="quotes |> by other")),
    (window("count 10"), window("count 20", stream="quotes")),
    (window("count 10"), window("count 20", stream="quotes |> filter price > 1.0 |> by symbol")),
    (window("count 10"), window("count 20", "median(price)")),
    (window("time 10s"), window("time 10s every tuple")),
    (window("time 10s"), window("session gap 10s")),
    (window("count 10"), window("count 20", "sum(size / size)")),
    (window("count 10"), window("count 20", "sum(parts[size])")),
    (window("count 10"), window("count 20", "sum(divided(size, size))")),
])
def test_others_do_not(windows):
    plan = plan_of(*windows)
    assert together(plan) == [] and "shared" not in to_text(plan)


@pytest.mark.parametrize("value", ["sum(size / 2)", "sum(parts[1])", "sum(halved(size))", "sum(price / price)"])
def test_values_that_cannot_fault_share(value):
    assert together(plan_of(window("count 10"), window("count 20", value))) == [("a", "b")]


def test_a_pattern_of_its_own_keeps_a_window_apart():
    asks = """
operator pick on quotes by symbol window count 20 pattern key_partitioning -> Mean {
  alternate one = { symbol, m: avg(price) }
}
sink picked = pick to csv("picked.csv")
"""
    assert together(plan_of(window("count 10"), more=asks)) == []
    assert together(plan_of(window("count 10"), more=asks.replace(" pattern key_partitioning", ""))) == [("pick", "a")]


def test_groups_that_end_differently_stay_apart():
    expiring = """
operator pick on quotes by symbol window count 20 expire after 10s -> Mean {
  alternate one = { symbol, m: avg(price) }
}
sink picked = pick to csv("picked.csv")
"""
    assert together(plan_of(window("count 10"), more=expiring)) == []


def test_panes_too_short_to_pay():
    """A window at every tuple would cut the panes of the others to single tuples."""
    plan = plan_of(window("count 10 slide 1"), window("count 1000"), window("count 500 slide 100"))
    assert together(plan) == [("b", "c")]
    assert "too short to pay" in dict(plan.stores)["a"]


def test_a_fault_is_a_reason_that_is_told():
    plan = plan_of(window("count 10"), window("count 20", "sum(size / size)"))
    assert "its values can fault" in dict(plan.stores)["b"] and "shares" not in dict(plan.stores)["a"]


def test_the_generated_program_has_one_index():
    text = "\n".join([BEGIN, f"stream a = {window('count 1000 slide 200')}", f"stream b = {window('count 400')}",
                      'sink a_out = a to csv("a.csv")', 'sink b_out = b to csv("b.csv")', ""])
    c = pipeline.generate(text, "shares.dfl", {}).text("shares.c")
    assert c.count("dfrt_index index;") == 1 and c.count("a_shared_lift(struct") == 1
    assert "b_emit(s, &out" in c and "b_lift" not in c
