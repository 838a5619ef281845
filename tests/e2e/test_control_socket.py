"""A running program and its control socket, from outside: what it says, what it does, and who can't hurt it."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.native import PATIENCE, Native, Talk, compiled, one_line, wait_until
from tests.e2e.sockets import Line, call, line_of

HEAD = """\
app live
record Reading { k: i64, v: f64 }
record Typical { k: i64, t: f64 }
source readings: Reading = csv("-")
operator typical on readings by k window count 2 -> Typical {
  alternate exact value 1.0 = { k, t: median(v) }
  alternate quick value 0.5 = { k, t: avg(v) }
}
sink out = typical to csv("-")
"""
GOALS = "goal latency mean <= 7ms\ncontrol rule { step: 50ms }\n"
SEED = int(os.environ.get("DFC_TEST_SEED", "0")) or random.randrange(1 << 30)


@pytest.fixture(scope="module")
def free(tmp_path_factory) -> Native:
    """Nobody controls it."""
    return compiled(HEAD, tmp_path_factory.mktemp("free"))


@pytest.fixture(scope="module")
def controlled(tmp_path_factory) -> Native:
    return compiled(HEAD + GOALS, tmp_path_factory.mktemp("controlled"))


class Running:
    """The program with its input open, and a line to its socket `a.sock`."""

    def __init__(self, program: Native, folder: Path, *words: object, begins: bool = True):
        self.folder = folder
        self.process = program.at(folder).start("--socket", "a.sock", *words)
        self.talk = Talk(self.process)
        if begins:
            self.talk.say("k,v\n")  # a program reads on when it has the header
        wait_until(lambda: _answers(folder / "a.sock"), self.process)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def call(self) -> Line:
        return call(str(self.folder / "a.sock"))

    def ask(self, request: str) -> dict:
        line = self.call()
        line.say(request + "\n")
        (answer,) = line.hear(1)
        line.close()
        return json.loads(answer)

    def status(self) -> dict:
        return self.ask("status")["status"]

    def end(self) -> None:
        """No more input; nothing but the header, if that was not there before, may still come."""
        assert self.talk.end() in ([], ["k,t"])

    def feed(self) -> None:
        """Two tuples of a key, and the result that they give."""
        self.talk.say("1,2\n1,4\n")
        assert self.talk.hear(2) == ["k,t", "1,3.0"]


@pytest.fixture
def running(controlled, tmp_path):
    with Running(controlled, tmp_path) as it:
        yield it


# --- at once ----------------------------------------------------------------------------------------


def test_it_answers_before_its_input_begins(controlled, tmp_path):
    with Running(controlled, tmp_path, begins=False) as running:
        assert running.status()["tuples"] == 0 and running.ask("alternate typical quick")["ok"]
        running.talk.say("k,v\n")
        running.feed()
        running.end()


def test_it_can_be_told_to_end_before_its_input_begins(controlled, tmp_path):
    with Running(controlled, tmp_path, begins=False) as running:
        assert running.ask("drain")["ok"]
        assert running.process.wait(PATIENCE) == 0


def test_changes_do_not_wait_for_input(controlled, tmp_path):
    """Nothing comes; yet each change is complete, or the next one would be refused."""
    with Running(controlled, tmp_path, "--max-workers", 3, "--layout", "staged") as running:
        for workers in (2, 3, 1):
            wait_until(lambda to=workers: running.ask(f"workers typical {to}")["ok"], running.process)
        running.feed()
        running.end()


# --- saying -----------------------------------------------------------------------------------------


def test_a_program_that_nobody_controls_answers_if_asked_to(free, tmp_path):
    with Running(free, tmp_path) as running:
        assert stat.S_IMODE((tmp_path / "a.sock").stat().st_mode) == 0o600
        running.feed()
        wait_until(lambda: running.status()["results"] == 1)
        found = running.status()
        assert (found["app"], found["tuples"], found["controlled"]) == ("live", 2, False)
        assert found["operators"][0]["policy"] == "off"
        assert running.ask("plan")["plan"][0].startswith("segment 0 read: readings")
        running.end()
    assert not (tmp_path / "a.sock").exists()


def test_without_a_controller_there_is_no_socket_unless_asked_for(free, tmp_path):
    answer = free.at(tmp_path).run(input="k,v\n1,2\n1,4\n")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "k,t\n1,3.0\n", "")


def started(program: Native, folder: Path) -> subprocess.Popen:
    process = program.at(folder).start()
    Talk(process).say("k,v\n")
    return process


def test_a_controlled_program_has_its_socket_beside_it(controlled, tmp_path):
    process = started(controlled, tmp_path)
    beside = controlled.path.with_name("live.sock")
    wait_until(beside.exists, process)
    Talk(process).end()
    assert not beside.exists()


def test_it_runs_without_if_that_is_taken(controlled, tmp_path):
    process = started(controlled, tmp_path)
    wait_until(controlled.path.with_name("live.sock").exists, process)
    second = controlled.at(tmp_path).run(input="k,v\n1,2\n1,4\n")
    assert second.stdout == "k,t\n1,3.0\n"
    assert "live: runs without a control socket: cannot listen on" in one_line(second)[1]
    assert controlled.at(tmp_path).run("--no-socket", input="k,v\n").stderr == ""
    Talk(process).end()


SAMPLE = re.compile(r'[a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z]+="(?:[^"\\\n]|\\[\\"n])*")*\})? (\S+)')


def check_exposition(text: str) -> dict[str, float]:
    """Prometheus' text format: families in one piece, each with help and type before its samples."""
    found, family, kinds = {}, None, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split()[2]
            assert family not in kinds
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            assert name == family and kind in ("counter", "gauge", "histogram")
            kinds[family] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match and line.startswith(family), line
            assert line not in found
            found[line.rsplit(" ", 1)[0]] = float(match[1])
    return found


