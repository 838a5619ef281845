"""What the tests of embedding share: libraries and the C programs that link with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dfc.compiler.build.toolchain import find_toolchain, flags

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"


def dfc_compile(program: Path, out: Path, *words: str) -> Path:
    command = [sys.executable, "-m", "dfc.compiler.cli", "compile", str(program), "-o", str(out), *words]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stderr
    return out


def link(source: Path, out: Path, *libraries: Path, shared: bool = False) -> Path:
    """A C program with the libraries in these folders, with the flags of generated code (DFC_SANITIZE too)."""
    words = [*find_toolchain().command, *flags("portable"), str(source), "-o", str(out)]
    for folder in libraries:
        name = next(folder.glob("lib*.so" if shared else "lib*.a"))
        words += [f"-I{folder / 'include'}", str(name), *((f"-Wl,-rpath,{folder}",) if shared else ())]
    answer = subprocess.run([*words, "-lm", "-pthread"], capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, ""), answer.stderr
    return out


def values(text: str) -> list[list[object]]:
    """Rows as values: numbers are equal however they are printed."""
    def value(word: str) -> object:
        try:
            return float(word)
        except ValueError:
            return word

    return [[value(word) for word in line.split(",")] for line in text.splitlines()]
