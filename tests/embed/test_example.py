"""examples/embed: a C program built with CMake and with make, and a Python script, give what the binary gives."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.embed.embedding import dfc_compile, link, values

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "embed"
TRADING = ROOT / "examples" / "trading"


def call(*words: object, cwd: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    answer = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True,
                            timeout=300)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Quotes, and the forecasts of the binary."""
    folder = tmp_path_factory.mktemp("trading")
    call(sys.executable, TRADING / "generate.py", "--count", 20_000, cwd=folder)
    call(sys.executable, "-m", "dfc.compiler.cli", "run", TRADING / "trading.dfl", "--", "--quiet", "--control", "off",
         cwd=folder)
    return folder


@pytest.fixture(scope="module")
def forecasts(folder) -> list[list]:
    rows = values((folder / "forecasts.csv").read_text())
    assert len(rows) > 300
    return rows


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_a_cmake_project(folder, forecasts):
    call("cmake", "-S", EXAMPLE, "-B", "cmake", cwd=folder)
    call("cmake", "--build", "cmake", cwd=folder)
    for workers in (1, 3):
        assert values(call("cmake/forecast", "quotes.csv", workers, cwd=folder)) == forecasts[1:]


def test_a_make_project(folder, forecasts):
    call("make", "-f", EXAMPLE / "Makefile", cwd=folder)
    assert values(call("./forecast", "quotes.csv", cwd=folder)) == forecasts[1:]


def test_a_python_script(folder, forecasts):
    pytest.importorskip("numpy")
    for workers in (1, 3):
        words = ("quotes.csv", "--workers", workers, "--batch", 1234)
        assert values(call(sys.executable, EXAMPLE / "stream.py", *words, cwd=folder)) == forecasts


def test_the_documentation_compiles(tmp_path):
    """docs/EMBEDDING.md shows a part of the header, and a whole program."""
    shown, program = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "EMBEDDING.md").read_text(), re.DOTALL)
    library = dfc_compile(TRADING / "trading.dfl", tmp_path / "lib", "--emit", "lib")
    header = (library / "include" / "trading.h").read_text()
    assert [line for line in shown.splitlines() if line.strip() and line not in header] == []
    (tmp_path / "main.c").write_text(f'#include <stdio.h>\n#include "trading.h"\n\n{program}')
    subprocess.run([link(tmp_path / "main.c", tmp_path / "main", library)], check=True, timeout=60)
