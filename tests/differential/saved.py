"""Programs whose state is saved and loaded on the way, in a small driver in C, compared with themselves."""

from __future__ import annotations

import subprocess
from pathlib import Path

from dfc.compiler import pipeline
from dfc.compiler.build import toolchain
from dfc.dsl import typed

from tests.differential.native import TIMEOUT, Different, _symbol, call, flags, includes, runtime

DRIVER = Path(__file__).with_name("saved_driver.c")


def build(text: str, folder: Path, own_c: str = "") -> list[str]:
    """Compiles the program with the driver, without warnings; answers the slacks of its sources."""
    file = folder / "program.dfl"
    file.write_text(text)
    if own_c:
        (folder / "own.c").write_text(own_c)
    bundle = pipeline.generate(text, str(file), {}, saves=True)
    for name, content in bundle.files:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    sources = [f"{bundle.app}.c", *(["own.c"] if own_c else []), DRIVER]
    call(*flags(), *includes(folder), f"-DPROGRAM={_symbol(bundle)}", *sources, runtime(7), *toolchain.LINK_FLAGS,
         "-o", "driver", folder=folder)
    graph = pipeline.flow(pipeline.check(text, str(file), {}))
    sources = [step.body for step in graph.steps if isinstance(step.body, typed.Source)]
    return [str(-1 if body.slack is None else body.slack) for body in sources]


def drive(folder: Path, mode: str, seed: int, slacks: list[str], files: dict[str, bytes]) -> str:
    for name, data in files.items():
        (folder / name).write_bytes(data)
    try:
        answer = subprocess.run([folder / "driver", mode, str(seed), *slacks], cwd=folder, capture_output=True,
                                timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Different(f"{mode} {seed}: it does not end") from None
    said = (answer.stdout + answer.stderr).decode(errors="replace")
    if answer.returncode:
        raise Different(f"{mode} {seed}: exit {answer.returncode}: {said[-3000:]}")
    return said