def test_metrics_on_the_socket_and_over_http(controlled, tmp_path):
    with Running(controlled, tmp_path, "--http", "127.0.0.1:0") as running:
        said = line_of(running.process)
        assert said.startswith("metrics: listening on 127.0.0.1:")
        running.feed()
        wait_until(lambda: running.status()["results"] == 1)
        line = running.call()
        line.say("metrics\nhelp\n")
        text = []
        while not text or text[-1] != "# EOF":
            text += line.hear(1)
        assert json.loads(line.hear(1)[0])["ok"]
        line.close()
        found = check_exposition("\n".join(text[:-1]))
        assert found["dfc_tuples_total"] == 2 and found['dfc_operator_workers{operator="typical"}'] == 1
        assert found['dfc_operator_alternate{operator="typical",alternate="exact"}'] == 1
        buckets = [value for name, value in found.items() if name.startswith("dfc_latency_seconds_bucket")]
        assert buckets == sorted(buckets) and buckets[-1] == found["dfc_latency_seconds_count"] == 1
        place = f"http://{said.split()[-1]}"
        with urllib.request.urlopen(f"{place}/metrics", timeout=PATIENCE) as answer:
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            assert check_exposition(answer.read().decode())["dfc_tuples_total"] == 2
        with urllib.request.urlopen(f"{place}/healthz", timeout=PATIENCE) as answer:
            assert answer.read() == b"ok\n"
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{place}/drain", timeout=PATIENCE)
        running.end()


def test_http_stays_on_this_machine(controlled, tmp_path):
    code, said = one_line(controlled.at(tmp_path).run("--http", "0.0.0.0:0", "--no-socket", input="k,v\n"))
    assert code == 2 and "can be reached from other machines" in said and "--http-public" in said
    assert one_line(controlled.at(tmp_path).run("--http", "0.0.0.0:0", input="k,v\n")) == (code, said)


# --- doing ------------------------------------------------------------------------------------------


def test_commands(running):
    running.feed()
    assert running.ask("alternate typical quick")["ok"]
    assert running.status()["operators"][0]["alternate_held"]
    assert running.ask("policy typical mpc")["ok"] and running.status()["operators"][0]["policy"] == "mpc"
    assert running.ask("shadow on")["ok"] and running.status()["shadow"]
    assert running.ask("decisions 1")["decisions"][0]["after"]["alternate"] == "quick"
    assert running.ask("config")["config"]["app"] == "live"
    for wrong in ("workers typical 0", "workers typical many", "workers other 1", "alternate typical slow", "shadow",
                  "policy typical magic", "fly", "workers", "decisions 1000"):
        answer = running.ask(wrong)
        assert not answer["ok"] and answer["error"], wrong
    running.end()


def test_draining_ends_well_and_loses_nothing(running):
    running.feed()
    assert running.ask("drain")["ok"]
    assert running.process.wait(PATIENCE) == 0
    assert not (running.folder / "a.sock").exists()


def test_a_broken_configuration_is_refused_and_the_running_one_stays(running):
    before = running.ask("config")
    for text in ("", "{", "[]", '{"schema": 99}', json.dumps({**before["config"], "step": -1})):
        (running.folder / "new.json").write_text(text)
        answer = running.ask("reload new.json")
        assert not answer["ok"] and "new.json" in answer["error"], answer
    assert not running.ask("reload none.json")["ok"] and not running.ask("reload .")["ok"]
    assert running.ask("config") == before
    (running.folder / "new.json").write_text(json.dumps({**before["config"], "step": 0.2}))
    assert running.ask("reload new.json")["ok"] and running.ask("config")["config"]["step"] == 0.2
    running.end()


