"""What depends on event time most: sessions of which many are open at once, joins whose sides grow and shrink, and
several sources that take turns; natively and in the interpreter, in every layout."""

from __future__ import annotations

import random

import pytest

from tests.differential.more_programs import MoreCase
from tests.differential.test_more_programs import check_case

ROUNDS = 7


def check(text: str, streams: list[str], **files: bytes) -> None:
    """Each stream goes to a sink of its own."""
    lines = [f'stream q{i} = {stream}\nsink out{i} = q{i} to csv("out{i}.csv")' for i, stream in enumerate(streams)]
    named = {f"{name}.csv": data for name, data in files.items()}
    check_case(MoreCase("\n".join(["app random_program", text, *lines, "control off", ""]), (), (), (named,), ((),)),
               ROUNDS)


def readings(rng: random.Random, count: int, disorder: int, start: int = 0, step: int = 12) -> bytes:
    """Times in disorder, sometimes far ahead, often the same; keys by turns many and few."""
    rows, now = ["ts,k,x,name\n"], start
    for i in range(count):
        now += rng.choice((0, 0, 1, step, step)) + (rng.randrange(3000) if rng.random() < 0.01 else 0)
        keys = 2 if i // 50 % 2 else 9
        rows.append(f"{now - rng.randrange(disorder + 1)},{rng.randrange(keys)},{i},n{i % 5}\n")
    return "".join(rows).encode()


RECORD = "record R { ts: timestamp<ms>, k: i64, x: f64, name: text<4> }\n"
SESSIONS = [
    f"s |> {by}window session gap {gap} |> aggregate {{ start: window_start, end: window_end, {body} }}"
    for gap in ("1ms", "15ms", "60ms", "1500ms") for by in ("by k |> ", "by name |> ", "")
    for body in ("n: count(), t: sum(x), f: first(x), l: last(x)", "m: median(x), n: count()")
]


@pytest.mark.parametrize(("disorder", "start"), [(0, 0), (40, -3000), (900, 50), (5000, -100)])
def test_sessions(disorder: int, start: int):
    rng = random.Random(disorder)
    source = f'source s: R = csv("s.csv") event time ts slack {disorder}ms\n'
    check(RECORD + source, SESSIONS, s=readings(rng, 500, disorder, start))


@pytest.mark.parametrize(("disorder", "within"), [(0, "0ms"), (30, "10ms"), (200, "25ms"), (30, "400ms")])
def test_joins(disorder: int, within: str):
    rng = random.Random(disorder + len(within))
    sources = "".join(f'source {name}: R = csv("{name}.csv") event time ts slack {disorder}ms\n' for name in "ab")
    check(RECORD + sources, [
        f"a |> join b by k within {within} {{ k: a.k, a: a.x, b: b.x, at: b.ts, name: a.name }}",
        f"a |> join b by name within {within} {{ names: [a.name, b.name], more: a.x > b.x }}",
        f"a |> join b by k, name within {within} {{ one: 1 }}",
        f"b |> filter k > 1 |> join a by k within {within} {{ x: a.x }}",
    ], a=readings(rng, 300, disorder), b=readings(rng, 200, disorder, 5, 17))


def test_sources_take_turns():
    """Equal watermarks, runs of one source, ends at different times, and one without event time between them."""
    rng = random.Random(4)
    timed = "".join(f'source {name}: R = csv("{name}.csv") event time ts slack {slack}ms\n'
                    for name, slack in (("a", 0), ("b", 3), ("c", 0)))
    untimed = 'record U { x: f64 }\nsource u: U = csv("u.csv")\n'
    check(RECORD + timed + untimed + "stream all = c |> union a, b\n",
          ["all", "b |> union c, a", "all |> broadcast u { x: all.x, u: u.x }"],
          a=readings(rng, 300, 3, 0, 5), b=readings(rng, 200, 3, 0, 3), c=readings(rng, 150, 0, 400, 9),
          u="".join(["x\n", *(f"{-i}\n" for i in range(40))]).encode())
