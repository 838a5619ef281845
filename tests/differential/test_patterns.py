"""Random programs with random patterns give what the interpreter gives, in its order where sinks ask for that, whatever
the degrees.

DFC_TEST_SEED repeats a run; DFC_PATTERN_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from dfc.compiler import interpret, pipeline
from dfc.compiler.build.toolchain import LINK_FLAGS
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.select.asked import Asked
from dfc.compiler.user_library import user_code

from tests.differential import native
from tests.differential.pattern_programs import PatternCase, pattern_cases
from tests.differential.trying import try_examples

SOAK = int(os.environ.get("DFC_PATTERN_PROGRAMS", "300"))
ROUNDS = (7, 0)
PARTS = (".windows", ".work", ".reduced", ".second")


def build(case: PatternCase, folder: Path, rounds: int) -> native.Program:
    file = folder / "program.dfl"
    file.write_text(case.text)
    (folder / "own.c").write_text(case.c)
    asked = Asked(patterns=case.patterns) if case.patterns else None
    bundle = pipeline.generate(case.text, str(file), {}, asked=asked)
    for name, content in bundle.files:
        (folder / name).write_text(content)
    words = [*native.flags(), *native.includes(folder), f"{bundle.app}.c", "main.c", "own.c"]
    native.call(*words, native.runtime(rounds), *LINK_FLAGS, "-o", "program", folder=folder)
    typed = pipeline.check(case.text, str(file), {})
    return native.Program(typed, folder / "program", native.loose_sinks(typed, asked))


def with_parts(stats: dict) -> dict:
    """What the parts of an operator count is the operator's."""
    steps = {step["name"]: dict(step) for step in stats["steps"]}
    for name, step in steps.items():
        operator = next((name.removesuffix(part) for part in PARTS if name.endswith(part)), None)
        if operator is not None:
            steps[operator]["faults"] += step["faults"]
    return {**stats, "steps": list(steps.values())}


Run = Callable[[native.Program, list[str]], dict]  # answers the program's own summary; the words choose alternates


def check_lines(case: PatternCase, lines: Sequence[Sequence[str]], rounds: int) -> None:
    """Every command line gives what the interpreter gives."""
    check_runs(case, {" ".join(line): lambda program, words, line=line: native.run(program, [*line, *words])
                      for line in lines}, rounds)


def check_runs(case: PatternCase, runs: dict[str, Run], rounds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="dfc-patterns-"))
    try:
        program = build(case, folder, rounds)
        graph = run_passes(build_graph(program.typed))
        user_c = user_code(graph)
        for files, chosen in zip(case.inputs, case.choices, strict=True):
            for name, data in files.items():
                (folder / name).write_bytes(data)
            expected = interpret.run(graph, folder=folder, user_c=user_c, active=dict(chosen), check=False)
            words = [word for name, choice in chosen for word in ("--alternate", f"{name}={choice}")]
            for what, run in runs.items():
                try:
                    native.compare(program, expected, with_parts(run(program, words)))
                except native.Different as different:
                    raise native.Different(f"{' '.join([what, *words])}: {different}") from None
    finally:
        shutil.rmtree(folder)


def try_programs(part: int, count: int, **sizes: int) -> None:
    rounds = ROUNDS[part % len(ROUNDS)]
    try_examples(lambda case: check_lines(case, case.layouts, rounds), part, count, pattern_cases(**sizes))


@pytest.mark.parametrize("part", range(2))
def test_patterns(part: int) -> None:
    try_programs(part, 12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 106))
def test_many_patterns(part: int) -> None:
    try_programs(part, SOAK, most_rows=300, data_sets=3)