def reload_cores(running: Running, least: int, most: int) -> str:
    config = running.ask("config")["config"]
    config["resources"]["cores"] = {"least": least, "most": most}
    (running.folder / "new.json").write_text(json.dumps(config))
    return running.ask("reload new.json")["message"]


@pytest.mark.skipif(os.sysconf("SC_NPROCESSORS_ONLN") < 2, reason="one core: nothing to give up")
def test_cores_change_with_the_configuration(controlled, tmp_path):
    with Running(controlled, tmp_path, "--layout", "staged") as running:
        there = running.status()["operators"][0]["workers_most"]
        assert there >= 2
        for least, most in ((1, 1), (2, 2), (1, 2)):
            assert reload_cores(running, least, most) == "new.json is in force"
            found = running.status()["operators"][0]
            assert (found["workers_least"], found["workers_most"]) == (least, most)
        assert reload_cores(running, 1, 256) == "new.json is in force"
        assert running.status()["operators"][0]["workers_most"] == there
        running.end()


def test_who_asks_for_too_many_workers_hears_why(controlled, tmp_path):
    cores = len(os.sched_getaffinity(0))
    started = {("--max-workers", 3): (3, "this run was started with --max-workers 3"),
               ("--workers", 2): (2, "this run was started with --workers 2 and no --max-workers"),
               (): (cores, f"this run has {cores}, as the machine has {cores} core{'s' if cores > 1 else ''}; "
                           "--max-workers at its start allows more")}
    for number, (words, (most, why)) in enumerate(started.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        with Running(controlled, folder, "--layout", "staged", *words) as running:
            assert running.ask("workers typical 99")["error"] == (
                f"typical: from 1 to {most} workers are allowed, or auto, not '99': {why}")
            running.end()


def test_workers_stay_within_what_is_allowed(controlled, tmp_path):
    with Running(controlled, tmp_path, "--max-workers", 4, "--layout", "staged") as running:
        config = running.ask("config")["config"]
        (one,) = config["operators"]
        one["workers"] = {"least": 2, "most": 3}
        (running.folder / "new.json").write_text(json.dumps(config))
        assert running.ask("workers typical 4")["ok"]
        assert running.ask("reload new.json")["message"] == (
            "new.json is in force; typical is held at 3 workers, not 4")
        for wrong, why in ((1, ""), (4, ": the configuration allows no more")):
            assert running.ask(f"workers typical {wrong}") == {
                "ok": False, "error": f"typical: from 2 to 3 workers are allowed, or auto, not '{wrong}'{why}"}
        one["workers"] = {"least": 9, "most": 9}
        (running.folder / "new.json").write_text(json.dumps(config, indent=1))
        error = running.ask("reload new.json")["error"]
        assert re.fullmatch(r'new.json:\d+:\d+: "least" is expected to be at most 4, the replicas of typical in this '
                            "run; more need a new start", error), error
        running.end()


def test_cores_that_a_run_can_not_have_are_said(controlled, tmp_path):
    with Running(controlled, tmp_path, "--max-workers", 3, "--layout", "staged") as running:
        assert reload_cores(running, 1, 2) == "new.json is in force; --max-workers 3 goes before its 2 cores"
        assert reload_cores(running, 4, 5) == (
            "new.json is in force; it asks for at least 4 cores, and this run can have 3")
        assert running.status()["operators"][0]["workers_least"] == 3
        running.end()


def test_what_was_learned_is_kept_when_another_policy_decides_at_the_end(controlled, tmp_path):
    with Running(controlled, tmp_path, "--learned", "learned.txt") as running:
        assert running.ask("policy typical rl")["ok"]
        running.feed()
        steps = running.status()["control_steps"]
        wait_until(lambda: running.status()["control_steps"] > steps + 2, running.process)
        assert running.ask("policy typical rule")["ok"]
        config = running.ask("config")["config"]
        assert [one["policy"] for one in config["operators"]] == ["rule"]
        running.end()
    assert "typical rl " in (tmp_path / "learned.txt").read_text()


def test_a_pipe_is_no_configuration(running):
    """Nobody writes to it: a program that waited would answer nobody any more."""
    os.mkfifo(running.folder / "pipe")
    assert not running.ask("reload pipe")["ok"]
    running.end()


# --- files ------------------------------------------------------------------------------------------


def test_the_socket_of_a_living_program_is_left_alone(running, controlled):
    code, said = one_line(controlled.at(running.folder).run("--socket", "a.sock", input="k,v\n"))
    assert code == 4 and "cannot listen on 'a.sock': a running program has it" in said
    assert running.status()["app"] == "live"
    running.end()


def test_that_of_a_killed_one_is_taken_over(controlled, tmp_path):
    with Running(controlled, tmp_path) as first:
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(PATIENCE)
    assert (tmp_path / "a.sock").exists()
    with Running(controlled, tmp_path) as second:
        wait_until(lambda: _answers(tmp_path / "a.sock"), second.process)
        assert second.status()["tuples"] == 0
        second.end()


def _answers(path: Path) -> bool:
    try:
        call(str(path)).close()
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    return True


def test_other_files_are_left_alone(controlled, tmp_path):
    (tmp_path / "a.sock").write_text("precious")
    code, said = one_line(controlled.at(tmp_path).run("--socket", "a.sock", input="k,v\n"))
    assert code == 4 and "a file that is no socket is there" in said
    assert (tmp_path / "a.sock").read_text() == "precious"


# --- hostile callers --------------------------------------------------------------------------------


def test_no_caller_changes_a_result(running):
    """Half lines, garbage, floods and callers who vanish, while tuples go through."""
    print(f"DFC_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    open_lines = []
    for number in range(60):
        line = running.call()
        data = dice.choice((b"status", b"x" * 9000 + b"\n", dice.randbytes(300) + b"\n", b"metrics\n" * 200,
                            b"\n" * 4000, b"workers typical 99\n", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\n", b""))
        try:
            line.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # sent away while speaking
        (open_lines.append if dice.random() < 0.7 else Line.close)(line)
        running.talk.say(f"{number},2\n{number},4\n")
        assert running.talk.hear(1 + (number == 0))[-1] == f"{number},3.0"
    assert running.status()["operators"][0]["name"] == "typical"
    for line in open_lines:
        line.close()
    running.end()


def test_a_caller_who_never_reads_holds_up_nobody(running):
    deaf = [running.call() for _ in range(4)]
    for line in deaf:
        line.socket.setblocking(False)
        try:
            for _ in range(200):
                line.socket.send(b"metrics\n" * 500)
        except BlockingIOError:
            pass
    assert running.status()["app"] == "live"
    running.feed()
    for line in deaf:
        line.close()
    running.end()


# --- the commands of dfc ----------------------------------------------------------------------------


def dfc(*words: str, cwd: Path, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "dfc.compiler.cli", *words], cwd=cwd, capture_output=True, text=True,
                          timeout=PATIENCE, **options)


def test_top_and_ctl(running):
    running.feed()
    wait_until(lambda: running.status()["results"] == 1)
    top = dfc("top", "a.sock", cwd=running.folder)
    assert top.returncode == 0 and "live   up" in top.stdout and "typical" in top.stdout
    assert dfc("ctl", "a.sock", "alternate", "typical", "quick", cwd=running.folder).returncode == 0
    wrong = dfc("ctl", "a.sock", "alternate", "typicl", "quick", cwd=running.folder)
    assert wrong.returncode == 2 and "did you mean `typical`?" in one_line(wrong)[1]
    (running.folder / "deep").mkdir()
    (running.folder / "deep" / "c.json").write_text("{")
    answer = dfc("ctl", "../a.sock", "reload", "c.json", cwd=running.folder / "deep")
    assert answer.returncode == 2 and "deep/c.json" in answer.stderr, "the file is named from where the user stands"
    running.end()


def test_a_run_and_its_report(tmp_path):
    (tmp_path / "live.dfl").write_text(HEAD.replace('csv("-")\nop', 'generate(count: 200000, keys: 20, seed: 3)\nop')
                                       .replace('to csv("-")', 'to csv("out.csv")') + GOALS)
    answer = dfc("run", "live.dfl", "--log", "run", "--", "--step-rounds", "8", "--quiet", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["decisions.jsonl", "stats.json"]
    answer = dfc("report", "run", "--json", cwd=tmp_path)
    (found,) = json.loads(answer.stdout)
    assert found["operator"] == "typical" and found["steps"] > 0 and found["workers"] >= 1
    page = (tmp_path / "run" / "report.html").read_text()
    assert "latency mean ≤ 7 ms" in page and "tuples read" in page and ">200k<" in page
    assert not socket_files(tmp_path), "the socket is gone with the program"


def socket_files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_socket()]
