"""Builds and runs every test that the runtime has in C, with the flags of generated programs (DFC_SANITIZE too)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dfc.compiler.build.folder import runtime_tree
from dfc.compiler.build.program import Job, runtime_library
from dfc.compiler.build.toolchain import INCLUDES, LINK_FLAGS, find_toolchain, flags

RUNTIME = Path(__file__).parents[2] / "runtime_c"
TESTS = sorted((RUNTIME / "tests").glob("test_*.c"))
# These depend on the processor.
VECTOR_CODE = [test for test in TESTS if test.stem.startswith(("test_csv", "test_store"))]


@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.stem)
def test_c(test: Path, tmp_path: Path):
    build_and_run(test, "portable", tmp_path)


@pytest.mark.parametrize("test", VECTOR_CODE, ids=lambda test: test.stem)
def test_c_for_this_processor(test: Path, tmp_path: Path):
    build_and_run(test, "native", tmp_path)


def build_and_run(test: Path, target: str, tmp_path: Path) -> None:
    tree = runtime_tree()
    helpers = {f"dfrt/tests/{path.name}": path.read_bytes() for path in (RUNTIME / "tests").glob("*.[ch]")}
    for name, data in (tree | helpers).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    job = Job(find_toolchain(), flags(target), tmp_path)
    said = job.call(*INCLUDES, f"dfrt/tests/{test.name}", str(runtime_library(tree, job)), "-o", "test", *LINK_FLAGS)
    assert "warning" not in said, said
    answer = subprocess.run([tmp_path / "test"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert answer.returncode == 0, answer.stdout + answer.stderr
