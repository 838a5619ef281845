"""The dataflow graph: what it says of itself, what the verifier refuses, what the passes drop."""

from __future__ import annotations

import json
from dataclasses import replace

import networkx as nx
import pytest
from dfc.compiler.artifacts.expression_text import expression_text
from dfc.compiler.artifacts.graph import GraphError, graph_of, to_json, to_text, verify
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import PASSES, run_passes
from dfc.compiler.graph.passes.drop_unused import drop_unused
from dfc.compiler.graph.runnable import RUNNABLE_CODES, NotRunnable, require_runnable, unsupported
from dfc.dsl import typed
from dfc.dsl.types import BOOL, F64, I64, Field, Record

from tests.compiler.hand_built import (
    HERE,
    READING,
    aggregate,
    binary,
    bound,
    call,
    cast,
    construct,
    count_window,
    filtered,
    joined,
    late,
    lit,
    mapped,
    program,
    ref,
    sink,
    source,
    step,
    time_window,
    windowed,
)

N = aggregate("count", type_=I64)


def example():
    s = source("s", slack=200, late_to="tardy")
    hot = filtered("hot", "s", binary(">", ref("x"), lit(30.0)))
    each = windowed("each", "hot", time_window(60, 10), ("k",), k=ref("k", I64), start=bound("start"), n=N)
    return program(s, late("tardy", "s"), hot, each, sink(each), sink(late("tardy", "s"), "lost"))


TEXT = """\
graph hand

source s
  csv("s.csv")
  event time ts slack 200 late to tardy
  -> Reading { ts: timestamp<ms>, k: i64, x: f64 } in ms

late tardy <- s
  -> Reading { ts: timestamp<ms>, k: i64, x: f64 } in ms

filter hot <- s
  where x > 30.0
  -> Reading { ts: timestamp<ms>, k: i64, x: f64 } in ms

operator each <- hot
  by k
  window time 60 slide 10
  alternate it value 1.0
    k = k
    start = window_start
    n = count()
  -> each { k: i64, start: timestamp<ms>, n: i64 } in ms

sink out <- each
  csv("out.csv")
  order total
  -> each { k: i64, start: timestamp<ms>, n: i64 } in ms

sink lost <- tardy
  csv("lost.csv")
  order total
  -> Reading { ts: timestamp<ms>, k: i64, x: f64 } in ms
"""


def test_text_form():
    assert to_text(build_graph(example())) == TEXT


def test_json_form():
    data = json.loads(to_json(build_graph(example())))
    assert [one["name"] for one in data["operators"]] == ["s", "tardy", "hot", "each", "out", "lost"]
    assert data["operators"][2]["span"] == {"file": "hand.dfl", "line": 1, "column": 1, "end_line": 1, "end_column": 2}
    assert {"from": "hot", "to": "each", "port": 0} in data["edges"]
    assert data["records"][1] == {"name": "each", "fields": [{"name": "k", "type": "i64"}, {
        "name": "start", "type": "timestamp<ms>"}, {"name": "n", "type": "i64"}]}


def test_one_stream_can_feed_two_ports():
    both = joined("j", "s", "s", 5, x=ref("x"))
    graph = build_graph(program(source(), both))
    assert sorted(graph.flow.edges(keys=True)) == [("j", "out", 0), ("s", "j", 0), ("s", "j", 1)]
    assert [one.name for one in graph.consumers("s")] == ["j"]
    with pytest.raises(nx.NetworkXError):
        graph.flow.add_edge("j", "s")


