"""Every case with its steps forced through every pattern that applies: what is written must be the same."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
from dfc.compiler import pipeline
from dfc.compiler.patterns.forced import can_have_pattern, forced_patterns, why_not
from dfc.compiler.patterns.function import function_of
from dfc.compiler.select.asked import Asked
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics

from tests.differential import native
from tests.rows import file_difference

CASES = sorted(path.parent for path in Path(__file__).parent.glob("cases/*/program.dfl"))
PATTERNS = (
    "farm:3", "key_partitioning:3", "window_farming:3", "window_farming:2,batch=3,schedule=on_demand",
    "window_farming:3,batch=2,style=active", "window_farming:5,style=active", "pane_farming:3,merge=collector",
    "pane_farming:2,3,merge=farm", "pane_farming:3,2,merge=shuffled", "pane_farming:2,schedule=on_demand",
    "pane_farming:3,merge=ring",
    "window_partitioning:3,partition=round_robin", "window_partitioning:4,partition=contiguous",
    "nesting:2,3,outer=window_farming", "nesting:3,2,outer=key_partitioning",
)
LAYOUTS = ((), ("--layout", "fused"), ("--workers", "4"))


@cache
def program_of(case: Path) -> typed.Program:
    return pipeline.check((case / "program.dfl").read_text(), "program.dfl", {})


def applying(case: Path, pattern: str) -> tuple[str, ...]:
    """The words that force the pattern for all steps of the case to which it applies."""
    program, found = program_of(case), []
    for step in program.steps:
        if can_have_pattern(step):
            word = f"{step.name}={pattern}"
            (asked,) = forced_patterns(program, (word,), Diagnostics()).values()
            found += [word] if why_not(function_of(program, step), asked) is None else []
    return tuple(found)


def check_pattern(case: Path, pattern: str, folder: Path, rounds: int) -> None:
    text = (case / "program.dfl").read_text()
    shutil.copytree(case, folder)
    program = native.build(text, folder, rounds, Asked(patterns=applying(case, pattern)))
    for layout in LAYOUTS:
        native.run(program, list(layout))
        for expected in sorted(folder.glob("*.expected.csv")):
            wrong = file_difference(expected, folder / expected.name.replace(".expected.csv", ".csv"))
            assert not wrong, f"{applying(case, pattern)} {' '.join(layout)}: {wrong}"


FITTING = [[(case, pattern) for case in CASES if applying(case, pattern)] for pattern in PATTERNS]
SOME = [one for number, fitting in enumerate(FITTING) for one in fitting[number % 3::4]]
ALL = [one for fitting in FITTING for one in fitting]


def _name(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("case", "pattern"), SOME[::2], ids=_name)
def test_some_patterns(case: Path, pattern: str, tmp_path: Path):
    check_pattern(case, pattern, tmp_path / "case", 7)


@pytest.mark.slow
@pytest.mark.parametrize("rounds", (0, 7))
@pytest.mark.parametrize(("case", "pattern"), ALL, ids=_name)
def test_all_patterns(case: Path, pattern: str, rounds: int, tmp_path: Path):
    check_pattern(case, pattern, tmp_path / "case", rounds)


def test_state_that_is_no_window_is_divided_by_key():
    named = {case.name[:2]: applying(case, "key_partitioning:3") for case in CASES}
    assert named["07"] == ("counts=key_partitioning:3",) and named["08"] == ("spreads=key_partitioning:3",)


@pytest.mark.parametrize("number", ("07", "08"))
def test_state_by_key(number: str, tmp_path: Path):
    (case,) = (case for case in CASES if case.name.startswith(number))
    check_pattern(case, "key_partitioning:3", tmp_path / "case", 7)


def test_most_patterns_fit_most_cases():
    assert len(ALL) >= 70 and len({case for case, _ in ALL}) >= 8
    assert {pattern for _, pattern in SOME} == set(PATTERNS) and len({case for case, _ in SOME}) >= 6
