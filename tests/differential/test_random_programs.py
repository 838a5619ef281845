"""Random programs on random data give what the interpreter gives, row by row, in every layout.

A failure prints the seed: `DFC_TEST_SEED=… pytest tests/differential/test_random_programs.py` runs the same
programs again. DFC_SOAK_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.differential.native import build, check_inputs
from tests.differential.programs import Case, cases
from tests.differential.trying import try_examples

SOAK = int(os.environ.get("DFC_SOAK_PROGRAMS", "500"))
ROUNDS = (7, 0)  # tiny rounds, and those that are delivered
WIDE = {"formats": ("csv", "csv", "csv", "jsonl", "binary"), "imports": 20}


class Programs:
    """Builds each program once: Hypothesis likes to try one with other data."""

    def __init__(self, folder: Path, rounds: int):
        self.folder, self.rounds, self.built = folder, rounds, {}

    def check(self, case: Case) -> None:
        whole = case.text + case.imported
        if whole not in self.built:
            folder = tempfile.mkdtemp(dir=self.folder)
            self.built[whole] = build(case.text, Path(folder), self.rounds, imported=case.imported)
        for files, chosen in zip(case.inputs, case.choices, strict=True):
            check_inputs(self.built[whole], files, chosen)


def try_programs(folder: Path, part: int, count: int, **sizes: int) -> None:
    try:
        try_examples(Programs(folder, ROUNDS[part % len(ROUNDS)]).check, part, count, cases(**WIDE, **sizes))
    finally:
        shutil.rmtree(folder)  # programs are large, and pytest keeps folders of several runs


@pytest.mark.parametrize("part", range(3))
def test_random_programs(part: int, tmp_path: Path) -> None:
    try_programs(tmp_path, part, 24)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 106))
def test_many_random_programs(part: int, tmp_path: Path) -> None:
    try_programs(tmp_path, part, SOAK, most_rows=300, data_sets=3)