@pytest.mark.parametrize("text, expr", [
    ("(a + b) * -c", binary("*", binary("+", ref("a"), ref("b")), typed.Unary("-", ref("c"), F64, HERE))),
    ("a - (b - c) - d", binary("-", binary("-", ref("a"), binary("-", ref("b"), ref("c"))), ref("d"))),
    ("not (p or q) and r", binary("and", typed.Unary("not", binary("or", ref("p", BOOL), ref("q", BOOL)), BOOL, HERE),
                                  ref("r", BOOL))),
    ("(if p then 1 else 2) + 3", binary("+", typed.If(ref("p", BOOL), lit(1), lit(2), I64, HERE), lit(3))),
    ("(a < b) == true", binary("==", binary("<", ref("a"), ref("b")), lit(True))),
    ('f64(k) / quantile(x, 0.5) > length("a\\"b")', binary(">", binary("/", cast(ref("k", I64), F64), aggregate(
        "quantile", ref("x"), 0.5)), call("length", lit('a"b')))),
])
def test_expressions_keep_their_shape(text, expr):
    assert expression_text(expr) == text


def broken():
    s, m = source(), mapped("m", "s", x=ref("x"))
    return {
        "not there": program(s, replace(m, inputs=("nobody",))),
        "comes after": program(mapped("m", "s", x=ref("x")), s, sink(m)),
        "twice": program(s, m, m),
        "inputs": program(s, replace(m, inputs=("s", "s"))),
        "gives": program(s, m, step("u", ("s", "m"), typed.Union_(), READING)),
        "unit": program(s, m, replace(sink(m), unit="s")),
        "builds": program(s, replace(m, record=READING), sink(replace(m, record=READING))),
        "other types": program(s, replace(m, body=typed.Map(typed.Construct(m.record, (lit(1),), HERE)))),
        "reads a sink": program(s, sink(s), replace(sink(s, "more"), inputs=("out",))),
        "late": program(s, late("tardy", "s")),
        "late tuples to": program(source(late_to="tardy")),
        "no field": program(source(event_time="time")),
    }


@pytest.mark.parametrize("complaint", broken())
def test_the_verifier_refuses(complaint):
    with pytest.raises(GraphError, match=complaint):
        verify(graph_of(broken()[complaint]))


def test_drop_unused_keeps_what_reaches_a_sink():
    s, idle = source(late_to="tardy"), source("idle")
    kept, lost = mapped("kept", "s", x=ref("x")), mapped("lost", "s", x=ref("x"))
    more = mapped("more", "lost", x=ref("x"))
    graph = drop_unused(build_graph(program(s, idle, late("tardy", "s"), kept, lost, more, sink(kept))))
    assert [one.name for one in graph.steps] == ["s", "kept", "out"]
    assert graph.step("s").body.late_to is None
    verify(graph)


def test_passes_leave_a_used_graph_alone():
    graph = build_graph(example())
    assert run_passes(graph) == graph
    assert [one.__name__ for one in PASSES] == [one.__module__.rsplit(".", 1)[1] for one in PASSES]


# --- what does not run yet --------------------------------------------------------------------------


def operator(window=None, **more):
    body = construct("o", n=N)
    alternate = typed.Alternate("it", 1.0, None, None, body, HERE)
    return step("o", "s", typed.Operator((), window, (alternate,), **more), body.record)


IN_C = typed.Function("f", (("x", F64),), F64, typed.CFunction("f.c", "f", HERE), HERE)
THROUGH = typed.Function("g", (("x", F64),), F64, call("f", typed.LocalRef("x", F64, HERE), user=True), HERE)
STATE = Record("State", (Field("n", I64),))


def not_running():
    return {
        "E0803": program(source(), operator(replace(time_window(5), processing=True))),
        "E0812": replace(program(source(), operator(count_window(5))),
                         controls=(typed.Control("pid", None, (), HERE),)),
    }


@pytest.mark.parametrize("code", not_running())
def test_what_does_not_run_has_a_code(code):
    assert [one.code for one in unsupported(not_running()[code])] == [code]
    with pytest.raises(NotRunnable):
        require_runnable(not_running()[code])


def test_what_runs_has_none():
    one = operator(count_window(5), pattern=typed.Pattern("pane_farming", HERE))
    assert unsupported(program(source(), one, functions=(IN_C, THROUGH))) == []


def test_every_code_explains_itself():
    assert set(not_running()) | {"E0811", "E0813", "E0814"} == set(RUNNABLE_CODES)
    for code in RUNNABLE_CODES.values():
        assert code.title and code.explanation and code.wrong and code.right
