"""`dfc deploy` from outside: the table, the file, and one line for everything that is missing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
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


def test_resume_takes_what_is_there_and_refuses_what_is_of_another_problem(dfc, tmp_path):
    plan = tmp_path / "plan.json"
    words = ("deploy", str(PROGRAM), *RATES, "--algorithms", "ce,ga", "-o", str(plan))
    first = dfc(*words, "--restarts", "1")
    assert first.returncode == 0, first.stderr
    found = json.loads(plan.read_text())
    again = dfc(*words, "--restarts", "1", "--resume")
    assert again.returncode == 0 and "ga gives most" in again.stdout
    assert json.loads(plan.read_text()) == found  # also the seconds: nothing was searched
    other = dfc("deploy", str(PROGRAM), "--rate", "reports=6", "--rate", "weather=1", "-o", str(plan), "--resume")
    assert other.returncode == 2 and other.stderr.count("\n") == 1 and "without --resume" in other.stderr
    assert json.loads(plan.read_text()) == found
    plan.write_text("{")
    assert "without --resume" in dfc(*words, "--resume").stderr
    assert "-o" in dfc(*words[:-2], "--resume").stderr


def test_interrupted_it_writes_what_it_has_found(tmp_path):
    plan = tmp_path / "plan.json"
    command = [sys.executable, "-m", "dfc.compiler.cli", "deploy", str(PROGRAM), *RATES, "--algorithms", "sh,ga",
               "--restarts", "60", "-o", str(plan)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not plan.exists() or len(json.loads(plan.read_text())["deployments"]) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=120)
    assert process.returncode == 130 and "(interrupted)" in out and said.count("\n") == 1 and "--resume" in said
    found = json.loads(plan.read_text())["deployments"]
    assert found[1]["algorithm"] == "ga" and not found[1]["complete"] and len(found[1]["seeds"]) >= 1
