"""How `dfc` is called: words, files that can't be read, exit codes, and no traceback whatever happens."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

COMMANDS = ("check", "fmt", "graph", "explain", "compile", "run", "error", "version")
FILE_COMMANDS = ("check", "fmt", "graph", "explain", "compile", "run")


def test_help_names_every_command(dfc):
    answer = dfc("--help")
    assert answer.returncode == 0
    assert all(command in answer.stdout for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(dfc, command):
    assert dfc(command, "--help").returncode == 0


def test_version(dfc):
    assert dfc("version").stdout == dfc("--version").stdout == "dfc 0.1.0\n"


@pytest.mark.parametrize("words", [
    (), ("chekc", "a.dfl"), ("check",), ("run", "--nope", "a.dfl"), ("run", "a.dfl", "--workers", "0"),
    ("run", "a.dfl", "--workers", "many"), ("run", "a.dfl", "-D", "novalue"), ("run", "a.dfl", "-D", "=3"),
    ("compile", "a.dfl", "--target", "mars"), ("compile", "a.dfl", "--emit", "soup"), ("graph", "a.dfl", "-o", "a.png"),
    ("error", "E9999999"), ("run", "a.dfl", "b.dfl"),
], ids=lambda words: " ".join(words) or "nothing")
def test_wrong_usage_is_2(dfc, words):
    answer = dfc(*words)
    assert answer.returncode == 2
    assert answer.stderr and "Traceback" not in answer.stderr and "internal error" not in answer.stderr


@pytest.mark.parametrize("command", FILE_COMMANDS)
def test_files_that_are_no_programs(dfc, tmp_path, command):
    (tmp_path / "folder.dfl").mkdir()
    (tmp_path / "latin.dfl").write_bytes(b"app a\n// caf\xe9\n")
    assert one_line(dfc(command, "missing.dfl")) == (2, "dfc: missing.dfl: no such file")
    assert one_line(dfc(command, "folder.dfl")) == (2, "dfc: folder.dfl: is a folder, not a program")
    assert one_line(dfc(command, "latin.dfl")) == (1, "dfc: latin.dfl:2: not UTF-8 (byte 0xe9)")


def one_line(answer) -> tuple[int, str]:
    (line,) = answer.stderr.splitlines()
    return answer.returncode, line


def test_a_huge_file_is_refused(dfc, tmp_path):
    with open(tmp_path / "huge.dfl", "wb") as file:
        file.truncate(1 << 40)
    code, line = one_line(dfc("check", "huge.dfl"))
    assert code == 1 and "16 MiB" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(dfc, tmp_path):
    (tmp_path / "secret.dfl").touch(mode=0)
    assert one_line(dfc("check", "secret.dfl")) == (2, "dfc: secret.dfl: may not be read")


def test_errors_are_listed_and_explained(dfc):
    listed = dfc("error").stdout.splitlines()
    assert len(listed) > 20 and all(line[0] in "EW" for line in listed)
    code = listed[0].split()[0]
    assert dfc("error", code.lower()).stdout.startswith(f"{code}: ")


def test_a_closed_pipe_is_no_disaster(tmp_path):
    command = f"{sys.executable} -m dfc.compiler.cli error | head -c 1; echo ${{PIPESTATUS[0]}}"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
    assert answer.stderr == ""


def test_an_unexpected_exception_is_one_line(tmp_path):
    code = ("import sys, dfc.compiler.commands.version as version\n"
            "def run(args): raise RuntimeError('boom')\n"
            "version.run = run\n"
            "from dfc.compiler.cli import main\n"
            "sys.exit(main(['version']))")
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert plain.returncode == 4 and len(plain.stderr.splitlines()) == 1
    assert "boom" in plain.stderr and "DFC_DEBUG=1" in plain.stderr
    debug = {**os.environ, "DFC_DEBUG": "1"}
    loud = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=debug)
    assert "Traceback" in loud.stderr
