"""`dfc simulate --rates` from outside: the table, sweeps, pictures, and words that can't be. No test asserts a time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from importlib import resources
from xml.etree import ElementTree

import pytest

from tests.compiler.json_schema import mistakes

LOG_SCHEMA = json.loads(resources.files("dfc.compiler.codegen").joinpath("decision_log.schema.json").read_text())

APP = """\
app app
record T { ts: timestamp<ms>, key: i64, x: f64 }
record R { key: i64, m: f64 }
source s: T = csv("in.csv") event time ts
operator means on s by key window count 10 slide 5 -> R {
  alternate exact value 1.0 cost 2ms = { key, m: median(x) }
  alternate rough value 0.5 cost 200us = { key, m: avg(x) }
}
sink out = means to discard()
goal latency mean <= 20ms
minimize cores
control mpc { step: 1s, horizon: 2, gamma: 0.3 }
resources { cores: 1..6, frequency: 1GHz..2GHz step 0.5GHz }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "app.dfl").write_text(APP)
    (tmp_path / "walk.txt").write_text("8\n0 2000\n2 6000\n5 1500\n")
    (tmp_path / "keys.txt").write_text("\n".join(str(1 / rank) for rank in range(1, 201)))
    return tmp_path


def simulated(dfc, *words):
    answer = dfc("simulate", "app.dfl", "--rates", "walk.txt", "--json", *words)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_without_a_folder_the_table_says_where_pictures_come_from(dfc, folder):
    words = ("simulate", "app.dfl", "--rates", "walk.txt", "--policy", "static", "--seeds", "1")
    bare, drawn = dfc(*words), dfc(*words, "-o", "pictures")
    assert bare.stdout == drawn.stdout + (
        "\n-o FOLDER writes pictures of these runs and their decision logs, which `dfc report` reads\n")
    assert (folder / "pictures" / "index.html").exists()


def test_policies_side_by_side(dfc, folder):
    found = simulated(dfc, "--policy", "mpc,rule,static", "--seeds", "3", "--keys", "keys.txt")
    assert (found["app"], found["cores"], found["seconds"], found["seeds"]) == ("app", 6, 8, 3)
    by_policy = {one["policy"]: one for one in found["results"]}
    assert list(by_policy) == ["mpc", "rule", "static"]
    for one in by_policy.values():
        assert 1 <= one["workers"]["mean"] <= 6 and 0 < one["power"]["mean"] <= 100
        assert 0 <= one["violations"]["mean"] <= 8 and one["latency"]["mean"] > 0
    assert by_policy["static"]["workers"]["mean"] > by_policy["rule"]["workers"]["mean"]
    assert any("voltage grows like the frequency" in what for what in found["assumed"])


def test_the_same_command_says_the_same(dfc, folder):
    words = ("simulate", "app.dfl", "--rates", "walk.txt", "--seeds", "2", "--policy", "mpc,threshold")
    first, second = dfc(*words, "--jobs", "1"), dfc(*words, "--jobs", "2")
    assert first.returncode == 0 and first.stdout == second.stdout
    assert "means: 1000 keys" in first.stdout and "mean latency at most 20 ms" in first.stdout
    assert first.stdout.count("\nmpc ") == 1 and first.stderr == ""


def test_without_policies_the_programs_own_is_taken_with_its_settings(dfc, folder):
    (one,) = simulated(dfc, "--seeds", "1")["results"]
    assert one["policy"] == "mpc" and one["workers"]["half_interval"] is None


def test_every_combination_of_a_sweep(dfc, folder):
    found = simulated(dfc, "--policy", "mpc,static", "--set", "gamma=0,0.4", "--set", "horizon=1,2", "--set",
                      "goal=5ms", "--seeds", "1", "--service", "exact=1ms")
    assert [one["policy"] for one in found["results"]] == [
        *(f"mpc gamma={gamma} horizon={horizon} goal=5ms" for gamma in ("0", "0.4") for horizon in (1, 2)),
        "static goal=5ms"]


def test_the_head_has_the_goals_of_the_lines_below_it(dfc, folder):
    for goals, told in (("5ms", "latency at most 5 ms"), ("5ms,9ms", "latency at most 5 or 9 ms")):
        answer = dfc("simulate", "app.dfl", "--rates", "walk.txt", "--set", f"goal={goals}", "--seeds", "1", "-o",
                     "out")
        assert told in answer.stdout, answer.stdout + answer.stderr
        assert told in (folder / "out" / "index.html").read_text()


def test_a_function_in_c_is_guessed_and_said_to_be(dfc, folder):
    (folder / "app.dfl").write_text(APP.replace("cost 2ms = { key, m: median(x) }", '= c("f.c", "f")'))
    hint = ("nobody has said what the functions in C of `means` take: --service NAME=TIME does, `cost` in the program, "
            "or `dfc calibrate` and --profile")
    assert simulated(dfc, "--policy", "static", "--seeds", "1")["assumed"].count(hint) == 1
    assert hint not in simulated(dfc, "--policy", "static", "--seeds", "1", "--service", "exact=1ms")["assumed"]


def test_settings_of_the_run(dfc, folder):
    found = simulated(dfc, "--policy", "rule", "--set", "migration=fluent,s_blk", "--set", "rebalance=flux", "--set",
                      "step=2s", "--set", "cooldown=4s", "--set", "forecast=last", "--seeds", "1")
    assert len(found["results"]) == 2


