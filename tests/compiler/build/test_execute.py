"""A program that `dfc run` starts: its ending becomes dfc's exit code, signals reach it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from dfc.compiler.build.execute import execute

CODE = ("import sys; from pathlib import Path; from dfc.compiler.build.execute import execute\n"
        "sys.exit(execute(Path(sys.argv[1]), sys.argv[2:]))")


def script(folder, text: str):
    path = folder / "program"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(("ending", "code"), [("exit 0", 0), ("exit 1", 4), ("exit 2", 2), ("exit 77", 4),
                                              ("kill -9 $$", 4), ("kill -INT $$", 130)])
def test_endings(tmp_path, ending, code):
    assert execute(script(tmp_path, ending), []) == code


def test_words_are_handed_on(tmp_path, capfd):
    execute(script(tmp_path, 'printf "%s|" "$@"'), ["a b", "--stats", ""])
    assert capfd.readouterr().out == "a b|--stats||"


def test_a_signal_is_named(tmp_path, capsys):
    execute(script(tmp_path, "kill -SEGV $$"), [])
    assert "SIGSEGV" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_reach_the_program(tmp_path, number):
    path = script(tmp_path, "trap 'echo told; exit 0' TERM INT\necho ready\nwhile :; do sleep 0.05; done\n")
    process = subprocess.Popen([sys.executable, "-c", CODE, path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    assert (process.stdout.readline(), process.wait(30)) == ("told\n", 0)
