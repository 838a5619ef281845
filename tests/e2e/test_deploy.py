"""`dfc deploy` from outside: the table, the file, and one line for everything that is missing."""

from __future__ import annotations

import json
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "examples" / "linear_road" / "linear_road.dfl"
RATES = ("--rate", "reports=5", "--rate", "weather=1")


def test_the_greedy_algorithms_keep_the_goal(dfc, tmp_path):
    done = dfc("deploy", str(PROGRAM), *RATES, "--algorithms", "sh,ce", "-o", str(tmp_path / "plan.json"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "plan.json").read_text())
    assert [d["algorithm"] for d in found["deployments"]] == ["sh", "ce"]
    assert all(d["throughput"] >= 0.75 for d in found["deployments"])
    assert found["deployments"][0]["profit"] <= found["deployments"][1]["profit"]
    assert {core for m in found["deployments"][1]["machines"] for core in m["cores"]} >= {"congestion", "toll", "parse"}
    assert "gives most" in done.stdout


def test_a_rate_must_be_known(dfc):
    done = dfc("deploy", str(PROGRAM))
    assert done.returncode == 2
    assert "--rate reports=N" in done.stderr


def test_a_rate_is_of_a_source(dfc):
    done = dfc("deploy", str(PROGRAM), "--rate", "roports=5")
    assert done.returncode == 2
    assert "`roports` is not a source" in done.stderr


def test_machines_come_from_the_program(dfc, tmp_path):
    program = tmp_path / "app.dfl"
    program.write_text('app a\nrecord R { v: f64 }\nsource s: R = csv("a.csv")\nsink o = s to csv("b.csv")\n')
    done = dfc("deploy", str(program), "--rate", "s=1")
    assert done.returncode == 2
    assert "cloud {" in done.stderr
