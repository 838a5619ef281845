"""What a profile decides beside patterns: how `slack auto` begins, which alternates begin, and that it is said."""

from __future__ import annotations

import json

import pytest
from dfc.compiler import pipeline
from dfc.compiler.interpret import run
from dfc.compiler.select.asked import Asked
from dfc.dsl.diagnostics import ProgramError

APP = """\
app app
record T { ts: timestamp<ms>, key: i64, x: f64 }
record R { key: i64, m: f64 }
source s: T = csv("in.csv") event time ts slack SLACK late to tardy
operator means on s by key window count 10 slide 5 -> R {
  alternate exact value 1.0 = { key, m: median(x) }
  alternate middling value 0.7 = { key, m: max(x) }
  alternate rough value 0.5 = { key, m: avg(x) }
}
sink out = means to csv("out.csv")
sink late = tardy to csv("late.csv")
GOALS
"""
GOAL = "goal throughput >= 0.9"


def text(goals: str = GOAL, slack: str = "auto") -> str:
    return APP.replace("GOALS", goals).replace("SLACK", slack)


@pytest.fixture
def asked(tmp_path):
    def make(exact: float, middling: float | None, rough: float, cores: int = 2, **more) -> Asked:
        costs = {name: {"tuple": 10, "window": window} for name, window in
                 (("exact", exact), ("middling", middling), ("rough", rough)) if window is not None}
        data = {"schema": 2, "app": "app", "from": "trace", "sources": {"s": {
            "rate": 1000.0, "forecast": {"level": 0.5, "trend": 0.1},
            "disorder": {"k": 9.0, "quantiles": {"p99": 0.01, "p999": 0.0304}}}},
            "operators": {"means": {"costs": costs, "keys": {"count": 50, "p_max": 0.05, "top": [0.05]}}}, **more}
        path = tmp_path / "p.json"
        path.write_text(json.dumps(data))
        return Asked(cores, str(path))

    return make


def begun(program: str, words: Asked) -> str:
    return pipeline.plan(pipeline.flow(pipeline.check(program, "app.dfl", {})), words).alternates[0].alternate


def generated(words: Asked | None) -> str:
    return dict(pipeline.generate(text(), "app.dfl", {}, asked=words).files)["app.c"]


def test_the_best_alternate_that_keeps_the_goals_begins(asked):
    """1,000 tuples a second are 200 results a second."""
    assert begun(text(), asked(1e6, 1e5, 1e4)) == "exact"
    assert begun(text(), asked(5e7, 2e6, 1e4)) == "middling"
    assert begun(text(), asked(5e7, 5e7, 1e4)) == "rough"
    assert begun(text(), asked(5e7, 4e7, 3e7)) == "rough"  # none keeps them: the one that misses least
    assert begun(text(), asked(5e7, 5e7, 1e4, cores=40)) == "exact"
    assert begun(text(f"{GOAL}\ngoal value >= 0.6"), asked(5e7, 5e7, 1e4)) != "rough"


def test_without_goals_or_costs_the_most_valuable_begins(asked):
    assert begun(text(""), asked(5e7, 2e6, 1e4)) == "exact"
    assert begun(text(), asked(5e7, None, 1e4)) == "exact"


def test_measured_slack_begins_with_what_was_measured(asked, tmp_path):
    (tmp_path / "in.csv").write_text("ts,key,x\n" + "".join(f"{ts},1,1.0\n" for ts in (100, 130, 105, 140, 100, 150)))
    words = asked(1e6, 1e5, 1e4)

    def late(program: str, asked: Asked | None) -> list[str]:
        graph = pipeline.learned(pipeline.flow(pipeline.check(program, "app.dfl", {})), asked)
        return list(run(graph, folder=tmp_path).csv_lines("late"))[1:]

    assert late(text(), None) == ["105,1,1.0", "100,1,1.0"]  # 25, then 40 behind the newest
    assert late(text(), words) == ["100,1,1.0"]  # 31 ms to begin with
    assert late(text(slack="0ms"), words) == late(text(slack="0ms"), None)  # a slack that is said stays
    assert "slack = INT64_C(31)" in generated(words) and "INT64_C(31)" not in generated(None)


def test_explain_says_what_came_from_the_profile(asked):
    found = pipeline.explain(text(), "app.dfl", {}, asked=asked(5e7, 2e6, 1e4))
    said = "\n".join(found.as_data()["from_profile"])
    for words in ("rate of `s`: 1 k/s", "`slack auto` of `s` begins with 31 ms",
                  "keys of `means`: 50, the heaviest 5.00%", "costs of `means`: 10 ns a tuple",
                  "`means` begins with `middling`", "forecaster: level 0.5"):
        assert words in said
    assert "from the profile" in found.as_text() and said.splitlines()[0] in found.as_text()
    assert not pipeline.explain(text(), "app.dfl", {}).as_data()["from_profile"]


@pytest.mark.parametrize("more", [{"sources": {"t": {"rate": 1.0}}}, {"operators": {"medians": {"costs": {}}}}])
def test_a_profile_of_another_version_is_refused(asked, more):
    with pytest.raises(ProgramError) as refused:
        begun(text(), asked(1e6, 1e5, 1e4, **more))
    (one,) = refused.value.diagnostics.sorted()
    assert one.code == "E0513" and "another version of `app`" in one.message


def test_heavy_keys_are_written_into_the_program(asked):
    operators = {"means": {"costs": {}, "keys": {"count": 50, "p_max": 0.3, "top": [0.3]}, "key_figures": {
        "heavy": [["-7", 0.3], ["12", 0.2], ["99999999999999999999", 0.1], ["many…", 0.1]]}}}
    words = asked(1e6, 1e5, 1e4, operators=operators)
    c = generated(words)
    assert "element.key = (int64_t)-INT64_C(7), true" in c and "element.key = (int64_t)INT64_C(12), true" in c
    assert "shares[count++] = 0.3;" in c and "99999999999999999999" not in c
    said = "\n".join(pipeline.explain(text(), "app.dfl", {}, asked=words).as_data()["from_profile"])
    assert "-7 (30.0%), 12 (20.0%) begin with routes of their own" in said
    assert "_heavy" not in generated(None)


@pytest.mark.parametrize("heavy", ["x", [["a"]], [[1, 0.2]], [["a", 2]], [["a", "b"]]])
def test_heavy_keys_that_cannot_be(asked, heavy):
    with pytest.raises(ProgramError) as refused:
        begun(text(), asked(1, 1, 1, operators={"means": {"key_figures": {"heavy": heavy}}}))
    assert refused.value.diagnostics.sorted()[0].code in ("E0510", "E0512")
