"""A few seconds of each fuzzing harness; `make fuzz` runs a million inputs each."""

from __future__ import annotations

import pytest

from tests.fuzz.harness import BUILDS, HARNESSES, build, run

QUICK, SECONDS, SEED = 20_000, 3, 7


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flags"), BUILDS)
def test_nothing_is_found(name, flags, tmp_path):
    assert run(build(name, tmp_path, flags), QUICK, SECONDS, SEED) > 0


def test_there_is_one_for_each_format_and_the_control_socket():
    assert HARNESSES == ["fuzz_binary", "fuzz_control", "fuzz_csv", "fuzz_jsonl", "fuzz_lines", "fuzz_socket"]
