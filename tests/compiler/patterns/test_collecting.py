"""Which segments collect freely, what the plan and `dfc explain` say, and what a sink that says nothing asks for.

DFC_UPDATE_GOLDEN=1 writes the golden text anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.plan import to_text
from dfc.compiler.select.asked import Asked
from dfc.compiler.select.explain import explanation
from dfc.compiler.select.explain import to_text as explained_text

FOLDER = Path(__file__).parent / "plans"
HEAD = """app orders
record Row { ts: timestamp<ms>, k: i32, v: i64 }
record Out { k: i32, v: i64 }
source rows: Row = csv("rows.csv") event time ts
source others: Row = csv("others.csv") event time ts
"""
FARM = "stream f = rows |> map { k, v: v * 3 }\n"
WINDOW = "stream w = rows |> by k |> window count 5 |> aggregate { k, v: sum(v) }\n"
FARMED = "operator f on rows by k{} -> Out {{ alternate a = {{ k, v: v + 1 }} }}\n"


def planned(text: str, *patterns: str):
    graph = pipeline.flow(pipeline.check(HEAD + text, "orders.dfl", {}))
    return pipeline.plan(graph, Asked(patterns=patterns) if patterns else None)


def sink(stream: str, order: str = "", name: str = "out") -> str:
    return f'sink {name} = {stream} to csv("{name}.csv"){f" order {order}" if order else ""}\n'


def test_what_is_explained():
    text = (FOLDER / "free.dfl").read_text()
    graph = pipeline.flow(pipeline.check(text, "free.dfl", {}))
    plan = pipeline.plan(graph, Asked(patterns=("priced=farm:3",)))
    found = explained_text(explanation(graph, plan))
    expected = FOLDER / "free.expected"
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        expected.write_text(found)
    assert found == expected.read_text()
    why = "`out` asks for no order; `late` gets all from one thread"
    assert f"segment 2 collects freely  -- {why}\n" in to_text(plan)
    assert [one["collects"] for one in explanation(graph, plan)["segments"]] == [
        None, None, {"freely": True, "why": why}]


@pytest.mark.parametrize(("text", "patterns", "why"), [
    (FARM + sink("f", "free"), (), "`out` asks for no order"),
    (WINDOW + sink("w |> filter v > 1", "key"), (), "`out` gets each key of `w` from one replica"),
    (WINDOW + sink("w |> filter v > 1", "free"), ("w=window_farming:2",), "`out` asks for no order"),
    (WINDOW + FARM + sink("w", "key") + sink("f", "free", "too"), (),
     "`out` gets each key of `w` from one replica; `too` asks for no order"),
])
def test_freely(text, patterns, why):
    assert [(one.freely, one.why) for one in planned(text, *patterns).collecting] == [(True, why)]


@pytest.mark.parametrize(("text", "patterns", "why"), [
    (FARM + sink("f", "free") + sink("f", "total", "too"), (), "`too` asks for the whole order"),
    (FARM + sink("f", "key"), (), "`out` asks for the order of each key, and what gives it is not divided by its keys"),
    (WINDOW + sink("w", "key"), ("w=window_farming:2",),
     "`out` asks for the order of each key, and what gives it is not divided by its keys"),
    (WINDOW + FARMED.format(" order key").replace("rows", "w") + sink("f"), (),
     "`out` asks for the order of each key, and what gives it is not divided by its keys"),
    (FARM + sink("f |> scan { n: count() }", "free"), (), "`out.1` depends on the order of its input"),
    (FARM + "stream g = rows |> map { k, v: v - 1 }\n" + sink("f |> union g", "free"), (),
     "the inputs of `out.1` come from one source"),
    (WINDOW.replace("count 5", "time 5ms") + "stream g = w |> map { k, v: v * 2 }\n" + sink("w", "free")
     + sink("g", "free", "too"), ("g=farm:2", "w=key_partitioning:2"), "`g` takes it on from there"),
])
def test_in_order(text, patterns, why):
    assert (False, why) in [(one.freely, one.why) for one in planned(text, *patterns).collecting]


@pytest.mark.parametrize(("text", "order"), [
    (sink("f"), "free"), (sink("f |> filter v > 1"), "free"), (sink("f", "total"), "total"), (sink("f", "key"), "key"),
    (sink("f |> window count 3 |> aggregate { v: sum(v) }"), "total"), (sink("f |> scan { n: count() }"), "total"),
    (sink("rows"), "total")])
def test_a_sink_that_says_nothing_asks_for_what_its_operator_says(text, order):
    program = pipeline.check(HEAD + FARMED.format(" order free") + text, "orders.dfl", {})
    assert program.step("out").body.order == order


def test_nothing_is_said_where_nobody_asks_for_less():
    assert planned(FARM + sink("f")).collecting == ()
    assert planned("stream f = rows |> scan { n: count() }\n" + sink("f", "free")).collecting == ()
