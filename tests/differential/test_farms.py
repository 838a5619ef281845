"""Stateless steps farmed out wherever they stand: results and order are the interpreter's, for all degrees.

One program a place: before keyed state and behind it, between, where one event gives many tuples, where streams meet
again. DFC_TEST_SEED repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from dfc.compiler import pipeline
from dfc.compiler.patterns.function import function_of
from dfc.compiler.select.asked import Asked
from dfc.compiler.select.reading import parsed_ahead

from tests.differential.native import Different
from tests.differential.pattern_programs import PatternCase
from tests.differential.test_moved_state import random_changes
from tests.differential.test_patterns import check_lines
from tests.differential.test_reconfiguration import check_case
from tests.differential.trying import SEED

HEAD = """app farmed
use std.text
record Row { ts: timestamp<ms>, k: i32, v: i64, words: text<24> }
record Word { word: symbol }
record Out { k: i32, v: i64 }
source rows: Row = csv("rows.csv") event time ts slack 6ms late to tardy
source others: Row = csv("others.csv") event time ts slack 20ms
"""
LATE = 'sink late = tardy to csv("late.csv")\n'
COSTLY = "map { ts, k, v: v * 3 - 1 }"
PLACES = {  # what stands in the program, which steps are farmed out, and the edges into and out of the farms
    "before a count window": (
        f"stream f = rows |> {COSTLY}\nstream s = f |> by k |> window count 5 slide 2 |> aggregate {{ k, v: sum(v) }}",
        "f", ("read>farm", "farm>keyed")),
    "before a time window": (
        f"stream f = rows |> {COSTLY}\n"
        "stream s = f |> by k |> window time 20ms slide 10ms |> aggregate { k, v: sum(v), last: last(v) }",
        "f", ("read>farm", "farm>keyed")),
    "before windows of the whole stream": (
        f"stream f = rows |> {COSTLY}\nstream s = f |> window time 20ms slide 10ms |> aggregate {{ v: median(v) }}",
        "f", ("read>farm", "farm>single")),
    "many for one before state": (
        "stream f = rows |> flatmap split(words, \" \") -> Word\n"
        "stream s = f |> by word |> scan { word, n: count() }", "f", ("read>farm", "farm>keyed")),
    "behind a window that answers a tuple": (
        "stream w = rows |> by k |> window count 4 slide 2 |> aggregate { k, v: sum(v) }\n"
        "stream s = w |> map { k, v: v * 2 }", "s", ("keyed>farm", "farm>single")),
    "behind windows that the watermark closes": (
        "stream w = rows |> by k |> window time 20ms slide 10ms |> aggregate { k, v: sum(v) }\n"
        "stream s = w |> map { k, v: v * 2 }", "s", ("single>farm", "farm>single")),
    "between time windows and state": (
        "stream w = rows |> by k |> window time 20ms slide 10ms |> aggregate { k, v: sum(v) }\n"
        "stream f = w |> filter v > 3\nstream s = f |> by k |> scan { k, n: count(), v: sum(v) }",
        "f", ("single>farm", "farm>keyed")),
    "many for one, between": (
        "stream w = rows |> by k |> window time 20ms |> aggregate { words: last(words) }\n"
        "stream f = w |> flatmap split(words, \" \") -> Word\n"
        "stream s = f |> by word |> scan { word, n: count() }", "f", ("single>farm", "farm>single")),
    "behind the order of the whole stream": (
        "stream n = rows |> scan { k: last(k), v: count() }\nstream f = n |> map { k, v: v * 2 }\n"
        "stream s = f |> by k |> window count 3 |> aggregate { k, v: sum(v) }", "f", ("single>farm", "farm>keyed")),
    "one behind the other": (
        f"stream f = rows |> {COSTLY}\nstream g = f |> filter v % 5 != 1\n"
        "stream s = g |> by k |> window count 3 |> aggregate { k, v: sum(v) }", "f g",
        ("read>farm", "farm>farm", "farm>keyed")),
    "behind pairs": (
        "stream j = rows |> join others by k within 4ms { k: rows.k, a: rows.v, b: others.v }\n"
        "stream f = j |> map { k, v: a - b }\nstream s = f |> by k |> scan { k, v: sum(v) }",
        "f", ("single>farm", "farm>keyed")),
    "before pairs": (
        f"stream f = rows |> {COSTLY}\n"
        "stream s = f |> join others by k within 4ms { k: f.k, a: f.v, b: others.v }",
        "f", ("read>farm", "farm>keyed")),
    "where a stream meets itself": (
        f"stream f = rows |> {COSTLY}\nstream g = rows |> map {{ ts, k, v }}\nstream m = f |> union g\n"
        "stream s = m |> by k |> scan { k, v: sum(v), n: count() }", "f", ("read>farm", "farm>single")),
    "behind workers that have whole windows": (
        "stream w = rows |> by k |> window count 4 slide 2 |> aggregate { k, v: median(v) }\n"
        "stream s = w |> map { k, v: v * 2.0 }", "s", ("work>farm", "farm>single")),
    "before keys that expire": (
        f"stream f = rows |> {COSTLY}\n"
        "stream s = f |> by k |> update { n: i64 = 0 } with { n: n + v } emit { k, n } expire after 15ms",
        "f", ("read>farm", "farm>keyed")),
    "of an operator with what reads it": (
        "operator f on rows -> Out { alternate one = { k, v: v + 1 } }\nstream g = f |> filter v > 2\n"
        "stream s = g |> by k |> window session gap 8ms |> aggregate { k, v: sum(v) }",
        "f", ("read>farm", "farm>keyed")),
    "of late tuples": (
        f"stream f = tardy |> {COSTLY}\nstream s = f |> by k |> scan {{ k, n: count() }}",
        "f", ("read>farm", "farm>keyed")),
}
MORE = {"behind workers that have whole windows": ("w=window_farming:2",)}
DEGREES = range(1, 7)


def rows(rng: random.Random, count: int) -> bytes:
    lines, now = ["ts,k,v,words"], 100
    for _ in range(count):
        now += rng.choice((0, 0, 1, 1, 2, 25 if rng.random() < 0.05 else 0))
        words = " ".join(rng.choice("abcdef") for _ in range(rng.randrange(5)))
        lines.append(f"{now - rng.randrange(10)},{rng.randrange(7)},{rng.randrange(40)},{words}")
    return "".join(f"{line}\n" for line in lines).encode()


def case_of(place: str, rng: random.Random) -> PatternCase:
    steps, farmed, _ = PLACES[place]
    late = "" if "tardy" in steps else LATE
    text = f'{HEAD}{steps}\nsink out = s to csv("out.csv")\n{late}control off\n'
    words = (*(f"{name}=farm:3" for name in farmed.split()), *MORE.get(place, ()))
    words += tuple(_others(text, {word.split("=")[0] for word in words}))
    files = {"rows.csv": rows(rng, 250), "others.csv": rows(rng, 250)}
    return PatternCase(text, (), (), (files,), ((),), "extern int unused;", words)


def _others(text: str, named: set[str]) -> Iterator[str]:
    """Keyed state is divided by its keys, so that what comes before and after it has many neighbours."""
    program = pipeline.check(text, "program.dfl", {})
    for step in program.steps:
        function = function_of(program, step)
        if step.name not in named and (function.keyed or function.windowed):
            yield f"{step.name}={'key_partitioning:2' if function.keyed else 'sequential'}"


@pytest.mark.parametrize("place", PLACES)
def test_the_farm_stands_where_its_step_does(place: str) -> None:
    case = case_of(place, random.Random(0))
    graph = pipeline.flow(pipeline.check(case.text, "program.dfl", {}))
    plan = pipeline.plan(graph, Asked(4, None, case.patterns))
    kinds = [segment.kind for segment in plan.segments]
    assert set(PLACES[place][2]) <= {f"{kinds[edge.source]}>{kinds[edge.target]}" for edge in plan.edges}
    for name in PLACES[place][1].split():
        assert plan.segment_of(name).kind == "farm" and plan.segment_of(name).degree == 3
    parsers = sum(map(parsed_ahead, graph.steps))
    assert plan.layout.predicted.threads == sum(max(1, segment.degree) for segment in plan.segments) + parsers


@pytest.mark.parametrize("rounds", (7, pytest.param(0, marks=pytest.mark.slow)))
@pytest.mark.parametrize("place", PLACES)
def test_farms_give_what_the_interpreter_gives(place: str, rounds: int) -> None:
    layouts = [(), ("--layout", "fused"), *(("--workers", str(n), "--layout", "staged") for n in DEGREES)]
    try:
        check_lines(case_of(place, random.Random(f"{SEED} {place}")), layouts, rounds)
    except Different as different:
        raise Different(f"DFC_TEST_SEED={SEED}: {different}") from different


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_farms_change_while_they_run(place: str) -> None:
    rng = random.Random(f"{SEED} {place}")
    try:
        check_case(case_of(place, rng), [random_changes(rng, 250 // 7) for _ in range(8)], 7)
    except Different as different:
        raise Different(f"DFC_TEST_SEED={SEED}: {different}") from different
