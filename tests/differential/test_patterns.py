"""Random programs with random patterns give what the interpreter gives, in its order, whatever the degrees.

DFC_TEST_SEED repeats a run; DFC_PATTERN_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from dfc.compiler import interpret, pipeline
from dfc.compiler.build.toolchain import LINK_FLAGS
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.select.asked import Asked
from dfc.compiler.user_library import user_code
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.internal.conjecture import engine

from tests.differential import native
from tests.differential.pattern_programs import PatternCase, pattern_cases

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
SOAK = int(os.environ.get("DFC_PATTERN_PROGRAMS", "300"))
ROUNDS = (7, 0)
engine.MAX_SHRINKING_SECONDS = 60  # every step of it calls the C compiler
PARTS = (".windows", ".work", ".reduced", ".second")


def build(case: PatternCase, folder: Path, rounds: int) -> native.Program:
    file = folder / "program.dfl"
    file.write_text(case.text)
    (folder / "own.c").write_text(case.c)
    bundle = pipeline.generate(case.text, str(file), {}, asked=Asked(patterns=case.patterns) if case.patterns else None)
    for name, content in bundle.files:
        (folder / name).write_text(content)
    words = [*native.flags(), *native.includes(folder), f"{bundle.app}.c", "main.c", "own.c"]
    native.call(*words, native.runtime(rounds), *LINK_FLAGS, "-o", "program", folder=folder)
    return native.Program(pipeline.check(case.text, str(file), {}), folder / "program")


def with_parts(stats: dict) -> dict:
    """What the parts of an operator count is the operator's."""
    steps = {step["name"]: dict(step) for step in stats["steps"]}
    for name, step in steps.items():
        operator = next((name.removesuffix(part) for part in PARTS if name.endswith(part)), None)
        if operator is not None:
            steps[operator]["faults"] += step["faults"]
    return {**stats, "steps": list(steps.values())}


def check_case(case: PatternCase, rounds: int) -> None:
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
            for layout in case.layouts:
                try:
                    native.compare(program, expected, with_parts(native.run(program, [*layout, *words])))
                except native.Different as different:
                    raise native.Different(f"{' '.join([*layout, *words])}: {different}") from None
    finally:
        shutil.rmtree(folder)


def try_programs(part: int, count: int, **sizes: int) -> None:
    @seed(SEED + part)
    @settings(max_examples=count, deadline=None, database=None, report_multiple_bugs=False,
              phases=(Phase.generate, Phase.shrink), suppress_health_check=list(HealthCheck))
    @given(pattern_cases(**sizes))
    def try_one(case: PatternCase) -> None:
        check_case(case, ROUNDS[part % len(ROUNDS)])

    try:
        try_one()
    except native.Different as different:
        raise native.Different(f"DFC_TEST_SEED={SEED}: {different}") from different


@pytest.mark.parametrize("part", range(2))
def test_patterns(part: int) -> None:
    try_programs(part, 12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 106))
def test_many_patterns(part: int) -> None:
    try_programs(part, SOAK, most_rows=300, data_sets=3)
