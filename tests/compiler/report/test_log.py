"""Reading decision logs: whole ones, broken ones, and files that are none."""

from __future__ import annotations

import json
import math

import pytest
from dfc.compiler.failure import Failure, Usage
from dfc.compiler.report.log import read_log, read_runs

from tests.compiler.report import logs


def test_a_whole_log(tmp_path):
    run = read_log(logs.write(tmp_path / "run" / "decisions.jsonl", *logs.story()))
    assert (run.name, run.duration, run.statistic, run.latency_goal, run.unread) == ("run", 10.0, "mean", 0.007, 0)
    assert [moment.step for moment in run.moments] == list(range(1, 11))
    changes = [(one.time, one.before.workers, one.after.workers) for one in run.operators["predict"] if one.changed]
    assert changes == [(4.0, 1, 2), (8.0, 2, 1)]
    figures = run.figures()["predict"]
    assert (figures.reconfigurations, figures.violations, figures.settling, figures.workers) == (2, 2, 2.0, 1.4)
    assert run.events[0].detail == "the input has ended"


def test_shadow_decisions_are_no_reconfigurations(tmp_path):
    rows = [logs.start(), logs.step(1, logs.setting(1), logs.setting(2), acted=False), logs.step(2)]
    run = read_log(logs.write(tmp_path / "a.jsonl", *rows))
    assert run.name == "a" and run.figures()["predict"].reconfigurations == 0
    assert run.operators["predict"][0].changed


def test_changes_by_command_are_changes(tmp_path):
    two, other = logs.setting(2), logs.setting(2, "average")
    rows = [logs.start(), logs.step(1), logs.event(1.5, "command", "workers predict 2: predict: 2 workers, held"),
            logs.event(1.6, "refused", "workers predict 99: predict: at most 4"),
            logs.event(1.7, "command", "workers other 3: other: 3 workers, held"), logs.step(2, two),
            logs.event(2.2, "command", "alternate predict average: predict: held"),
            logs.step(3, other, logs.setting(1)), logs.step(4)]
    run = read_log(logs.write(tmp_path / "a.jsonl", *rows))
    found = [(one.time, one.before.workers, one.after.workers, one.after.alternate, one.reason)
             for one in run.changes()]
    assert found == [(1.5, 1, 2, None, "by command: workers predict 2"),
                     (2.2, 2, 2, "average", "by command: alternate predict average"), (3.0, 2, 1, None, "stays")]
    assert run.figures()["predict"].reconfigurations == 3


def test_what_a_shadow_would_have_done_is_not_taken_for_a_command(tmp_path):
    rows = [logs.start(), logs.step(1, logs.setting(1), logs.setting(2), acted=False), logs.step(2), logs.step(3)]
    (one,) = read_log(logs.write(tmp_path / "a.jsonl", *rows)).changes()
    assert (one.time, one.acted) == (1.0, False)


def test_a_change_that_no_command_tells_of(tmp_path):
    rows = [logs.start(), logs.step(1), logs.step(2, logs.setting(2))]
    (one,) = read_log(logs.write(tmp_path / "a.jsonl", *rows)).changes()
    assert (one.time, one.reason) == (1.0, "not by a decision")


def test_a_goal_for_throughput(tmp_path):
    goals = {**logs.GOALS, "latency": None, "throughput": 0.95}
    slow = logs.step(2)
    slow["outcome"]["throughput"] = 0.9
    run = read_log(logs.write(tmp_path / "a.jsonl", logs.start(goals=goals), logs.step(1, latency=9.0), slow))
    assert run.figures()["predict"].violations == 1


def test_a_goal_for_throughput_counts_beside_one_for_latency(tmp_path):
    goals = {**logs.GOALS, "throughput": 0.95}
    few, selective = logs.step(2), logs.step(3)
    few["outcome"]["throughput"] = 0.9  # what was shed is in it
    selective["measured"]["results"] = 1.0  # of ten triggers, and all that were due
    rows = [logs.start(goals=goals), logs.step(1, latency=9.0), few, selective]
    assert [step.violation for step in read_log(logs.write(tmp_path / "a.jsonl", *rows)).steps_of("predict")] == [
        True, True, False]


@pytest.mark.parametrize(("quantile", "name"), [(None, "mean"), (0.5, "p50"), (0.95, "p95"), (0.999, "p999"),
                                                (0.75, "p75"), (0.05, "p05"), (0.9, "p90")])
def test_statistics_have_names(tmp_path, quantile, name):
    run = read_log(logs.write(tmp_path / "a.jsonl", logs.start(goals={**logs.GOALS, "quantile": quantile})))
    assert run.statistic == name


def test_a_program_that_was_killed_leaves_half_a_line(tmp_path):
    path = logs.write(tmp_path / "a.jsonl", *logs.story(), rest='{"schema":1,"kind":"st')
    run = read_log(path)
    assert run.unread == 1 and len(run.moments) == 10


def test_lines_that_say_nothing_are_counted(tmp_path):
    broken = [{"schema": 1, "kind": "step", "operator": "x"}, {"schema": 1, "kind": "program", "uptime": []}]
    unknown = {"schema": 1, "kind": "weather"}
    path = logs.write(tmp_path / "a.jsonl", logs.start(), *broken, unknown, {"kind": "step"}, rest="[]\nnull\n\xff\n")
    run = read_log(path)
    assert run.unread == 6 and not run.operators and not run.moments


def test_another_schema_is_refused(tmp_path):
    with pytest.raises(Failure, match=r"a\.jsonl:2: the decision log has schema 9; this version of dfc reads 1"):
        read_log(logs.write(tmp_path / "a.jsonl", logs.start(), {**logs.start(), "schema": 9}))


def test_what_is_no_log(tmp_path):
    with pytest.raises(Usage, match="there is no `.*none`"):
        read_runs(str(tmp_path / "none"))
    with pytest.raises(Usage, match="has no decision log"):
        read_runs(str(tmp_path))
    with pytest.raises(Usage, match="is no decision log"):
        read_runs(str(logs.write(tmp_path / "a.jsonl", {"a": 1})))


def test_a_folder_of_runs(tmp_path):
    logs.write(tmp_path / "mpc" / "decisions.jsonl", *logs.story())
    logs.write(tmp_path / "rule" / "decisions.jsonl", *logs.story())
    logs.write(tmp_path / "results.jsonl", {"symbol": "A", "price": 1})
    assert [run.name for run in read_runs(str(tmp_path))] == ["mpc", "rule"]


def test_the_summary_beside_the_log(tmp_path):
    path = logs.write(tmp_path / "decisions.jsonl", *logs.story())
    (tmp_path / "stats.json").write_text(json.dumps({"latency_us": {"mean": 5.0}}))
    assert read_log(path).stats == {"latency_us": {"mean": 5.0}}
    (tmp_path / "stats.json").write_text("{")
    assert read_log(path).stats is None


def test_what_was_not_measured_is_not_a_number(tmp_path):
    row = logs.step(1, latency=None, forecast=None)
    row["measured"]["arrivals"] = 0.0
    (one,) = read_log(logs.write(tmp_path / "a.jsonl", logs.start(), row)).operators["predict"]
    assert math.isnan(one.latency) and math.isnan(one.forecast) and math.isnan(one.selectivity) and one.rate == 0
