"""`dfc ctl` and `dfc top` against a program that is not there."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from dfc.compiler.failure import Failure, Usage
from dfc.compiler.live.client import Busy, Client, Gone, Refused, printable

from tests.compiler.live.fake_program import FakeProgram, change, operator, status

METRICS = "# HELP dfc_x X.\n# TYPE dfc_x gauge\ndfc_x 1.0\n"


def dfc(*words: str, cwd: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "dfc.compiler.cli", *words], cwd=cwd, capture_output=True, text=True,
                          timeout=120)


def said(answer: subprocess.CompletedProcess, code: int) -> str:
    """The only line on stderr."""
    assert answer.returncode == code, answer.stderr
    (line,) = answer.stderr.splitlines()
    return line


@pytest.fixture
def program(tmp_path):
    answers = {"status": {"ok": True, "status": status()}, "metrics": METRICS + "# EOF\n",
               "decisions": {"ok": True, "decisions": [change()]},
               "plan": {"ok": True, "plan": ["one", "  two\x1b[2J"]}, "policy predict mpc": "what?\n",
               "config": {"ok": True, "config": {"schema": 1}}, "help": {"ok": True, "help": ["status: this"]},
               "workers predict 3": {"ok": True, "message": "predict: 3 workers"}, "drain": "hang up",
               "workers predct 3": {"ok": False, "error": "no operator 'predct'"},
               "workers nothing 3": {"ok": False, "error": "no operator 'nothing'"},
               "alternate predict quik": {"ok": False, "error": "no alternate 'quik'"},
               "shadow on": {"ok": False, "again": True, "error": "a change is on its way"},
               f"reload {tmp_path}/other.json": {"ok": True, "message": "read"}}
    with FakeProgram(tmp_path / "app.sock", answers) as program:
        yield program


@pytest.mark.parametrize(("words", "text"), [
    ("workers predict 3", "predict: 3 workers\n"), ("metrics", METRICS), ("plan", "one\n  two�[2J\n"),
    ("config", '{\n  "schema": 1\n}\n'), ("", "status: this\n"), ("reload other.json", "read\n"),
    ("decisions", "  1 min 3 s  predict: 1 → 2 workers: 9 ms are expected of one\n")])
def test_answers_as_text(tmp_path, program, words, text):
    answer = dfc("ctl", "app.sock", *words.split(), cwd=tmp_path)
    assert (answer.returncode, answer.stdout.lstrip(), answer.stderr) == (0, text.lstrip(), "")


def test_answers_as_json(tmp_path, program):
    assert json.loads(dfc("ctl", "app.sock", "status", "--json", cwd=tmp_path).stdout)["status"]["tuples"] == 1_200_000
    answer = dfc("ctl", "app.sock", "metrics", "--json", cwd=tmp_path)
    assert json.loads(answer.stdout) == {"ok": True, "metrics": METRICS}


@pytest.mark.parametrize(("words", "code", "text"), [
    ("workers predct 3", 2, "dfc: no operator 'predct'; did you mean `predict`?"),
    ("alternate predict quik", 2, "dfc: no alternate 'quik'; did you mean `quick`?"),
    ("wrkers", 2, "dfc: what is 'wrkers'?; did you mean `workers`?"), ("shadow on", 4, "dfc: a change is on its way"),
    ("drain", 4, "dfc: the program has ended"), ("policy predict mpc", 4, "does not talk like a program of dfc")])
def test_refusals(tmp_path, program, words, code, text):
    assert text in said(dfc("ctl", "app.sock", *words.split(), cwd=tmp_path), code)


def test_what_there_is_is_said_once_by_the_program(tmp_path, program):
    assert said(dfc("ctl", "app.sock", "workers", "nothing", "3", cwd=tmp_path), 2) == "dfc: no operator 'nothing'"


def test_no_program(tmp_path):
    assert "there is no socket `app.sock`" in said(dfc("top", "app.sock", cwd=tmp_path), 4)
    (tmp_path / "app.sock").write_text("")
    assert "`app.sock` is no socket" in said(dfc("ctl", "app.sock", cwd=tmp_path), 2)
    (tmp_path / "app.sock").unlink()
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "app.sock"))
    left.close()
    assert "the program that made it has ended" in said(dfc("ctl", "app.sock", cwd=tmp_path), 4)


def test_a_program_that_is_about_to_listen(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as program:
        program.bind(str(tmp_path / "app.sock"))
        monkeypatch.setattr("dfc.compiler.live.client.time.sleep", lambda _: program.listen())
        with Client(str(tmp_path / "app.sock")):
            program.accept()[0].close()


def test_a_folder_stands_for_its_socket(tmp_path, program):
    assert dfc("ctl", ".", "config", cwd=tmp_path).returncode == 0
    (tmp_path / "empty").mkdir()
    assert "no socket of a running program" in said(dfc("ctl", "empty", cwd=tmp_path), 2)
    with FakeProgram(tmp_path / "b.sock", {}):
        assert "several sockets: app.sock, b.sock" in said(dfc("ctl", ".", cwd=tmp_path), 2)


def test_a_path_longer_than_the_system_takes(tmp_path, monkeypatch):
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.chdir(deep)
    answers = {"config": {"ok": True, "config": {}}}
    with FakeProgram(Path("app.sock"), answers), Client(str(deep / "app.sock")) as client:
        assert client.ask("config")["config"] == {}


def test_what_the_client_refuses_to_send(tmp_path, program):
    with Client(str(tmp_path / "app.sock")) as client:
        for request in ("a\nb", "a\x00", "x" * 5000):
            with pytest.raises(Usage, match="one line of text"):
                client.ask(request)
        assert client.ask("config")["ok"]
    assert program.heard == ["config"]


def test_kinds_of_refusal(tmp_path, program):
    with Client(str(tmp_path / "app.sock")) as client:
        with pytest.raises(Refused):
            client.ask("nonsense")
        with pytest.raises(Busy):
            client.ask("shadow on")
        with pytest.raises(Gone):
            client.ask("drain")
        with pytest.raises(Failure):
            client.ask("status")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_somebody_elses_socket(tmp_path, program):
    (tmp_path / "app.sock").chmod(0)
    assert "may only be used by whoever started" in said(dfc("ctl", "app.sock", cwd=tmp_path), 4)


def test_top_without_a_terminal_prints_once(tmp_path, program):
    answer = dfc("top", "app.sock", cwd=tmp_path)
    assert answer.returncode == 0 and "\x1b" not in answer.stdout
    assert "trading   up 2 min 13 s" in answer.stdout and "goal mean ≤ 7 ms: kept" in answer.stdout
    assert program.heard == ["status"]


def test_top_in_a_terminal(tmp_path):
    """Pictures until the program ends; then the screen is as it was, with the last one on it."""
    pages = iter([status(control_steps=step, rate=1000.0 * step) for step in (1, 2)])

    class Ending(dict):
        def get(self, request, default=None):
            page = next(pages, None)
            return {"ok": True, "status": page} if page else "hang up"

    with FakeProgram(tmp_path / "app.sock", Ending()):
        text = _in_a_terminal(tmp_path, "top", "app.sock", "--interval", "0.05")
    assert text.startswith("\x1b[?1049h") and text.count("\x1b[H") == 2
    last = text.split("\x1b[?1049l")[-1]
    assert "▅█" in last and last.endswith("the program has ended\r\n")


def test_top_leaves_when_asked(tmp_path, program):
    text = _in_a_terminal(tmp_path, "top", "app.sock", "--interval", "60", keys=b"q")
    assert "q: leave" in text and "ended" not in text


def _in_a_terminal(folder: Path, *words: str, keys: bytes = b"") -> str:
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen([sys.executable, "-m", "dfc.compiler.cli", *words], cwd=folder, stdin=theirs,
                               stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    text = b""
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if keys and b"leave" in text:
            os.write(ours, keys)
            keys = b""
    os.close(ours)
    assert process.wait(120) == 0
    return text.decode()


def test_a_terminal_is_never_told_what_to_do():
    assert printable("a\x1b[2J\x07\x9b\nb") == "a�[2J���b"


def test_the_fake_is_like_the_real_one():
    """Keys of a status are those that runtime_c writes; its own test has them as text."""
    text = (Path(__file__).parents[3] / "runtime_c" / "tests" / "test_control_requests.c").read_text()
    names = {*status(), *operator(), *change(), *change()["before"], *status()["latency"], *status()["goals"]}
    assert not [name for name in sorted(names) if f'\\"{name}\\":' not in text]


