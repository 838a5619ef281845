"""Functions over panes in C: what applies to them, when they are cut, and that panes are chosen where they pay."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.patterns.forced import applicable
from dfc.compiler.patterns.function import function_of
from dfc.compiler.select.asked import Asked

PROGRAM = """
app app
record Quote {{ ts: timestamp<ms>, symbol: symbol, price: f64 }}
record Best {{ price: f64 }}
source quotes: Quote = csv("quotes.csv") event time ts {slack}
operator best on quotes {clauses} -> Best {{
  alternate a {cost} = c("best.c", "best_pane", "best_merge")
  {more}
}}
sink out = best to csv("out.csv")
"""


def graph_of(clauses: str, cost: str = "", more: str = "", slack: str = "slack 0ms"):
    text = PROGRAM.format(clauses=clauses, cost=cost, more=more, slack=slack)
    return pipeline.flow(pipeline.check(text, "app.dfl", {}))


def steps_of(graph, *patterns: str) -> dict[str, str]:
    """The kind of segment that each part of the operator runs in."""
    plan = pipeline.plan(graph, Asked(cores=4, patterns=patterns) if patterns else None)
    return {name: segment.kind for segment in plan.segments for name in segment.steps if name.startswith("best")}


TOGETHER = {"best.windows", "best.work", "best"}


@pytest.mark.parametrize(("clauses", "kind"), [
    ("window count 10 slide 3", "single"), ("by symbol window count 10 slide 3 partial", "keyed"),
    ("window time 1s slide 200ms", "single"), ("by symbol window time 1s slide 300ms", "keyed")])
def test_overlapping_windows_are_cut_without_a_pattern(clauses, kind):
    assert steps_of(graph_of(clauses)) == dict.fromkeys(TOGETHER, kind)


@pytest.mark.parametrize("clauses", [
    "window count 10", "window time 1s", "window time 1s slide 2s", "window count 10 slide 1", "window session gap 1s",
    "window time 1s every tuple", "by symbol window count 10 slide 3 expire after 1s"])
def test_what_has_no_panes_to_share_is_whole(clauses):
    assert set(steps_of(graph_of(clauses))) == {"best"}


def test_a_count_window_is_whole_when_tuples_can_come_out_of_order():
    late = graph_of("window count 10 slide 3", slack="slack 1s")
    assert set(steps_of(late)) == {"best"}
    assert "pane_farming" not in applicable(function_of(late.program, late.step("best")))
    assert set(steps_of(graph_of("window time 1s slide 200ms", slack="slack 1s"))) == TOGETHER


def test_beside_other_alternates_it_takes_whole_windows():
    mixed = graph_of("window time 1s slide 200ms", more="alternate b = { price: max(price) }")
    function = function_of(mixed.program, mixed.step("best"))
    assert not function.decomposable and "could not take its pane results" in function.whole
    assert set(steps_of(mixed)) == {"best"}


def test_which_patterns_apply():
    graph = graph_of("by symbol window time 1s slide 200ms")
    function = function_of(graph.program, graph.step("best"))
    assert function.decomposable and not function.combinable and not function.order_free
    assert {"pane_farming", "window_farming", "window_partitioning", "key_partitioning"} <= set(applicable(function))


def test_pane_farming_has_segments_of_its_own():
    parts = steps_of(graph_of("window time 1s slide 200ms"), "best=pane_farming:3")
    assert parts == {"best.windows": "read", "best.work": "work", "best": "single"}


@pytest.mark.parametrize(("patterns", "words"), [
    ((), "keeps the tuples of open panes; what the pane function gives is kept for each pane"),
    (("best=pane_farming:3",), "workers read each pane where it lies; what the pane function gives is kept for each"),
    (("best=window_partitioning:2",), "and the merge function gets what the pane function gave for each"),
    (("best=window_farming:2",), "workers read each window where it lies")])
def test_the_plan_says_what_is_kept(patterns, words):
    plan = pipeline.plan(graph_of("window time 1s slide 200ms"), Asked(cores=4, patterns=patterns))
    (store,) = [text for name, text in plan.stores if name == "best"]
    assert words in store and "partial value" not in store


def test_the_plan_says_that_a_tumbling_window_is_kept_whole():
    assert "keeps the tuples of open windows" in dict(pipeline.plan(graph_of("window count 10"), None).stores)["best"]


def test_panes_are_farmed_out_where_that_pays():
    plan = pipeline.plan(graph_of("window time 1s slide 200ms", cost="cost 200ms"), Asked(cores=8))
    assert [one.pattern.name for one in plan.decisions if one.step == "best"] == ["pane_farming"]
    cheap = pipeline.plan(graph_of("window time 1s slide 200ms", cost="cost 1us"), Asked(cores=8))
    assert [one.pattern.name for one in cheap.decisions if one.step == "best"] == ["sequential"]


def test_the_parts_stay_together_when_one_thread_is_asked_for():
    keyed = graph_of("by symbol window count 10 slide 3")
    assert steps_of(keyed, "best=sequential") == dict.fromkeys(TOGETHER, "single")
    assert steps_of(keyed, "best=key_partitioning:3") == dict.fromkeys(TOGETHER, "keyed")
    plan = pipeline.plan(keyed, Asked(cores=4, patterns=("best=key_partitioning:3",)))
    assert plan.segment_of("best").degree == 3
