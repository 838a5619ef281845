"""`dfc compile`, `dfc run`, `dfc graph`, `dfc explain` on a small program, from the text to the rows it writes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.e2e.programs import GOOD, TRADES, WRONG


@pytest.fixture
def program(tmp_path):
    (tmp_path / "small.dfl").write_text(GOOD)
    (tmp_path / "trades.csv").write_text(TRADES)
    return tmp_path


def outputs(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_compile_writes_everything(dfc, program):
    answer = dfc("compile", "small.dfl", "-o", "out")
    assert answer.returncode == 0, answer.stderr
    assert {"small", "small.c", "small.h", "small.d", "manifest.json", "Makefile"} <= set(outputs(program / "out"))
    subprocess.run([program / "out" / "small"], cwd=program, check=True)
    assert (program / "out.csv").read_text() == "id,value\n1,3.0\n3,8.0\n"


def test_compile_is_deterministic(dfc, program):
    for name in ("one", "two"):
        assert dfc("compile", "small.dfl", "-o", name).returncode == 0
    one, two = outputs(program / "one"), outputs(program / "two")
    assert one.pop("small.d") != two.pop("small.d")
    assert one == two


def test_compile_touches_nothing_twice(dfc, program):
    dfc("compile", "small.dfl", "-o", "out")
    before = {path: path.stat().st_mtime_ns for path in (program / "out").rglob("*")}
    dfc("compile", "small.dfl", "-o", "out")
    assert {path: path.stat().st_mtime_ns for path in (program / "out").rglob("*")} == before


@pytest.mark.slow
def test_make_builds_the_folder_without_dfc(dfc, program):
    dfc("compile", "small.dfl", "-o", "out")
    (program / "out" / "small").unlink()
    made = subprocess.run(["make", "-j2"], cwd=program / "out", capture_output=True, text=True)
    assert made.returncode == 0 and "warning" not in made.stderr, made.stderr
    subprocess.run([program / "out" / "small"], cwd=program, check=True)
    assert (program / "out.csv").read_text() == "id,value\n1,3.0\n3,8.0\n"


@pytest.mark.skipif(bool(os.environ.get("DFC_SANITIZE")), reason="a sanitizer is a library of its own")
def test_the_program_needs_libc_only(dfc, program):
    dfc("compile", "small.dfl", "-o", "out")
    needed = subprocess.check_output(["ldd", program / "out" / "small"], text=True)
    names = {line.split()[0].rsplit("/", 1)[-1].split(".")[0] for line in needed.splitlines()}
    assert names <= {"linux-vdso", "linux-gate", "libc", "libm", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}


@pytest.mark.parametrize("command", ["compile", "run", "graph", "explain"])
def test_nothing_is_written_on_an_error(dfc, program, command):
    (program / "small.dfl").write_text(WRONG)
    before = outputs(program)
    answer = dfc(command, "small.dfl", *(("-o", "x.svg") if command == "graph" else ()))
    assert answer.returncode == 1 and "small.dfl:11:" in answer.stderr
    assert outputs(program) == before


@pytest.mark.parametrize("words", [
    ("run", "-D", "low=60", "--workers", "2", "small.dfl"),
    ("run", "small.dfl", "-Dlow=60", "--workers", "2"),
    ("run", "small.dfl", "--workers", "2", "-D", "low=60", "--", "--stats"),
], ids=["before", "after", "with words for the program"])
def test_options_stand_before_or_after_the_program(dfc, program, words):
    answer = dfc(*words)
    assert answer.returncode == 0, answer.stderr
    assert (program / "out.csv").read_text() == "id,value\n3,8.0\n"


def test_words_after_the_dashes_go_to_the_program(dfc, program):
    answer = dfc("run", "small.dfl", "--", "--help")
    assert answer.returncode == 0 and "--workers" in answer.stdout
    assert dfc("run", "small.dfl", "--", "--no-such-option").returncode == 2


def test_a_run_that_fails_is_4(dfc, program):
    (program / "trades.csv").unlink()
    answer = dfc("run", "small.dfl")
    assert answer.returncode == 4 and "trades.csv" in answer.stderr


def test_interpret_gives_the_same(dfc, program):
    assert dfc("run", "--interpret", "small.dfl").returncode == 0
    assert (program / "out.csv").read_text() == "id,value\n1,3.0\n3,8.0\n"


def test_error_in_user_c_is_shown_in_the_file(dfc, program):
    more = ('operator pairs on kept window count 2 -> Kept { alternate only value 1.0 = c("pairs.c", "pairs") }\n'
            'sink b = pairs to csv("b.csv")\n')
    (program / "small.dfl").write_text(GOOD + more)
    (program / "pairs.c").write_text('#include "small.h"\n\nstatic int two(void) { return tow; }\n')
    answer = dfc("compile", "small.dfl", "-o", "out")
    assert answer.returncode == 1 and "E0901" in answer.stderr and "pairs.c:3:" in answer.stderr, answer.stderr
    assert not (program / "out").exists()


@pytest.mark.parametrize("ending", ["svg", "dot", "json"])
def test_graph_is_drawn(dfc, program, ending):
    answer = dfc("graph", "small.dfl", "-o", f"small.{ending}")
    assert answer.returncode == 0, answer.stderr
    text = (program / f"small.{ending}").read_text()
    assert "trades" in text
    if ending == "json":
        json.loads(text)


def test_explain_names_the_operators(dfc, program):
    answer = dfc("explain", "small.dfl")
    assert answer.returncode == 0 and "kept" in answer.stdout, answer.stderr


def test_emit_prints_artefacts(dfc, program):
    assert "trades" in dfc("compile", "small.dfl", "--emit", "graph").stdout
    assert "int main" in dfc("compile", "small.dfl", "--emit", "c").stdout
    assert not (program / "build").exists()


def test_sigterm_reaches_the_program(program):
    """The program reads a pipe that stays open; told to end, it drains and ends well."""
    (program / "small.dfl").write_text(GOOD.replace('csv("trades.csv")', 'csv("-")'))
    command = [sys.executable, "-m", "dfc.compiler.cli", "run", "small.dfl"]
    process = subprocess.Popen(command, cwd=program, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write(TRADES)
    process.stdin.flush()
    wait_for(lambda: (program / "out.csv").exists() and "3,8" in (program / "out.csv").read_text(), process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, process.stderr.read()
    assert (program / "out.csv").read_text() == "id,value\n1,3.0\n3,8.0\n"


def wait_for(condition, process) -> None:
    """Until the condition holds; a program that ends before is a failure."""
    import time

    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None and time.monotonic() < deadline, "the program did not get there"
        time.sleep(0.02)
