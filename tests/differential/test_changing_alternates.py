"""Alternates change while a program runs, with its degrees: each result is wholly one alternate's.

DFC_TEST_SEED repeats a run.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from pathlib import Path

import pytest
from dfc.compiler import interpret
from dfc.compiler.graph.build import build_graph
from dfc.compiler.graph.passes import run_passes
from dfc.compiler.user_library import user_code

from tests.differential import native
from tests.differential.pattern_programs import PatternCase
from tests.differential.test_moved_state import HEAD, random_changes, rows
from tests.differential.test_patterns import build
from tests.differential.test_reconfiguration import elastic_operators
from tests.differential.trying import SEED

NAMES = ("one", "two", "three")
WINDOWS = {
    "count": "by k window count 8 slide 4", "time": "by k window time 60ms slide 20ms",
    "session": "by k window session gap 15ms", "whole": "window time 20ms slide 10ms", "tuple": "",
}
# Two aggregates in each result: one that took them from two alternates would show it.
BODIES = {"windows": ("sum(v)", "count()", "max(v)"), "tuple": ("v", "v * 2 + 1", "v * 3 + 2")}
PATTERNS = (("count", ""), ("time", ""), ("session", ""), ("tuple", ""),
            ("count", "window_farming:workers=2,style=agnostic"), ("time", "pane_farming:workers=2,merge_workers=2"),
            ("whole", "pane_farming:workers=3"), ("time", "window_partitioning:workers=3"),
            ("count", "nesting:workers=2,inner_workers=2"), ("whole", "window_farming:workers=3,style=active"))


def program(window: str, pattern: str, files: dict[str, bytes]) -> PatternCase:
    first, second, third = BODIES["tuple" if window == "tuple" else "windows"]
    value = "v" if window == "tuple" else "last(v)"
    key = "k" if window in ("count", "time", "session", "tuple") else "0"
    alternates = [f"  alternate {name} value {1 - i / 4} = "
                  f"{{ k: {key}, a: {body} * 1.0, b: {body} * {i + 2} + {value} * 0 }}"
                  for i, (name, body) in enumerate(zip(NAMES, (first, second, third), strict=True))]
    operator = "\n".join([f"operator s on rows {WINDOWS[window]} -> Out {{", *alternates, "}"])
    text = "\n".join([HEAD, operator, 'sink out_s = s to csv("out_s.csv")', "control off", ""])
    return PatternCase(text, (), (), (files,), ((),), "extern int unused;",
                       (f"s={pattern}",) if pattern else ())


@pytest.mark.parametrize(("window", "pattern"), [one if i % 2 == 0 else pytest.param(*one, marks=pytest.mark.slow)
                                                 for i, one in enumerate(PATTERNS)])
def test_changing_alternates(window: str, pattern: str) -> None:
    rng = random.Random(f"{SEED} {window} {pattern}")
    case = program(window, pattern, {"rows.csv": rows(rng, 1200, 10), "others.csv": rows(rng, 10, 2)})
    folder = Path(tempfile.mkdtemp(prefix="dfc-alternates-"))
    try:
        built = build(case, folder, 7)
        for name, data in case.inputs[0].items():
            (folder / name).write_bytes(data)
        graph = run_passes(build_graph(built.typed))
        expected = {name: list(interpret.run(graph, folder=folder, user_c=user_code(graph), active={"s": name},
                                             check=False).csv_lines("out_s")) for name in NAMES}
        switched = [check_run(built, expected, rng, elastic_operators(case)) for _ in range(4)]
        assert any(switched), f"DFC_TEST_SEED={SEED}: nothing was switched"
    finally:
        shutil.rmtree(folder)


def check_run(built: native.Program, expected: dict[str, list[str]], rng: random.Random, operators: list[str]) -> bool:
    """Whether a switch could be seen: not where the reader was through before the first result, since switches wait
    behind state that moves."""
    moments = range(1, 170, rng.randrange(3, 12))
    switches = [(at, f"{at} alternate=s={NAMES[(i + 1) % len(NAMES)]}") for i, at in enumerate(moments)]
    words = random_changes(rng, 170).words(operators) if operators else ["--workers", "2", "--layout", "staged",
                                                                          "--reconfigure", ""]
    asked = [(int(line.split()[0]), line) for line in words[-1].split("; ") if line]
    script = "; ".join(line for _, line in sorted(asked + switches, key=lambda pair: pair[0]))
    native.run(built, [*words[:-1], script])
    got = (built.path.parent / "out_s.csv").read_text().splitlines()
    one = expected[NAMES[0]]
    assert len(got) == len(one), f"DFC_TEST_SEED={SEED}: {len(got)} lines, expected {len(one)}"
    for number, line in enumerate(got):
        given = [expected[name][number] for name in NAMES]
        assert line in given, f"DFC_TEST_SEED={SEED}: {script}: row {number} is {line}, expected one of {given}"
    return got != one
