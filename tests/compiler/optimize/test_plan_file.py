"""The plan file: what is written is read again, and nothing else is."""

from __future__ import annotations

import json

import pytest
from dfc.compiler.artifacts.plan_file import OperatorPlan, PlanError, PlanFile, from_json, to_json
from dfc.dsl import typed
from dfc.dsl.span import NOWHERE

CONTROL = {"step": 2.0, "policy": "mpc", "parameters": {"gamma": 0.4, "strategy": "lat_node", "horizon": 3},
           "forecast": {"method": "holt_winters", "level": 0.6, "trend": None, "season": 0},
           "safety": {"cooldown": 2, "warmup": 1, "trust": None}, "migration": "fluent",
           "rebalance": {"method": "flux", "imbalance": 0.2}}
PATTERN = typed.Pattern("window_farming", NOWHERE, workers=3, batch=4, schedule="round_robin", style="agnostic")
PLAN = PlanFile("app", 8, {"means": OperatorPlan(PATTERN, "rough", 1, 6)}, CONTROL, {"violations": 1.5}, {"cores": 2.0},
                {"seed": 1})


def test_what_is_written_is_read_again():
    assert from_json(to_json(PLAN), "app") == PLAN
    assert to_json(from_json(to_json(PLAN), "app")) == to_json(PLAN)


def changed(*path: str | int, to: object) -> str:
    data = json.loads(to_json(PLAN))
    part = data
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = to
    return json.dumps(data)


@pytest.mark.parametrize(("text", "code", "words"), [
    ("", "E0520", "not JSON"), ("[1]", "E0520", "the plan"), ("[" * 100_000, "E0520", "not JSON"),
    ("{}", "E0521", "schema"), (changed("schema", to=2), "E0521", "reads 1"), (changed("schema", to=True), "E0521", ""),
    (changed("app", to="other"), "E0523", "`other`"), (changed("app", to=None), "E0520", "app is missing"),
    (changed("cores", to=0), "E0522", "1 to 256"), (changed("cores", to=True), "E0522", "cores"),
    (changed("extra", to=1), "E0522", "`extra`"), (changed("operators", to=[]), "E0520", "operators"),
    (changed("operators", "means", "least", to=7), "E0522", "more than `most`"),
    (changed("operators", "means", "pattern", "name", to="auto"), "E0522", "window_farming"),
    (changed("operators", "means", "pattern", "workers", to=300), "E0522", "1 to 256"),
    (changed("operators", "means", "pattern", "style", to="lazy"), "E0522", "agnostic"),
    (changed("operators", "means", "pattern", "merge", to="ring"), "E0522", "no setting `merge`"),
    (changed("operators", "means", "alternate", to=3), "E0520", "alternate"),
    (changed("control", "policy", to="magic"), "E0522", "mpc"), (changed("control", "step", to=0), "E0522", "0.1"),
    (changed("control", "parameters", to={"patience": 2}), "E0522", "no `patience`"),
    (changed("control", "parameters", "gamma", to="much"), "E0522", "a number"),
    (changed("control", "parameters", "strategy", to="fast"), "E0522", "lat_node"),
    (changed("control", "forecast", "method", to="oracle"), "E0522", "ewma"),
    (changed("control", "safety", to=[]), "E0520", "control.safety"),
    (changed("control", "migration", to=None), "E0522", "fluent"),
    (changed("control", "rebalance", "imbalance", to=float("inf")), "E0522", "a number")])
def test_what_is_no_plan_is_refused_in_one_line(text, code, words):
    with pytest.raises(PlanError) as refused:
        from_json(text, "app")
    assert refused.value.code == code and words in str(refused.value) and "\n" not in str(refused.value)
