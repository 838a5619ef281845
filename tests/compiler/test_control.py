"""The controller configuration: what a program's goals, control and resources become, and that it fits its schema."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from dfc.compiler import pipeline

from tests.compiler.json_schema import mistakes

HEAD = """\
app asked
record Quote { k: symbol, price: f64 }
record Mean { k: symbol, mean: f64 }
source quotes: Quote = csv("quotes.csv")
operator typical on quotes by k window count 100 slide 10 -> Mean {
  alternate precise value 1.0 cost 2ms = { mean: median(price) }
  alternate quick value 0.6 selectivity 1.0 = { mean: avg(price) }
}
stream calm = quotes |> by k |> window count 10 |> aggregate { k, n: count() }
sink out = typical to csv("out.csv")
sink all = calm to csv("all.csv")
"""
SCHEMA = json.loads(resources.files("dfc.compiler.codegen").joinpath("control.schema.json").read_text())


def configuration(text: str) -> dict:
    bundle = pipeline.generate(HEAD + text, "asked.dfl", {})
    data = json.loads(dict(bundle.files)["control.json"])
    assert list(mistakes(data, SCHEMA)) == []
    return data


def operators(text: str) -> dict[str, dict]:
    return {one["name"]: one for one in configuration(text)["operators"]}


def test_a_program_without_goals_has_nobody_who_decides():
    assert {one["policy"] for one in operators("").values()} == {"off"}


def test_goals_alone_mean_auto():
    assert {one["policy"] for one in operators("goal latency mean <= 7ms\n").values()} == {"auto"}


def test_control_off_wins_over_goals():
    assert {one["policy"] for one in operators("goal latency mean <= 7ms\ncontrol off\n").values()} == {"off"}


def test_goals_are_in_seconds():
    data = configuration("goal latency p99 <= 20ms weight 2\ngoal throughput >= 0.95\nminimize power, cores\n")
    assert data["goals"] == [
        {"metric": "latency", "statistic": "p99", "bound": 0.02, "weight": 2.0},
        {"metric": "throughput", "statistic": None, "bound": 0.95, "weight": 1.0}]
    assert data["minimize"] == "power"


def test_an_operator_has_its_own_policy():
    found = operators("control rule { step: 500ms, cooldown: 2s, utilisation: 0.6..0.8 }\n"
                      "control for typical mpc { horizon: 3, forecast: last_value, alpha: 1.5, migration: s_blk }\n")
    assert (found["calm"]["policy"], found["calm"]["parameters"]) == (
        "rule", {"utilisation_low": 0.6, "utilisation_high": 0.8})
    assert found["calm"]["safety"]["cooldown"] == 4
    mpc = found["typical"]
    assert (mpc["policy"], mpc["parameters"], mpc["migration"]) == ("mpc", {"horizon": 3, "alpha": 1.5}, "s_blk")
    assert mpc["forecast"]["method"] == "last"
    assert [a["name"] for a in mpc["alternates"]] == ["precise", "quick"]
    assert mpc["alternates"][0]["cost"] == 0.002


def test_the_shortest_step_holds_for_all():
    assert configuration("control rule { step: 2s }\ncontrol for typical spl { step: 100ms }\n")["step"] == 0.1


def test_resources():
    found = configuration("resources { cores: 2..12, frequency: 1.2GHz..1.6GHz step 0.1GHz, voltage: 0.9..1.1, "
                          "shed: 0.25 }\n")["resources"]
    assert found["cores"] == {"least": 2, "most": 12}
    assert found["frequencies"] == pytest.approx([1.2e9, 1.3e9, 1.4e9, 1.5e9, 1.6e9])
    assert found["voltages"] == pytest.approx([0.9, 0.95, 1.0, 1.05, 1.1])
    assert found["shed"] == 0.25


def test_one_value_is_a_range_of_one():
    found = configuration("resources { cores: 4, frequency: 2GHz }\n")["resources"]
    assert (found["cores"], found["frequencies"]) == ({"least": 1, "most": 4}, [2e9])


def test_the_checker_of_this_test_finds_mistakes():
    good = configuration("")
    for broken in ({**good, "schema": 1}, {**good, "odd": 1}, {**good, "step": "1s"}, {**good, "minimize": "noise"},
                   {**good, "operators": [{"policy": "mpc"}]}, {**good, "resources": {"cores": {"least": 0}}}):
        assert list(mistakes(broken, SCHEMA))
