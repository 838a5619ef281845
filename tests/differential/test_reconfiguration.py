"""Random programs give the interpreter's results, in its order where sinks ask for that, while their degrees, routes
and heavy keys change.

Changes are asked for at random rounds, with any of the migration protocols; rounds and batches are tiny. DFC_TEST_SEED
repeats a run; DFC_CHANGE_PROGRAMS says how many programs each part of `make soak` tries.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import pytest
from dfc.compiler import pipeline
from dfc.compiler.select.asked import Asked
from hypothesis import strategies as st

from tests.differential.pattern_programs import PatternCase, pattern_cases
from tests.differential.test_patterns import check_lines
from tests.differential.trying import try_examples

SOAK = int(os.environ.get("DFC_CHANGE_PROGRAMS", "300"))
ROUNDS = (7, 3)
MOST = 5  # workers


@dataclass(frozen=True)
class Changes:
    """How a run begins, and what is asked for: (round, workers, operator by number, the rest of the line)."""

    workers: int
    lines: tuple[tuple[int, int, int, str], ...]

    def words(self, operators: list[str]) -> list[str]:
        script = [f"{at} workers={workers} operator={operators[number % len(operators)]} {rest}"
                  for at, workers, number, rest in self.lines]
        return ["--workers", str(self.workers), "--max-workers", str(MOST), "--layout", "staged",
                "--reconfigure", "; ".join(script)]


def hash_of(value: int) -> int:
    """dfrt_hash_u64: of a key that is one whole number."""
    mask, value = (1 << 64) - 1, value & (1 << 64) - 1
    for _ in range(2):
        value = (value ^ value >> 32) * 0xd6e8feb86659fd93 & mask
    return value ^ value >> 32


@st.composite
def changes(draw, rounds: int = 30) -> Changes:
    lines, at = [], 0
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.integers(0, rounds // 4))
        workers = draw(st.integers(1, MOST))
        rest = [f"protocol={draw(st.sampled_from(('fluent', 'fluent', 'r-blk', 's-blk')))}"]
        if draw(st.booleans()):
            rest.append(f"seed={draw(st.integers(0, 1000))}")
        if draw(st.booleans()):
            keys = draw(st.lists(st.integers(-2, 12), min_size=1, max_size=6, unique=True))
            rest.append("heavy=" + ",".join(f"{hash_of(key)}:{draw(st.integers(0, workers - 1))}" for key in keys))
        lines.append((at, workers, draw(st.integers(0, 5)), " ".join(rest)))
    return Changes(draw(st.integers(1, MOST)), tuple(lines))


def elastic_operators(case: PatternCase) -> list[str]:
    graph = pipeline.flow(pipeline.check(case.text, "program.dfl", {}))
    plan = pipeline.plan(graph, Asked(patterns=case.patterns) if case.patterns else None)
    return [segment.steps[0] for segment in plan.segments if segment.elastic]


def check_case(case: PatternCase, runs: list[Changes], rounds: int) -> None:
    operators = elastic_operators(case)
    if operators:
        check_lines(case, [run.words(operators) for run in runs], rounds)


def try_programs(part: int, count: int, **sizes: int) -> None:
    rounds = ROUNDS[part % len(ROUNDS)]
    try_examples(lambda case, runs: check_case(case, runs, rounds), part, count, pattern_cases(**sizes),
                 st.lists(changes(), min_size=6, max_size=6))


@pytest.mark.parametrize("part", range(2))
def test_changes(part: int) -> None:
    try_programs(part, 12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100, 106))
def test_many_changes(part: int) -> None:
    try_programs(part, SOAK, most_rows=300, data_sets=3)