class _Checked(HTMLParser):
    def __init__(self):
        super().__init__()
        self.outside = []

    def handle_starttag(self, tag, attrs):
        self.outside += [value for name, value in attrs if name in ("src", "href")]


def test_pictures_hold_everything_themselves(dfc, folder):
    simulated(dfc, "--policy", "mpc,rule", "--seeds", "1", "-o", "out")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["index.html", "means.svg", "mpc", "rule",
                                                                        "runs.json"]
    picture = ElementTree.parse(folder / "out" / "means.svg").getroot()
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}polyline")) == 7  # rate; workers, GHz, latency of both
    page = _Checked()
    page.feed((folder / "out" / "index.html").read_text())
    assert page.outside == []
    runs = json.loads((folder / "out" / "runs.json").read_text())
    assert [len(run["steps"]) for run in runs] == [8, 8]


def test_its_logs_are_those_that_the_report_reads(dfc, folder):
    found = simulated(dfc, "--policy", "mpc,rule", "--seeds", "1", "-o", "out")
    for policy in ("mpc", "rule"):
        lines = [json.loads(line) for line in (folder / "out" / policy / "decisions.jsonl").read_text().splitlines()]
        assert [problem for line in lines for problem in mistakes(line, LOG_SCHEMA)] == []
        assert [line["kind"] for line in lines] == ["start", *["program", "step"] * 8, "event"]
    answer = dfc("report", "out", "--json")
    assert answer.returncode == 0 and (folder / "out" / "report.html").stat().st_size > 1000
    told = {run["run"]: run for run in json.loads(answer.stdout)}
    for one in found["results"]:
        assert told[one["policy"]]["reconfigurations"] == one["reconfigurations"]["mean"]
        assert told[one["policy"]]["violations"] == one["violations"]["mean"]


@pytest.mark.parametrize(("words", "what"), [
    (("--rates", "walk.txt", "--policy", "magic"), "there is no policy `magic`; there are "),
    (("--rates", "none.txt"), "none.txt: No such file"),
    (("--rates", "walk.txt", "--set", "delta=1"), "--set delta: there is no such parameter; mpc have "),
    (("--rates", "walk.txt", "--set", "horizon=99"), "`horizon` of policy `mpc` is `99`; it can be 1 to 16"),
    (("--rates", "walk.txt", "--set", "step=soon"), "step is `soon`; expected a time"),
    (("--rates", "walk.txt", "--set", "step=1ms"), "a control step of 0.001 s; it can be 0.1 to 3600 s"),
    (("--rates", "walk.txt", "--set", "migration=slow"), "migration is `slow`; it can be fluent, r_blk, s_blk"),
    (("--rates", "walk.txt", "--set", "gamma"), "`gamma` is not NAME=VALUE"),
    (("--rates", "walk.txt", "--service", "magic=1ms"), "no such operator or alternate; there are means, exact, rough"),
    (("--rates", "walk.txt", "--service", "fast"), "`fast` is not TIME or NAME=TIME"),
    (("--rates", "walk.txt", "--seeds", "0"), "`0` is not a number from 1 to 10000"),
    (("--rates", "walk.txt", "--service-cv", "nan"), "is not a number from 0 to 10"),
    (("--rates", "walk.txt", "--overhead", "-1ms"), "expected one argument"),
    (("--rates", "walk.txt", "--overhead", "much"), "`much` is not a time up to an hour, such as 0.5ms"),
    (("--overhead", "1ms"), "--overhead needs --rates FILE"),
    (("--rates", "walk.txt", "--rate", "5"), "--rate and --rates exclude each other"),
    (("--rates", "walk.txt", "--pattern", "means=farm:2"), "--pattern and --rates exclude each other"),
    (("--rates", "walk.txt", "--keys", "none.txt"), "none.txt: No such file"),
    (("--policy", "mpc"), "--policy needs --rates FILE"),
    (("--keys", "keys.txt"), "--keys keys.txt needs --rates FILE"),
])
def test_words_that_cannot_be(dfc, folder, words, what):
    answer = dfc("simulate", "app.dfl", *words)
    assert answer.returncode == 2 and what in answer.stderr.replace("\n", " "), answer.stderr
    assert "Traceback" not in answer.stderr and not answer.stdout


def test_a_program_whose_degree_cannot_change(dfc, folder):
    (folder / "app.dfl").write_text("""\
app app
record T { x: f64 }
source s: T = csv("in.csv")
stream total = s |> window count 10 |> aggregate { m: avg(x) }
sink out = total to discard()
""")
    answer = dfc("simulate", "app.dfl", "--rates", "walk.txt")
    assert answer.returncode == 2 and "no operator whose degree can change" in answer.stderr


def test_an_interrupt_ends_it_without_a_word(folder):
    """Sent to the process alone: the children it started must go with it."""
    (folder / "walk.txt").write_text("\n".join(["9000"] * 3000))
    process = subprocess.Popen(
        [sys.executable, "-m", "dfc.compiler.cli", "simulate", "app.dfl", "--rates", "walk.txt", "--seeds", "50",
         "--jobs", "2"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and len(children(process.pid)) < 2:
        time.sleep(0.02)
    started = children(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130 and out == "" and "Traceback" not in err, err
    assert not [pid for pid in started if os.path.exists(f"/proc/{pid}") and "spawn_main" in command_of(pid)]


def children(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [child for child in file.read().split() if "spawn_main" in command_of(child)]
    except OSError:
        return []


def command_of(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""
