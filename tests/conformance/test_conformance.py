"""Runs every case as a user would, with several numbers of workers, and compares what was written with what must be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.rows import file_difference

CASES = sorted(path.parent for path in Path(__file__).parent.glob("cases/*/program.dfl"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case(case: Path, tmp_path: Path, dfc):
    """One test for all numbers of workers: the program is built once."""
    for workers in range(1, 6):
        work = tmp_path / str(workers)
        shutil.copytree(case, work)
        answer = dfc("run", *_words(case), "--workers", workers, "program.dfl", cwd=work)
        assert answer.returncode == 0, f"--workers {workers}: exit {answer.returncode}\n{answer.stderr}"
        for expected in sorted(work.glob("*.expected.csv")):
            wrong = file_difference(expected, work / expected.name.replace(".expected.csv", ".csv"))
            assert not wrong, f"--workers {workers}: {wrong}"


def _words(case: Path) -> list[str]:
    """The file `args` of a case holds more words for the command."""
    return (case / "args").read_text().split() if (case / "args").exists() else []


def test_there_are_cases():
    assert len(CASES) >= 12
