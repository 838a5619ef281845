"""Stateless steps in the plan: which of them the model considers, and where they run when they are not farmed out."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked

HEAD = """\
app farms
record Quote { ts: timestamp<ms>, symbol: symbol, price: f64 }
record Out { symbol: symbol, m: f64 }
source quotes: Quote = generate(count: 1000, keys: 50, price: 1.0..2.0) event time ts
"""


def program(before: str, window: str, after: str) -> str:
    """A stateless operator, a keyed window, a stateless operator; each with the cost of a result."""
    return (f"{HEAD}operator one on quotes -> Out {{ alternate a cost {before} = {{ symbol, m: price }} }}\n"
            "operator two on one by symbol window count 10 -> Out "
            f"{{ alternate a cost {window} = {{ m: median(m) }} }}\n"
            f"operator three on two -> Out {{ alternate a cost {after} = {{ symbol, m: m * 2.0 }} }}\n"
            'sink o = three to csv("o.csv")\n')


def explained(text: str, *words: str, cores: int = 12):
    return pipeline.explain(text, "farms.dfl", {}, asked=Asked(cores, None, words))


def test_a_costly_step_before_keyed_state_is_farmed_out():
    found = explained(program("100us", "1us", "1ns"))
    rows = {row.pattern.name: row for row in found.choice.rows["one"]}
    assert rows["farm"].chosen and found.choice.best.rate > 8 * rows["sequential"].whole.rate
    assert found.plan.segment_of("one").kind == "farm" and "passing tuples" not in found.choice.why


def test_a_costly_step_behind_keyed_state_has_a_table():
    found = explained(program("1ns", "1us", "500us"))
    assert {"two", "three"} == set(found.choice.rows)
    assert found.plan.segment_of("three").kind in ("farm", "keyed", "work"), "one thread for it would be the limit"
    assert found.choice.best.rate > 4 * explained(program("1ns", "1us", "500us"), cores=1).choice.best.rate


def test_what_costs_no_more_than_passing_it_on_is_not_considered():
    assert set(explained(program("2ns", "1ms", "2ns")).choice.rows) == {"two"}
    free = program("2ns", "1ms", "2ns").replace(" cost 2ns", "")
    assert set(explained(free).choice.rows) == {"two"}, "a default says nothing of this step"


def test_a_step_that_is_not_farmed_out_stays_where_it_stands():
    found = explained(program("2ns", "1ms", "30ns"), "two=key_partitioning:6")
    assert found.choice.best.patterns["three"].pattern.name == "sequential"
    assert found.plan.segment_of("three") is found.plan.segment_of("two")


@pytest.mark.parametrize("words", [("one=farm:4",), ("three=farm:4",), ("one=farm:2", "three=farm:3"),
                                   ("one=farm:2", "two=window_farming:3,style=agnostic"), ("three=sequential",),
                                   ("two=sequential", "three=farm:2")])
def test_the_predicted_threads_are_those_of_the_plan(words):
    plan = explained(program("1us", "10us", "1us"), *words).plan
    parsers = 1
    assert plan.layout.predicted.threads == sum(max(1, segment.degree) for segment in plan.segments) + parsers
    for word in words:
        name, _, pattern = word.partition("=")
        kind = plan.segment_of(name).kind
        assert kind == ("farm" if pattern.startswith("farm") else "single" if pattern == "sequential" else "work")


def test_the_work_of_all_threads_is_that_of_one_and_what_passing_costs():
    """Wherever a step is farmed out, it is counted once."""
    text = program("50us", "30us", "20us")
    alone = 1e9 / explained(text, cores=1).choice.best.rate
    for words in (("one=farm:4",), ("three=farm:4",), ("one=farm:2", "three=farm:3")):
        whole = explained(text, "two=key_partitioning:2", *words).choice.best
        assert sum(stage.work for stage in whole.stages) == pytest.approx(alone, rel=0.01)


def test_a_farm_needs_no_cores_to_be_asked_for():
    text = program("1us", "1us", "1us").replace("operator three on two ->",
                                                "operator three on two pattern farm { workers: 3 } ->")
    plan = pipeline.plan(pipeline.flow(pipeline.check(text, "farms.dfl", {})))
    assert plan.segment_of("three").degree == 3 and plan.segment_of("three").behind
