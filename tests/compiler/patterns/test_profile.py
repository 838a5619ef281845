"""The profile file: what is written is read, what can't be is refused with a code."""

from __future__ import annotations

import json

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import Keys, OperatorProfile, Profile, ProfileError, StepCosts, from_json, to_json
from dfc.compiler.calibrate import Measured, _with_crossings

PROFILE = Profile("hft", "calibration", {"emit_ns": 7.0, "hop_ns": 3000.0}, {"quotes": 3e5}, {
    "predict": OperatorProfile({"regression": StepCosts(9.5, None, 136000.0, 20.0)}, 0.04,
                               Keys(2836, 0.0287, (0.0287, 0.019))),
    "mid": OperatorProfile({"mid": StepCosts(1.5)})})


def test_round_trip():
    assert from_json(to_json(PROFILE), "hft") == PROFILE
    assert to_json(from_json(to_json(PROFILE))) == to_json(PROFILE)
    assert PROFILE.costs("predict", "regression").window == 136000.0
    assert PROFILE.costs("mid", None).tuple == 1.5 and PROFILE.costs("predict", "other") is None
    assert PROFILE.costs("nothing", None) is None


def changed(path: str, value) -> str:
    data = json.loads(to_json(PROFILE))
    at = data
    *way, last = path.split(".")
    for part in way:
        at = at[part]
    at[last] = value
    return json.dumps(data)


@pytest.mark.parametrize(("text", "code"), [
    ("", "E0510"), ("notes", "E0510"), ("[1]", "E0510"), ("[" * 100000, "E0510"), ("{}", "E0511"),
    (changed("schema", 3), "E0511"), (changed("schema", "1"), "E0511"), (changed("app", 3), "E0510"),
    (changed("app", "other"), "E0513"), (changed("machine.emit_ns", -1), "E0512"),
    (changed("machine.emit", 1), "E0512"), (changed("machine.emit_ns", float("nan")), "E0512"),
    (changed("machine.emit_ns", 1e300), "E0512"),
    (changed("machine", []), "E0510"), (changed("operators.predict", 3), "E0510"),
    (changed("operators.predict.costs.regression.window", "much"), "E0512"),
    (changed("operators.predict.costs.regression.window", True), "E0512"),
    (changed("operators.predict.costs.regression.windows", 3), "E0512"),
    (changed("operators.predict.selectivity", -0.5), "E0512"), (changed("operators.predict.keys.p_max", 0), "E0512"),
    (changed("operators.predict.keys.p_max", 1.5), "E0512"), (changed("operators.predict.keys.count", 0), "E0512"),
    (changed("operators.predict.keys.count", 2.5), "E0512"),
    (changed("operators.predict.keys.top", [0.1, 0.2]), "E0512"),
    (changed("operators.predict.keys.top", [0.9, 0.8]), "E0512"), (changed("sources.quotes", 5), "E0510"),
    (changed("sources.quotes.rate", -5), "E0512"),
])
def test_what_cannot_be(text, code):
    with pytest.raises(ProfileError) as caught:
        from_json(text, "hft")
    assert caught.value.code == code and str(caught.value)


def summary(read: int, cpu: float, results: int) -> dict:
    return {"in": read, "cpu_seconds": cpu, "steps": [{"name": "s", "out": read}, {"name": "w", "out": results}]}


@pytest.mark.parametrize(("cpu", "emit"), [(2.0, 7.0), (2.5, 7.0), (6.2, 19.0)])
def test_an_element_costs_what_the_program_pays_for_its_threads(cpu, emit):
    """100 million tuples and as many results: 200 million elements pass from thread to thread."""
    graph = pipeline.flow(pipeline.check(
        'app a\nrecord R { k: i64 }\nsource s: R = csv("s.csv")\nstream w = s |> by k |> window count 1 '
        '|> aggregate { k, n: count() }\nsink out = w to csv("o.csv")\n', "a.dfl", {}))
    plan = pipeline.plan(graph, None)
    assert [edge.producer for edge in plan.edges] == ["s", "w"]
    measured = Measured((), 0.0, 0.0, {}, summary(10**8, 2.0, 10**8), summary(10**8, cpu, 10**8))
    costs = _with_crossings({"emit_ns": 7.0, "take_ns": 2.0}, plan, measured)
    assert costs == {"emit_ns": pytest.approx(emit), "take_ns": 2.0}


def test_a_program_of_one_segment_passes_nothing_on():
    assert _with_crossings({"emit_ns": 7.0}, None, Measured((), 0.0, 0.0, {}, {})) == {"emit_ns": 7.0}
