"""`dfc explain` says what `dfc compile` and `dfc run` do: one choice for all, taken when somebody asks for it."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.plan import to_text
from dfc.compiler.select.asked import Asked, request_of
from dfc.compiler.select.compose import predict_units
from dfc.compiler.select.search import model_of
from dfc.compiler.simulate.program import simulate
from dfc.dsl import typed
from dfc.dsl.span import NOWHERE

TEXT = """app pane
record Quote {{ ts: timestamp<ms>, symbol: symbol, price: f64 }}
record Out {{ symbol: symbol, m: f64 }}
aggregate fold(x: f64) -> f64 associative {{
  state {{ a: f64 }}
  lift {{ a: x }}
  combine {{ a: left.a * 0.5 + right.a }}
  lower a
}}
source quotes: Quote = csv("quotes.csv") event time ts
operator predict on quotes by symbol window count 1000 slide 200 {clause} -> Out {{
  alternate a value 1.0 cost 7700us = {{ symbol, m: {function}(price) }}
}}
sink out = predict to csv("out.csv")
{rest}
"""
GOAL = "goal throughput >= 0.95\n"


def explained(clause="", rest="", asked=None, function="fold"):
    text = TEXT.format(clause=clause, rest=rest, function=function)
    found = pipeline.explain(text, "pane.dfl", {}, None, asked)
    built = pipeline.plan(pipeline.flow(pipeline.check(text, "pane.dfl", {})), asked)
    assert to_text(built) == to_text(found.plan)
    return found


def pattern(found) -> tuple[str, int] | None:
    (decision,) = found.plan.decisions or (None,)
    return decision and (decision.pattern.name, decision.pattern.workers)


@pytest.mark.parametrize(("clause", "rest", "asked"), [
    ("", "resources { cores: 1..12 }", None), ("", "resources { cores: 12 }", None), ("", "", Asked(cores=12)),
    ("pattern auto", "resources { cores: 12 }", None),
    ("", "resources { cores: 3 }\n" + GOAL, Asked(cores=12))], ids=str)
def test_cores_that_are_given_are_planned_for(clause, rest, asked):
    found = explained(clause, rest, asked)
    best = found.choice.best.patterns["predict"].pattern
    assert pattern(found) == (best.name, best.workers) and best.name == "pane_farming" and best.workers > 4
    assert "\nchosen: " in found.as_text() and "patterns for 12 cores\n" in found.as_text()
    assert f"pattern predict = {best.name}" in to_text(found.plan)


def test_auto_plans_for_this_machine():
    found = explained("pattern auto")
    cores = len(os.sched_getaffinity(0))
    assert found.choice.model.machine.cores == cores and pattern(found)[0] == "pane_farming"
    assert ", those of this machine\n" in found.as_text() and "\nchosen: " in found.as_text()


def test_without_cores_the_table_says_that_it_is_not_what_is_built():
    found = explained()
    said, cores = found.as_text(), len(os.sched_getaffinity(0))
    assert found.plan.layout is None and not found.plan.decisions
    assert f"patterns for {cores} core{'s' * (cores > 1)}, those of this machine\n" in said
    assert "chosen" not in said and "\nbest: " in said and f"take this plan with `--cores {cores}`" in said
    assert found.as_data()["patterns"]["taken"] is False
    assert pattern(explained(asked=Asked(cores=cores))) is not None


def test_a_controller_has_the_number_of_workers():
    """The program is that of a text without cores: what is chosen is how far it may go."""
    found = explained(rest=GOAL + "resources { cores: 1..12 }")
    assert found.choice.best.patterns["predict"].pattern.name == "key_partitioning"
    assert to_text(found.plan) == to_text(explained(rest=GOAL).plan) and found.plan.layout is None
    assert [one.degree for one in found.plan.segments if one.elastic] == [1]
    said = found.as_text()
    assert "chosen: up to 15 threads; " in said and "is the controller's: the program begins" in said
    assert found.as_data()["patterns"]["controller_has_degrees"] is True
    rows = {row.pattern.name: row for row in found.choice.rows["predict"]}
    assert "not taken where a controller has" in rows["pane_farming"].why and rows["pane_farming"].whole is not None


@pytest.mark.parametrize("control", ["control off\n", "control static\n", ""])
def test_without_a_controller_the_degree_is_planned(control):
    goal = GOAL if control else ""
    assert pattern(explained(rest=goal + control + "resources { cores: 1..12 }"))[1] > 4


@pytest.mark.parametrize("name", ["trading/trading", "full_loop/scoring"])
def test_examples_with_controllers_begin_as_they_would_without_cores(name):
    file = Path(__file__).parents[3] / f"examples/{name}.dfl"
    text = file.read_text()
    plans = [pipeline.plan(pipeline.flow(pipeline.check(one, str(file), {})))
             for one in (text, re.sub("^resources .*$", "", text, flags=re.M))]
    assert to_text(plans[0]) == to_text(plans[1]) and plans[0].layout is None


@pytest.mark.parametrize(("order", "freely"), [
    ("order total", ()), ("order key", ("key_partitioning",)), ("order free", ("key_partitioning", "window_farming"))])
def test_what_is_predicted_and_simulated_is_what_is_built(order, freely):
    """Where results are taken as they come, none waits for those before it, neither in the model nor in the simulation;
    elsewhere the order that is asked for changes nothing."""
    texts = [TEXT.format(clause=clause, rest="", function="median").replace(
        'csv("quotes.csv")', "generate(count: 1000, rate: 80k/s, paced: true, keys: 1000)") for clause in ("", order)]
    graphs = [pipeline.flow(pipeline.check(text, "pane.dfl", {})) for text in texts]
    requests = [request_of(graph.program, Asked(cores=12)) for graph in graphs]
    models = [model_of(graph, request)[0] for graph, request in zip(graphs, requests, strict=True)]
    played = [simulate(graph, replace(request, cores=4), "uniform", None)["operators"][0]["patterns"]
              for graph, request in zip(graphs, requests, strict=True)]
    for name in ("key_partitioning", "window_farming"):
        words = f"predict={name}:4"
        plan = pipeline.plan(graphs[1], Asked(12, None, (words,)))
        assert any(one.freely for one in plan.collecting) == (name in freely)
        pattern = {"predict": typed.Pattern(name, NOWHERE, workers=4)}
        in_order, asked = (predict_units(model, pattern)["predict"].latency for model in models)
        before, after = (points[name][-1]["latency_ns"] for points in played)
        sooner = name in freely and name == "key_partitioning"  # windows of one cost are farmed out and come in turn
        assert (asked < in_order, after < before) == (sooner, sooner)
