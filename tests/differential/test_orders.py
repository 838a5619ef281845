"""`order total`, `order key` and `order free` mean what they say, in every layout and while degrees and routes change:
everything in order, what each key gave in order, or the same results.

Each program stands with what the plan makes of its order. DFC_TEST_SEED repeats a run.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from dfc.compiler import interpret, pipeline
from dfc.compiler.select.asked import Asked

from tests.differential import native
from tests.differential.pattern_programs import PatternCase
from tests.differential.test_farms import HEAD, rows
from tests.differential.test_moved_state import random_changes
from tests.differential.test_reconfiguration import elastic_operators
from tests.differential.trying import SEED

WINDOW = "by k |> window time 20ms slide 10ms |> aggregate { k, v: sum(v) }"
FREELY, IN_ORDER = True, False
PROGRAMS = {  # the stream `s`; what its sink says; patterns; how the plan collects, None where nobody asks
    "a farm": ("stream s = rows |> map { k, v: v * 3 }", "free", ("s=farm:3",), FREELY),
    "a farm, in order": ("stream s = rows |> map { k, v: v * 3 }", "total", ("s=farm:3",), None),
    "a farm, by key": ("stream s = rows |> map { k, v: v * 3 }", "key", ("s=farm:3",), IN_ORDER),
    "a farm that an operator frees": (
        "operator f on rows order free -> Out { alternate one = { k, v: v + 1 } }\nstream s = f |> filter v > 2", "",
        ("f=farm:3",), FREELY),
    "an operator that is free before one that is not": (
        "operator f on rows order free -> Out { alternate one = { k, v: v + 1 } }\n"
        "stream s = f |> window count 4 slide 2 |> aggregate { k: last(k), v: median(v) }", "", ("f=farm:3",), None),
    "count windows of a whole stream, free at the end": (
        "stream f = rows |> map { k, v: v * 3 }\n"
        "stream s = f |> window count 4 slide 2 |> aggregate { k: last(k), v: sum(v) }", "free", ("f=farm:3",),
        IN_ORDER),
    "time windows by key": (f"stream s = rows |> {WINDOW}", "key", ("s=key_partitioning:3",), FREELY),
    "time windows, free": (f"stream s = rows |> {WINDOW}", "free", ("s=key_partitioning:3",), FREELY),
    "state by key": (
        "stream s = rows |> by k |> scan { k, n: count(), v: sum(v) } |> filter n % 3 != 1", "key", (), FREELY),
    "an operator by key": (
        "operator s on rows by k window count 5 slide 2 order key -> Out { alternate one = { k, v: sum(v) } }", "",
        ("s=key_partitioning:3",), FREELY),
    "whole windows by key": (
        "stream s = rows |> by k |> window count 4 slide 2 |> aggregate { k, v: median(v) }", "key",
        ("s=window_farming:3",), IN_ORDER),
    "pairs by key": (
        "stream s = rows |> join others by k within 4ms { k: rows.k, a: rows.v, b: others.v }", "key", (), FREELY),
    "a farm behind keys, by key": (f"stream w = rows |> {WINDOW}\nstream s = w |> map {{ k, v: v * 2 }}", "key",
                                   ("s=farm:3", "w=key_partitioning:2"), IN_ORDER),
    "streams of two sources, free": (
        "stream a = rows |> map { k, v: v * 3 }\nstream b = others |> map { k, v: v - 1 }\nstream s = a |> union b",
        "free", ("a=farm:3",), FREELY),
    "streams of one source, free": (
        "stream a = rows |> map { k, v: v * 3 }\nstream b = rows |> map { k, v: v - 1 }\nstream s = a |> union b",
        "free", ("a=farm:3",), IN_ORDER),
}
LAYOUTS = ([], ["--layout", "fused"], *(["--workers", str(n), "--layout", "staged"] for n in (1, 2, 4, 6)))


def text_of(name: str, more: str = "") -> str:
    steps, order, _, _ = PROGRAMS[name]
    return (f'{HEAD}{steps}\nsink out = s to csv("out.csv"){f" order {order}" if order else ""}\n'
            f'sink late = tardy to csv("late.csv")\n{more}control off\n')


def asked_for(name: str) -> Asked | None:
    return Asked(patterns=PROGRAMS[name][2]) if PROGRAMS[name][2] else None


def collecting(name: str, more: str = "") -> list:
    graph = pipeline.flow(pipeline.check(text_of(name, more), "program.dfl", {}))
    return [(one.freely, one.why) for one in pipeline.plan(graph, asked_for(name)).collecting]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_plan_says_how_it_collects(name: str) -> None:
    freely = PROGRAMS[name][3]
    assert [one for one, _ in collecting(name)] == ([] if freely is None else [freely])


def test_a_sink_that_needs_the_order_keeps_it_for_all_beside_it() -> None:
    more = 'sink too = s to csv("too.csv") order total\n'
    assert collecting("a farm", more) == [(False, "`too` asks for the whole order")]


@pytest.mark.parametrize("name", PROGRAMS)
def test_orders(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"{SEED} {name}")
    text, asked = text_of(name), asked_for(name)
    program = native.build(text, tmp_path, 7, asked)
    assert ("out" in program.loose) == (PROGRAMS[name][3] is FREELY)
    for file in ("rows.csv", "others.csv"):
        (tmp_path / file).write_bytes(rows(rng, 400))
    expected = interpret.run(program.typed, folder=tmp_path)
    operators = elastic_operators(PatternCase(text, (), (), (), (), "", PROGRAMS[name][2]))
    changes = [random_changes(rng, 80).words(operators) for _ in range(6 if operators else 0)]
    for line in (*LAYOUTS, *changes):
        try:
            native.compare(program, expected, native.run(program, [*line]), 0 if "order key" in text else None)
        except native.Different as different:
            raise native.Different(f"{' '.join(line)}: {different}") from None
