"""Every case with its steps forced through every pattern that applies: what is written must be the same."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
from dfc.compiler import interpret, pipeline
from dfc.compiler.patterns.forced import can_have_pattern, forced_patterns, why_not
from dfc.compiler.patterns.function import function_of
from dfc.compiler.select.asked import Asked
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics

from tests.differential import native
from tests.differential.test_patterns import with_parts
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
SOME = [fitting[number % len(fitting)] for number, fitting in enumerate(FITTING)]
ALL = [one for fitting in FITTING for one in fitting]


def _name(value: object) -> str:
    return value.name if isinstance(value, Path) else str(value)


@pytest.mark.parametrize(("case", "pattern"), SOME, ids=_name)
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


ABOVE = """\
app above
record R { ts: timestamp<ms>, k: i32, v: i32 }
record Out { k: i32, above: i64, sum: i64 }
source in: R = csv("in.csv") event time ts
operator counted on in by k window count 12 slide 5 pattern window_partitioning {
  workers: 3, reduce: synchronous, partition: round_robin
} -> Out {
  alternate a = { k, above: sum(if v > avg(v) then 1 else 0), sum: sum(if v > avg(v) then v else 0) }
}
stream timed = in |> window time 40ms |> aggregate { above: sum(if v > avg(v) then 1 else 0), n: count() }
sink one = counted to csv("counted.csv")
sink two = timed to csv("timed.csv")
"""


def test_tuples_above_the_mean_of_their_window(tmp_path: Path):
    """Of whole numbers, whose sums are the same in any order."""
    asked = Asked(patterns=("timed=window_partitioning:4,reduce=synchronous,partition=contiguous",))
    program = native.build(ABOVE, tmp_path, 7, asked)
    rows = (f"{3 * at},{at % 3},{at * 7919 % 101 - 50}" for at in range(300))
    (tmp_path / "in.csv").write_text("\n".join(("ts,k,v", *rows, "")))
    expected = interpret.run(program.typed, folder=tmp_path)
    assert len(expected.rows["one"]) == 54 and len(expected.rows["two"]) == 23
    for layout in LAYOUTS:
        stats = native.run(program, list(layout))
        assert {"counted.second", "timed.second"} <= {step["name"] for step in stats["steps"]}
        native.compare(program, expected, with_parts(stats))


def test_most_patterns_fit_most_cases():
    assert len(ALL) >= 70 and len({case for case, _ in ALL}) >= 8
    assert [pattern for _, pattern in SOME] == list(PATTERNS) and len({case for case, _ in SOME}) >= 6
