"""The full loop, small: run with logs, ingest, profile, optimize, compile with the plan, run. The new plan is better
under the recorded load, and the results are those of the interpreter."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from dfc.compiler.cli import main

pytest.importorskip("numpy")
EXAMPLE = Path(__file__).parents[2] / "examples" / "full_loop"
SECONDS, FIRST = 30, 4000  # of readings; those of the first three seconds are run


def load_example():
    spec = importlib.util.spec_from_file_location("full_loop", EXAMPLE / "loop.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_new_plan_is_better_and_gives_the_same_results(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(words) -> None:
        assert main(list(words)) == 0, capsys.readouterr().err

    loop = load_example().Loop(tmp_path, call)
    loop.record(SECONDS)
    rows = (tmp_path / "readings.csv").read_text().splitlines(keepends=True)
    (tmp_path / "first.csv").write_text("".join(rows[:FIRST]))
    first = ("--source", "readings=csv:first.csv", "--speed", "1x")
    loop.compile("before")
    loop.run("before", *first)
    loop.learn()
    profile = json.loads((tmp_path / "scoring.profile.json").read_text())
    service = profile["operators"]["score"]["costs"]["model"]["window"]
    assert service >= 8e6  # nanoseconds: what the model waits, at least

    plan = loop.search("--budget", "60", "--seeds", "2")
    old, new = plan["compared"], plan["expected"]
    assert new["violations"] <= old["violations"]
    assert new["violations"] < old["violations"] or new["cores"] < old["cores"]
    page = (tmp_path / "scoring.plan.html").read_text()
    assert f"{old['cores']:.2f} → {new['cores']:.2f}" in page

    loop.compile("after", "--profile", "scoring.profile.json", "--plan", "scoring.plan.json")
    loop.run("after", *first)
    (tmp_path / "first.csv").replace("readings.csv")
    assert main(["run", "scoring.dfl", "--interpret", "--profile", "scoring.profile.json"]) == 0
    expected = (tmp_path / "scores.csv").read_bytes()
    assert expected.count(b"\n") > 100 and (tmp_path / "after.csv").read_bytes() == expected
