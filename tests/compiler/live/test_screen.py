"""What `dfc top` draws."""

from __future__ import annotations

import math
import re

import pytest
from dfc.compiler.live.screen import History, goal_statistic, screen, snapshot, sparkline
from dfc.compiler.report.units import axis_text, clock_text, count_text, rate_text, time_text

from tests.compiler.live.fake_program import change, operator, status


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[\d+m", "", line) for line in lines]


def test_a_snapshot():
    assert snapshot(status(), History()) == """\
trading   up 2 min 13 s   staged   controlled   step 1 s
input     12.3k/s   1.2M tuples, 48k results
latency      5 ms mean   p95 6.5 ms   p99 10 ms   goal mean ≤ 7 ms: kept

operator       workers   load      rate  expected   service  backlog policy     alternate
predict         2 of 4   71 %     480/s     495/s    4.2 ms       12 mpc        exact

last decisions
   1 min 3 s  predict: 1 → 2 workers: 9 ms are expected of one
"""


@pytest.mark.parametrize(("more", "part"), [
    ({"shadow": True}, "shadow: decides without acting"), ({"draining": True}, "draining"),
    ({"controlled": False}, "no controller"), ({"late": 3, "shed": 1500}, "(3 late, 1.5k shed)"),
    ({"operators": []}, "no operator of this program can be controlled"),
    ({"operators": [operator(workers_held=True, alternate_held=True)]}, "2 of 4!"),
    ({"operators": [operator(fell_back=True)]}, "mpc → rule"),
    ({"power": 31.5, "power_is_measured": True, "frequency": 1.8e9}, "1.80 GHz   power 31.5 W"),
    ({"changes": [change(acted=False)]}, "(shadow)"), ({"app": "a\x1b[2Jb"}, "a�[2Jb"),
    ({"rate": None, "latency": dict.fromkeys(status()["latency"])}, "goal mean ≤ 7 ms: –")])
def test_what_is_said(more, part):
    assert part in snapshot(status(**more), History())


@pytest.mark.parametrize(("throughputs", "told"), [
    ((0.98, 1.0), "98 % of those possible   goal throughput ≥ 95 %: kept"),
    ((0.98, 0.5), "50 % of those possible   goal throughput ≥ 95 %: missed"),
    ((None, 0.97), "97 % of those possible   goal throughput ≥ 95 %: kept"),
    ((None, None), "– of those possible   goal throughput ≥ 95 %: –")])
def test_a_goal_of_throughput(throughputs, told):
    goals = {**status()["goals"], "throughput": 0.95}
    operators = [operator(throughput=one) for one in throughputs]
    text = snapshot(status(goals=goals, operators=operators), History())
    assert told in text and "goal mean ≤ 7 ms: kept" in text


def test_a_missed_goal_is_red():
    late = {**status()["latency"], "mean": 0.009}
    (line,) = [line for line in screen(status(latency=late), History(), 120, 40) if "goal" in line]
    assert "\x1b[31mgoal mean ≤ 7 ms: missed\x1b[0m" in line


@pytest.mark.parametrize("width", [20, 40, 79, 100, 200])
@pytest.mark.parametrize("height", [4, 10, 40])
def test_it_fits(width, height):
    history = History()
    for step in range(300):
        history.add(status(control_steps=step, rate=float(step)))
    lines = plain(screen(status(changes=[change()] * 16, operators=[operator(), operator("another_operator")]), history,
                         width, height))
    assert len(lines) <= height and max(map(len, lines)) <= width


def test_history_counts_each_step_once():
    history = History()
    for step in (1, 1, 2):
        history.add(status(control_steps=step, rate=float(step)))
    assert history.curve("rate", 10) == "▅█" and history.curve("rate", 1) == "" and history.curve("nothing", 9) == ""


def test_sparklines():
    assert sparkline([0, 4, math.nan, 8]) == "▁▅ █" and sparkline([0.0, 0.0]) == "▁▁" and sparkline([]) == ""


@pytest.mark.parametrize(("quantile", "name"), [(None, "mean"), (0.5, "p50"), (0.75, "p90"), (0.95, "p95"),
                                                (0.9999, "max")])
def test_the_statistic_of_the_goal(quantile, name):
    assert goal_statistic({"quantile": quantile}) == name


@pytest.mark.parametrize(("text", "wanted"), [
    (count_text(999.7), "1k"), (count_text(12345), "12.3k"), (count_text(0.25), "0.25"), (count_text(None), "–"),
    (count_text(math.nan), "–"), (rate_text(1e7), "10M/s"), (time_text(0.0042), "4.2 ms"), (time_text(0), "0 s"),
    (time_text(0.9996), "1 s"), (time_text(5e-10), "0.5 ns"), (clock_text(3661), "1 h 1 min"), (clock_text(-1), "0 s"),
    (axis_text(120), "2 min"), (axis_text(0.5), "0.5 s"), (axis_text(7200), "2 h")])
def test_units(text, wanted):
    assert text == wanted
