"""Random programs on random data give what the interpreter gives, row by row, in every layout.

A failure prints the seed: `DFC_TEST_SEED=… pytest tests/differential/test_random_programs.py` runs the same
programs again. DFC_SOAK_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.differential.native import Different, build, check_inputs
from tests.differential.programs import Case, cases

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
SOAK = int(os.environ.get("DFC_SOAK_PROGRAMS", "500"))
ROUNDS = (7, 0)  # tiny rounds, and those that are delivered


def check_case(case: Case, rounds: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="dfc-case-"))
    try:
        program = build(case.text, folder, rounds)
        for files, chosen in zip(case.inputs, case.choices, strict=True):
            check_inputs(program, files, chosen)
    except Different as different:
        raise Different(f"DFC_TEST_SEED={SEED}: {different}") from None
    finally:
        shutil.rmtree(folder)


def try_programs(part: int, count: int, **sizes: int) -> None:
    @seed(SEED + part)
    @settings(max_examples=count, deadline=None, database=None, print_blob=True,
              suppress_health_check=list(HealthCheck))
    @given(cases(**sizes))
    def try_one(case: Case) -> None:
        check_case(case, ROUNDS[part % len(ROUNDS)])

    try_one()


@pytest.mark.parametrize("part", range(6))
def test_random_programs(part: int) -> None:
    try_programs(part, 20)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 106))
def test_many_random_programs(part: int) -> None:
    try_programs(part, SOAK, most_rows=300, data_sets=3)
