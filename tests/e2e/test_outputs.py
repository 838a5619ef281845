"""`dfc compile --emit`, `--print-outputs` and `--amalgamate`: which files there are, and that they compile alone."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.e2e.programs import GOOD, TRADES, WRONG

EXPECTED = "id,value\n1,3.0\n3,8.0\n"


@pytest.fixture
def program(tmp_path):
    (tmp_path / "small.dfl").write_text(GOOD)
    (tmp_path / "trades.csv").write_text(TRADES)
    return tmp_path


def written(folder) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("words", [
    (), ("--amalgamate",), ("--emit", "lib"), ("--emit", "exe"), ("--emit", "lib,exe,plan,c,header"),
    ("--emit", "ast,graph,plan,control"), ("--emit", "lib", "--amalgamate"),
], ids=" ".join)
def test_what_is_printed_is_what_is_written(dfc, program, words):
    answer = dfc("compile", "small.dfl", "-o", "out", *words, "--print-outputs")
    assert answer.returncode == 0, answer.stderr
    assert not (program / "out").exists()
    named = {line.removeprefix("out/") for line in answer.stdout.splitlines()}
    assert dfc("compile", "small.dfl", "-o", "out", *words).returncode == 0
    assert written(program / "out") == named


def test_each_kind_has_its_files(dfc, program):
    kinds = {"ast": {"small.ast"}, "graph": {"small.graph"}, "plan": {"small.plan"}, "header": {"include/small.h"},
             "c": {"small.c", "small.h", "main.c"}, "control": {"control.json"},
             "exe": {"small", "small.d", "manifest.json"}}
    for kind, files in kinds.items():
        assert dfc("compile", "small.dfl", "-o", kind, "--emit", kind).returncode == 0
        assert written(program / kind) == files


def test_a_library_is_headers_and_two_files(dfc, program):
    assert dfc("compile", "small.dfl", "-o", "out", "--emit", "lib").returncode == 0
    found = written(program / "out")
    assert {"libsmall.a", "libsmall.so", "include/small.h", "include/dfrt/embed.h", "small.d", "manifest.json"} <= found
    header = dfc("compile", "small.dfl", "--emit", "header").stdout
    assert (program / "out" / "include" / "small.h").read_text() == header
    assert "out/libsmall.a out/libsmall.so: \\\n  small.dfl\n" in (program / "out" / "small.d").read_text()


@pytest.mark.parametrize("words", [("--emit", "plan"), ("--emit", "ast,c"), ("--print-outputs",)], ids=" ".join)
def test_warnings_stand_beside_what_is_printed(dfc, program, words):
    (program / "small.dfl").write_text(GOOD + "stream unread = trades |> filter true\n")
    wanted = dfc("check", "small.dfl")
    assert "warning[W" in wanted.stderr
    answer = dfc("compile", "small.dfl", *words)
    assert (answer.returncode, answer.stderr) == (0, wanted.stderr) and "warning" not in answer.stdout
    with_json = dfc("compile", "small.dfl", *words, "--json")
    assert with_json.stderr == dfc("check", "small.dfl", "--json").stdout and with_json.stdout == answer.stdout
    assert dfc("explain", "small.dfl", "--json").stderr == with_json.stderr


def test_texts_go_to_stdout_without_a_folder(dfc, program):
    header = dfc("compile", "small.dfl", "--emit", "header").stdout
    for name in ("Trade;", "create(", "push_trades(", "poll(", "drain(", "destroy("):
        assert f"small_{name}" in header
    assert "small_create" not in dfc("compile", "small.dfl", "--emit", "c").stdout
    assert written(program) == {"small.dfl", "trades.csv"}


def test_a_wrong_program_has_no_outputs(dfc, program):
    (program / "small.dfl").write_text(WRONG)
    answer = dfc("compile", "small.dfl", "--print-outputs")
    assert (answer.returncode, answer.stdout) == (1, "")


def test_a_program_from_stdin_can_be_compiled(dfc, program):
    assert dfc("compile", "-", "-o", "out", input=GOOD).returncode == 0
    subprocess.run([program / "out" / "small"], cwd=program, check=True)
    assert (program / "out.csv").read_text() == EXPECTED


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_the_amalgamated_runtime_compiles_alone(dfc, program, compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    assert dfc("compile", "small.dfl", "-o", "out", "--amalgamate", "--emit", "lib").returncode == 0
    folder = program / "out"
    assert not [name for name in written(folder) if name.startswith("dfrt/")]
    words = [compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", "dfrt.c", "small.c",
             "small_embed.c", "main.c", "-o", "alone", "-lm", "-pthread"]
    answer = subprocess.run(words, cwd=folder, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stderr
    subprocess.run([folder / "alone"], cwd=program, check=True)
    assert (program / "out.csv").read_text() == EXPECTED


@pytest.mark.slow
def test_make_builds_the_amalgamated_folder(dfc, program):
    assert dfc("compile", "small.dfl", "-o", "out", "--amalgamate").returncode == 0
    (program / "out" / "small").unlink()
    made = subprocess.run(["make", "-j2"], cwd=program / "out", capture_output=True, text=True)
    assert made.returncode == 0 and "warning" not in made.stderr, made.stderr
    subprocess.run([program / "out" / "small"], cwd=program, check=True)
    assert (program / "out.csv").read_text() == EXPECTED


def test_what_was_built_is_newer_than_its_inputs(dfc, program):
    """A touched program is built to the same bytes, which must not look old to make."""
    import os

    assert dfc("compile", "small.dfl", "-o", "out", "--emit", "lib").returncode == 0
    library = program / "out" / "libsmall.a"
    os.utime(library, (1, 1))
    assert dfc("compile", "small.dfl", "-o", "out", "--emit", "lib").returncode == 0
    assert library.stat().st_mtime >= (program / "small.dfl").stat().st_mtime


@pytest.mark.parametrize("name", ["semi;colon.dfl", "two\nlines.dfl"])
def test_a_library_of_files_that_a_depfile_can_not_name(dfc, program, name):
    """The rules of make would miss that they have changed; a program alone needs no rules."""
    (program / name).write_text(GOOD)
    answer = dfc("compile", name, "--emit", "lib", "-o", "out")
    assert (answer.returncode, answer.stderr.count("\n")) == (1, 1) and "can't stand in a depfile" in answer.stderr
    assert not (program / "out").exists()
    assert dfc("compile", name, "--emit", "exe", "-o", "out").returncode == 0
