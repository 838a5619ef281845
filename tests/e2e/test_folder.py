"""The folder that `dfc compile` writes: the same bytes everywhere, nothing of this machine in it, buildable by make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.programs import GOOD, TRADES

CASES = sorted(path.parent for path in (Path(__file__).parents[1] / "conformance").glob("cases/*/program.dfl"))


def outputs(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def compile_in(folder: Path, dfc, *words: str) -> dict[str, bytes]:
    folder.mkdir(parents=True)
    (folder / "small.dfl").write_text(GOOD)
    answer = dfc("compile", "small.dfl", "-o", "out", *words, cwd=folder)
    assert answer.returncode == 0, answer.stderr
    return outputs(folder / "out")


@pytest.mark.parametrize("target", [pytest.param("portable", marks=pytest.mark.slow), "native"])
def test_two_folders_two_caches_the_same_bytes(dfc, tmp_path, monkeypatch, target):
    """Also when everything is built anew, elsewhere, later."""
    one = compile_in(tmp_path / "a", dfc, "--target", target)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    two = compile_in(tmp_path / "far" / "away" / "with space", dfc, "--target", target)
    assert sorted(one) == sorted(two)
    assert [name for name in one if one[name] != two[name]] == []


def test_nothing_of_this_machine_is_in_it(dfc, tmp_path):
    files = compile_in(tmp_path / "telltale folder", dfc)
    user = os.environ.get("USER") or "root"
    for name, data in files.items():
        assert b"telltale" not in data and str(tmp_path).encode() not in data, name
        assert b"/tmp/" not in data and b"dfc-build-" not in data and f"/home/{user}".encode() not in data, name
        assert time.strftime("%Y").encode() + b"-" not in data or name.startswith("dfrt/"), name


def test_the_depfile_names_what_was_read(dfc, tmp_path):
    """make must understand it, whatever the names are."""
    folder = tmp_path / "a b"
    folder.mkdir()
    (folder / "sub $x").mkdir()
    (folder / "sub $x" / "types#1.dfl").write_text("record Trade { id: u32, price: f64, size: i32 }\n")
    text = GOOD.replace("record Trade { id: u32, price: f64, size: i32 }", 'import "sub $x/types#1.dfl"')
    (folder / "my app.dfl").write_text(text)
    answer = dfc("compile", "my app.dfl", "-o", "out put", cwd=folder)
    assert answer.returncode == 0, answer.stderr
    (folder / "Makefile").write_text("include out\\ put/small.d\nout\\ put/small:\n\t@echo rebuilt\n")
    make = ["make", "-s", "-f", "Makefile", "out put/small"]

    def made() -> str:
        answer = subprocess.run(make, cwd=folder, capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    assert "rebuilt" not in made()
    for name in ("my app.dfl", "sub $x/types#1.dfl"):
        later = time.time() + 100
        os.utime(folder / name, (later, later))
        assert "rebuilt" in made()
        os.utime(folder / name, (1, 1))
    (folder / "sub $x" / "types#1.dfl").unlink()
    assert "rebuilt" in made()


@pytest.mark.parametrize("compiler", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.name)
def test_make_builds_without_a_warning(dfc, tmp_path, case, compiler):
    """The generated C and, for one case, the runtime too: it is the same for all of them."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    shutil.copytree(case, tmp_path / "case")
    answer = dfc("compile", "program.dfl", "-o", "out", cwd=tmp_path / "case")
    assert answer.returncode == 0, answer.stderr
    out = tmp_path / "case" / "out"
    (app,) = re.findall(r"^# Builds (\w+) from", (out / "Makefile").read_text(), re.MULTILINE)
    (out / app).unlink()
    everything = case is CASES[0]
    targets = [] if everything else [f"{app}.o", "main.o"]
    made = subprocess.run(["make", "-j2", f"CC={compiler}", *targets], cwd=out, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"]})
    assert made.returncode == 0 and made.stderr == ""
    assert "-Wall -Wextra -Wpedantic" in made.stdout
    if everything:
        subprocess.run([out / app], cwd=tmp_path / "case", check=True, env={})


def test_make_does_nothing_twice(dfc, tmp_path):
    compile_in(tmp_path / "a", dfc)
    out = tmp_path / "a" / "out"
    assert subprocess.run(["make", "-j2"], cwd=out, capture_output=True).returncode == 0
    again = subprocess.run(["make"], cwd=out, capture_output=True, text=True)
    assert "up to date" in again.stdout
    dfc("compile", "small.dfl", "-o", "out", cwd=tmp_path / "a")
    assert subprocess.run(["make", "clean"], cwd=out, capture_output=True).returncode == 0
    assert not list(out.rglob("*.o"))


@pytest.mark.slow
def test_two_builds_at_once(tmp_path):
    """Into one folder, from an empty cache: both must succeed, and the result be whole."""
    (tmp_path / "small.dfl").write_text(GOOD)
    (tmp_path / "trades.csv").write_text(TRADES)
    command = [sys.executable, "-m", "dfc.compiler.cli", "compile", "small.dfl", "-o", "out"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    both = [subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) for _ in range(2)]
    assert [(process.wait(300), process.stderr.read()) for process in both] == [(0, b"")] * 2
    subprocess.run([tmp_path / "out" / "small"], cwd=tmp_path, check=True)
    assert not [path for path in (tmp_path / "cache" / "dfc").iterdir() if path.name.startswith("half.")]
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


def test_the_cache_is_bounded(tmp_path, monkeypatch):
    from dfc.compiler.build import cache

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache, "MAX_ENTRIES", 5)
    for n in range(12):
        cache.fetch("program", cache.content_key([str(n)]), lambda out, n=n: (out / "x").write_text(str(n)))
        os.utime(tmp_path / "dfc" / "entries" / f"program-{cache.content_key([str(n)])}", (n, n))
    assert len(list((tmp_path / "dfc" / "entries").iterdir())) <= 5
    assert cache.fetch("program", cache.content_key(["11"]), lambda out: 1 / 0).is_dir()


def test_a_cached_program_is_not_built_again(dfc, tmp_path):
    """With a cache of its own: other tests build into the shared one at the same time."""
    (tmp_path / "small.dfl").write_text(GOOD)
    (tmp_path / "trades.csv").write_text(TRADES)
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert dfc("run", "small.dfl", env=own).returncode == 0
    before = set(os.listdir(tmp_path / "cache" / "dfc" / "entries"))
    assert dfc("run", "small.dfl", env=own).returncode == 0
    assert set(os.listdir(tmp_path / "cache" / "dfc" / "entries")) == before
