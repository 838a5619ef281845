"""Random programs over the rest of the language give what the interpreter gives, in every layout.

DFC_TEST_SEED repeats a run; DFC_MORE_PROGRAMS says how many programs each part tries.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from dfc.compiler import interpret, pipeline
from dfc.compiler.build.folder import runtime_folder
from dfc.compiler.build.toolchain import LINK_FLAGS
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.user_library import user_code

from tests.differential import native
from tests.differential.more_programs import MoreCase, more_cases
from tests.differential.trying import try_examples

COUNT = int(os.environ.get("DFC_MORE_PROGRAMS", "12"))
ROUNDS = (7, 0)
CLOCK = (1000, 3)


def build(case: MoreCase, folder: Path, rounds: int) -> native.Program:
    """As native.build, with the C that belongs to the program; that may have warnings."""
    file = folder / "program.dfl"
    file.write_text(case.text)
    (folder / "own.c").write_text(case.c)
    bundle = pipeline.generate(case.text, str(file), {})
    for name, content in bundle.files:
        (folder / name).write_text(content)
    words = [*native.flags(), f"-I{folder}", f"-I{runtime_folder() / 'include'}", f"{bundle.app}.c", "main.c", "own.c",
             *(source for source in bundle.user_sources if os.path.basename(source) != "own.c")]
    native.call(*words, native.runtime(rounds), *LINK_FLAGS, "-o", "program", folder=folder)
    typed = pipeline.check(case.text, str(file), {})
    return native.Program(typed, folder / "program", native.loose_sinks(typed))


def check_case(case: MoreCase, rounds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="dfc-more-"))
    try:
        program = build(case, folder, rounds)
        graph = run_passes(build_graph(program.typed))
        user_c = user_code(graph)
        for files in case.inputs:
            for name, data in files.items():
                (folder / name).write_bytes(data)
            expected = interpret.run(graph, folder=folder, user_c=user_c, clock=CLOCK, check=False)
            for layout in native.LAYOUTS:
                try:
                    native.compare(program, expected, native.run(program, [*layout, "--clock", "{}+{}".format(*CLOCK)]))
                except native.Different as different:
                    raise native.Different(f"{' '.join(layout)}: {different}") from None
    finally:
        shutil.rmtree(folder)


def try_programs(part: int, count: int, **sizes: int) -> None:
    rounds = ROUNDS[part % len(ROUNDS)]
    try_examples(lambda case: check_case(case, rounds), part, count, more_cases(sketches=True, **sizes))


@pytest.mark.parametrize("part", range(2))
def test_more_programs(part: int) -> None:
    try_programs(part, COUNT)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 104))
def test_many_more_programs(part: int) -> None:
    try_programs(part, 300, most_rows=300, data_sets=3)
