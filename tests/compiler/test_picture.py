"""Pictures of graphs: well-formed, everything in its place, nothing over another."""

from __future__ import annotations

from xml.etree import ElementTree

import networkx as nx
import pytest
from dfc.compiler import pipeline
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.labels import duration_text, wrapped
from dfc.compiler.graph.layout import Layout, layers_of, place
from dfc.compiler.graph.picture import to_dot, to_svg
from dfc.compiler.select import plan_picture
from dfc.compiler.select.asked import Asked
from dfc.dsl import typed
from dfc.dsl.types import I64
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.hand_built import (
    READING,
    aggregate,
    binary,
    count_window,
    filtered,
    joined,
    late,
    lit,
    program,
    ref,
    sink,
    source,
    step,
    time_window,
    windowed,
)


def wide(branches: int = 5) -> typed.Program:
    """Sources, a filter and a window a branch, a union of all, a join across the layers, sinks."""
    s = source("quotes", slack=200, late_to="tardy")
    steps = [s, late("tardy", "quotes"), source("trades")]
    ends = []
    for i in range(branches):
        kept = filtered(f"part_{i}", "quotes", binary(">", ref("x"), lit(30.0 + i)))
        window = time_window(60_000, 10_000) if i % 2 else count_window(100)
        total = aggregate("sum", ref("x"))
        ends.append(windowed(f"window_{i}", kept.name, window, ("k",), k=ref("k", I64), total=total))
        steps += [kept, ends[-1]]
    union = step("all_windows", tuple(one.name for one in ends), typed.Union_(), ends[0].record)
    pairs = joined("pairs", "trades", "all_windows", 500, k=ref("k", I64), note=lit('<&">'))
    return program(*steps, union, pairs, sink(union), sink(pairs, "both"), sink(steps[1], "lost"))


def assert_apart(layout: Layout) -> None:
    boxes = list(layout.boxes.values())
    for i, a in enumerate(boxes):
        assert a.x >= 0 and a.y >= 0 and a.x + a.width <= layout.width and a.y + a.height <= layout.height
        for b in boxes[:i]:
            assert (a.x + a.width < b.x or b.x + b.width < a.x or a.y + a.height < b.y or b.y + b.height < a.y)
    for lanes in layout.lanes.values():
        for x, top, bottom in lanes:
            beside = (box for box in boxes if box.y < bottom and top < box.y + box.height)
            assert not any(box.x < x < box.x + box.width for box in beside)


@given(st.integers(1, 14), st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=30),
       st.lists(st.tuples(st.integers(40, 300), st.integers(40, 160)), min_size=14, max_size=14))
def test_boxes_and_edges_keep_apart(count, pairs, sizes):
    flow = nx.DiGraph()
    flow.add_nodes_from(f"n{i}" for i in range(count))
    flow.add_edges_from((f"n{a}", f"n{b}") for a, b in pairs if a < b < count)
    assert_apart(place(flow, {f"n{i}": tuple(map(float, sizes[i])) for i in range(count)}))
    level = layers_of(flow)
    assert all(level[a] < level[b] for a, b in flow.edges)


@pytest.mark.parametrize("branches", [1, 2, 5, 9])
def test_svg_is_well_formed_and_complete(branches):
    graph = build_graph(wide(branches))
    svg = ElementTree.fromstring(to_svg(graph))
    texts = [one.text for one in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert all(one.name in texts for one in graph.steps)
    paths = [one for one in svg.iter("{http://www.w3.org/2000/svg}path") if one.get("marker-end")]
    assert len(paths) == graph.flow.number_of_edges()
    assert to_svg(graph) == to_svg(graph)


def test_text_is_escaped():
    hostile = filtered("f", "s", binary("==", lit('<b>&"\x01'), lit("]]>")), READING)
    graph = build_graph(program(source(), hostile))
    assert "<b>" not in to_svg(graph)
    ElementTree.fromstring(to_svg(graph))
    assert '\\"' in to_dot(graph)


def test_dot_has_every_step_and_edge():
    graph = build_graph(wide(3))
    dot = to_dot(graph)
    assert dot.count(" -> ") == graph.flow.number_of_edges() and dot.count("label=\"window_1\\ntime window") == 1
    assert '"quotes" -> "tardy" [style=dashed];' in dot and '[label="right"]' in dot
    assert dot.count("{") == dot.count("}")


@pytest.mark.parametrize("count, unit, text", [
    (60_000, "ms", "1min"), (1500, "ms", "1500ms"), (0, "s", "0s"), (24, "h", "1d")])
def test_durations_are_shown_in_their_largest_unit(count, unit, text):
    assert duration_text(count, unit) == text


def test_long_lines_are_cut():
    assert wrapped("word " * 50, 2)[1].endswith("…") and len(wrapped("word " * 50, 2)) == 2


PLANNED = """
app quotes
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
source quotes: Quote = csv("quotes.csv") event time ts
stream mean = quotes |> by symbol |> window count 1000 slide 200 |> aggregate { symbol, mean: avg(price) }
sink out = mean to csv("means.csv")
"""


@pytest.mark.parametrize(("pattern", "threads", "ways"), [
    ("key_partitioning:3", 5, 6), ("window_farming:4", 6, 8), ("pane_farming:2,3,merge=shuffled", 7, 11),
    ("pane_farming:3,merge=ring", 5, 9),
    ("window_partitioning:2", 4, 4), ("sequential", 1, 0)])
def test_a_plan_has_a_box_for_each_thread(pattern, threads, ways):
    graph = pipeline.flow(pipeline.check(PLANNED, "quotes.dfl", {}))
    plan = pipeline.plan(graph, Asked(8, None, (f"mean={pattern}",)))
    drawn = ElementTree.fromstring(plan_picture.to_svg(graph, plan))
    space = "{http://www.w3.org/2000/svg}"
    titles = [one.text for one in drawn.iter(f"{space}text") if (one.text or "").startswith("thread: ")]
    assert len(titles) == threads
    assert len([one for one in drawn.iter(f"{space}path") if one.get("marker-end")]) == ways
    dot = plan_picture.to_dot(graph, plan)
    assert dot.count("thread: ") == threads and dot.count(" -> ") == ways


def test_a_plan_of_one_thread_is_one_box():
    graph = pipeline.flow(pipeline.check(PLANNED, "quotes.dfl", {}))
    dot = plan_picture.to_dot(graph, pipeline.plan(graph, Asked(1, None, ())))
    assert dot.count("thread: everything") == 1 and " -> " not in dot
