"""From the configuration that a program gets and the words of `--set` to what is compared."""

from __future__ import annotations

import json
import math

import pytest
from dfc.compiler import pipeline
from dfc.compiler.codegen.control import control_configuration
from dfc.compiler.failure import Usage
from dfc.compiler.select.asked import Asked, request_of
from dfc.compiler.select.choose import choose
from dfc.compiler.simulate.control_library import open_controls
from dfc.compiler.simulate.scenario import Workload, operators_of
from dfc.compiler.simulate.variants import make_variants
from dfc.dsl.diagnostics import Diagnostics

PROGRAM = """\
app app
record T { ts: timestamp<ms>, key: i64, x: f64 }
record R { key: i64, m: f64 }
source s: T = csv("in.csv") event time ts
operator means on s by key window count 10 slide 5 -> R {
  alternate exact value 1.0 cost 2ms = { key, m: median(x) }
  alternate rough value 0.5 cost 200us = { key, m: avg(x) }
}
sink out = means to discard()
goal latency p99 <= 20ms
goal throughput >= 0.9
minimize power
control CONTROL
resources { cores: 2..6, frequency: 1GHz..2GHz step 0.5GHz, voltage: 0.8..1.2, shed: 0.3 }
"""


@pytest.fixture
def made(tmp_path):
    (tmp_path / "walk.txt").write_text("100\n200\n")

    def make(control="rule { utilisation: 0.6..0.7, cooldown: 3s, step: 500ms, migration: r_blk }",
             policies=(), sweeps=()):
        text = PROGRAM.replace("CONTROL", control)
        graph = pipeline.flow(pipeline.check(text, "app.dfl", {}, Diagnostics()))
        configuration = json.loads(control_configuration(graph, choose(graph)))
        workload = Workload(str(tmp_path / "walk.txt"))
        operators, _ = operators_of(graph, request_of(graph.program, Asked(5)), workload, configuration["resources"])
        return operators, make_variants(configuration, "means", open_controls(), operators[0].goals, policies, sweeps)
    return make


def test_the_operator_as_the_program_tells_it(made):
    (operator,), _ = made()
    assert operator.costs.service == pytest.approx((2e-3, 200e-6), rel=0.05)
    assert operator.arrivals.slide == 5 and operator.arrivals.rates == (100.0, 200.0)
    limits = operator.limits
    assert (limits.workers_least, limits.workers_most, limits.shed_most) == (2, 5, 0.3)
    assert limits.frequencies == (1e9, 1.5e9, 2e9) and limits.voltages == pytest.approx((0.8, 1.0, 1.2))
    assert limits.values == (1.0, 0.5) and limits.costs == (2e-3, 200e-6)
    goals = operator.goals
    assert (goals.latency, goals.quantile, goals.throughput, goals.minimize) == (0.02, 0.99, 0.9, "power")
    assert operator.start.workers == 2 and operator.start.frequency == 2 and operator.ordered


def test_the_programs_own_policy_has_its_settings(made):
    _, (variant,) = made()
    options = variant.options
    assert options.policy == "rule" and options.parameters == {"utilisation_low": 0.6, "utilisation_high": 0.7}
    assert (variant.step, options.cooldown, options.warmup, variant.protocol) == (0.5, 6, 1, "r_blk")
    assert math.isnan(options.level) and variant.balancer == "balanced"


def test_another_policy_has_the_same_frame_and_its_own_standards(made):
    _, (variant,) = made(policies=["mpc"])
    assert variant.options.parameters == {} and variant.step == 0.5 and variant.protocol == "r_blk"


def test_what_is_set_overrides_what_is_written(made):
    _, found = made(policies=["rule", "mpc"], sweeps=[
        ("cooldown", ("2s",)), ("step", ("1s",)), ("utilisation_high", ("0.8", "0.9")), ("goal", ("5ms",)),
        ("rebalance", ("off",))])
    assert [one.name for one in found] == [
        "rule cooldown=2s step=1s utilisation_high=0.8 goal=5ms rebalance=off",
        "rule cooldown=2s step=1s utilisation_high=0.9 goal=5ms rebalance=off",
        "mpc cooldown=2s step=1s goal=5ms rebalance=off"]
    for one in found:
        assert (one.options.cooldown, one.step, one.goals.latency, one.goals.quantile) == (2, 1.0, 0.005, 0.99)
        assert one.balancer is None
    assert found[1].options.parameters == {"utilisation_low": 0.6, "utilisation_high": "0.9"}


def test_a_program_without_control_gets_what_a_run_would_give_it(made):
    _, (variant,) = made(control="auto")
    assert variant.options.policy == "auto" and variant.step == 1.0
    _, (variant,) = made(control="off")
    assert variant.options.policy == "auto"


@pytest.mark.parametrize(("name", "value", "what"), [
    ("trust", "-1", "trust is `-1`; expected a number that is not negative"),
    ("trust", "nan", "expected a number"), ("cooldown", "soon", "expected a time such as 500ms"),
    ("forecast", "guess", "it can be holt_winters, ewma, last"), ("low", "x", "`low` of policy `rule` is `x`")])
def test_values_that_cannot_be(made, name, value, what):
    with pytest.raises(Usage) as refused:
        made(sweeps=[(name, (value,))])
    assert what in str(refused.value)
