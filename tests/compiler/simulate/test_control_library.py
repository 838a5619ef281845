"""The controllers through cffi: what Python gets is what C decides, and what can't be is refused before it reaches
C."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from dfc.compiler.failure import Usage
from dfc.compiler.simulate.control_library import (
    Goals,
    Limits,
    Options,
    Setting,
    Wish,
    open_controls,
)

FREQUENCIES = tuple(1.2e9 + 0.1e9 * step for step in range(9))
LIMITS = Limits(12, 1, FREQUENCIES, tuple(0.85 + 0.15 * step / 8 for step in range(9)), 3.0)
GOALS = Goals(latency=1.5e-3)


@pytest.fixture(scope="module")
def controls():
    return open_controls()


def measured(rate=10_000.0, service=0.45e-3, workers=8, **more):
    """A quiet step: nothing waits for long."""
    busy = rate * service / workers
    return {"step": 1.0, "arrivals": rate, "interarrival": 1 / rate, "interarrival_sd": 1 / rate, "service": service,
            "service_sd": 0.0, "result_spacing_cv": 1.0, "waiting": 0.5 * busy / (1 - busy) * service,
            "latency": service + 0.5 * busy / (1 - busy) * service, "results": rate, "backlog": 3.0, "blocked": 0.0,
            "imbalance": 1.0, "busy": busy, **more}


def test_every_policy_of_the_interface_is_there(controls):
    assert set(controls.policies) == {"mpc", "rule", "threshold", "spl", "rl", "static", "alternates", "auto"}
    for policy in controls.policies.values():
        assert policy.about
        for one in policy.parameters:
            assert one.name.isidentifier() and one.least <= one.most
            assert math.isnan(one.standard) or one.least <= one.standard <= one.most


@pytest.mark.parametrize("name", ["mpc", "rule", "threshold", "spl", "rl", "static", "alternates", "auto"])
def test_whatever_is_measured_the_setting_stays_inside_the_limits(controls, name):
    """NaN, infinity, zero and nonsense in every field, one after the other and all at once."""
    controller = controls.controller(Options(name), LIMITS, GOALS, Setting(4, 8))
    now = Setting(4, 8)
    good = measured()
    hostile = [{**good, field: value} for field in good for value in (math.nan, math.inf, 0.0, -1.0, 1e300)]
    hostile += [{}, dict.fromkeys(good, math.nan), dict.fromkeys(good, 0.0), dict.fromkeys(good, math.inf)]
    for one in hostile:
        decision = controller.step(one, LIMITS, now)
        now = decision.setting
        assert 1 <= now.workers <= 12 and 0 <= now.frequency <= 8 and now.alternate == 0 and now.shed == 0
        assert decision.reason


def test_static_takes_all_that_the_limits_allow(controls):
    controller = controls.controller(Options("static"), LIMITS, GOALS, Setting(3, 0))
    decision = controller.step(measured(), LIMITS, Setting(3, 0))
    assert decision.setting == Setting(12, 8)


def test_the_solvers_of_mpc_agree(controls):
    """Lower envelope, dynamic programming and branch and bound find the same settings."""
    ways = []
    for solver in ("envelope", "dynamic", "branch_and_bound"):
        options = Options("mpc", {"strategy": "lat_power", "horizon": 3, "solver": solver})
        controller, now, way = controls.controller(options, LIMITS, GOALS, Setting(6, 8)), Setting(6, 8), []
        for step in range(40):
            rate = 9_000 + 6_000 * math.sin(step / 5)
            now = controller.step(measured(rate, 0.45e-3 * 2e9 / FREQUENCIES[now.frequency], now.workers), LIMITS,
                                  now).setting
            way.append(now)
        ways.append(way)
    assert ways[0] == ways[1] == ways[2]
    assert len(set(ways[0])) > 3


def test_more_load_gets_more_workers(controls):
    for name, rate in (("mpc", 22_000.0), ("threshold", 22_000.0)):
        controller = controls.controller(Options(name), LIMITS, GOALS, Setting(8, 8))
        now = Setting(8, 8)
        for _ in range(6):
            busy = min(1.0, rate * 0.45e-3 / now.workers)
            seen = measured(rate, busy=busy, waiting=3e-3, latency=3.4e-3, workers=12)
            now = controller.step(seen, LIMITS, now).setting
        assert now.workers >= 11, name


def test_alternatives_come_with_their_predictions(controls):
    controller = controls.controller(Options("mpc"), LIMITS, GOALS, Setting(6, 8))
    decision = controller.step(measured(), LIMITS, Setting(6, 8), alternatives=True)
    assert decision.alternatives
    for setting, expected in decision.alternatives:
        assert setting != decision.setting and expected["cost"] >= decision.expected["cost"]


@pytest.mark.parametrize(("policy", "parameters", "what"), [
    ("magic", {}, "there is no policy `magic`; there are "),
    ("mpc", {"delta": 1}, "policy `mpc` has no parameter `delta`; it has strategy, "),
    ("mpc", {"horizon": 99}, "`horizon` of policy `mpc` is `99`; it can be 1 to 16"),
    ("mpc", {"horizon": "far"}, "is `far`; it can be 1 to 16"),
    ("mpc", {"gamma": math.nan}, "`gamma` of policy `mpc` is `nan`"),
    ("mpc", {"strategy": "best"}, "`strategy` of policy `mpc` is `best`; it can be goals, "),
])
def test_parameters_that_cannot_be(controls, policy, parameters, what):
    with pytest.raises(Usage) as refused:
        controls.controller(Options(policy, parameters), LIMITS, GOALS, Setting(1))
    assert what in str(refused.value)


# --- balancer and manager -----------------------------------------------------------------------------


def test_balanced_evens_out_and_flux_moves_little(controls):
    chance = np.random.default_rng(5)
    weights = chance.zipf(1.8, 400).astype(float)
    weights /= weights.sum()
    weights[weights > 0.02] = 0.02
    owner = np.arange(400) % 5
    loads = {}
    for balancer in ("balanced", "flux"):
        new = controls.rebalance(balancer, weights, owner, 8)
        assert new.max() == 7 and new.dtype == np.uint16
        loads[balancer] = np.bincount(new, weights, 8), int((new != owner).sum())
    assert loads["balanced"][0].max() / loads["balanced"][0].mean() < 1.05
    assert loads["flux"][0].max() / loads["flux"][0].mean() < 1.3
    assert loads["flux"][1] < loads["balanced"][1]
    assert (owner == np.arange(400) % 5).all()  # what was given stays as it was


def test_parts_of_workers_that_go_always_move(controls):
    owner = np.arange(100) % 6
    for balancer in ("balanced", "flux"):
        assert controls.rebalance(balancer, np.zeros(100), owner, 2).max() <= 1


def test_when_it_is_time_to_rebalance(controls):
    even, uneven = np.full(4, 0.5), np.array([0.9, 0.5, 0.5, 0.5])
    seen = controls.unevenness()
    assert not controls.rebalance_due(seen, even, 1e-4, False)
    assert not controls.rebalance_due(seen, uneven, 1e-4, False)
    assert controls.rebalance_due(seen, uneven, 1e-4, False)
    assert not controls.rebalance_due(seen, uneven, 1e-4, True)
    assert not any(controls.rebalance_due(seen, uneven, 0.05, False) for _ in range(5))  # some triggers more: chance


def test_a_new_division_pays_when_the_busiest_has_less(controls):
    weights, before = np.array([0.4, 0.4, 0.1]), np.array([0, 0, 1])
    assert controls.rebalance_pays(weights, before, np.array([0, 1, 1]), 2)
    assert not controls.rebalance_pays(weights, before, np.array([1, 1, 0]), 2)


def test_the_manager_keeps_to_the_cores(controls):
    manager = controls.manager(6, 10.0, 10.0)
    wishes = [Wish(Setting(2), Setting(6), 1, 0.9), Wish(Setting(3), Setting(5), 1, 1.4)]
    controls.settle(manager, wishes)
    held = [wish.wanted if wish.granted else wish.now for wish in wishes]
    assert sum(setting.workers for setting in held) <= 6
    assert held[1].workers >= held[0].workers  # its need is larger
    assert any(wish.reason for wish in wishes)


def test_many_processes_may_open_the_library_at_once(tmp_path):
    """Into an empty cache: one builds, all others wait for it, and all get the whole of it."""
    code = ("from dfc.compiler.simulate.control_library import open_controls; "
            "print(sorted(open_controls().policies))")
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    processes = [subprocess.Popen([sys.executable, "-c", code], env=own, stdout=subprocess.PIPE, text=True)
                 for _ in range(4)]
    answers = [process.communicate(timeout=300)[0] for process in processes]
    assert len(set(answers)) == 1 and "mpc" in answers[0]
    assert len(list((tmp_path / "dfc" / "entries").iterdir())) == 1
