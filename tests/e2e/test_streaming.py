"""It streams: a result comes out when the tuple that releases it has been read, however long the next one takes."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from tests.e2e.native import Native, Talk, compiled

LAYOUTS = [("--layout", "fused"), ("--layout", "staged"), ("--workers", "3")]
HEAD = """\
record Trade { ts: timestamp<ms>, symbol: symbol, size: i64 }
source trades: Trade = csv("-") event time ts
"""
PROGRAMS = {
    "map": "sink out = trades |> filter size > 1 |> map { symbol, twice: size * 2 } to csv(\"-\")",
    "scan": "sink out = trades |> by symbol |> scan { symbol, total: sum(size) } to csv(\"-\")",
    "count": "sink out = trades |> by symbol |> window count 2 |> aggregate { symbol, m: max(size) } to csv(\"-\")",
    "time": "sink out = trades |> by symbol |> window time 10ms |> aggregate { symbol, n: count() } to csv(\"-\")",
    "whole": "sink out = trades |> window time 10ms |> aggregate { n: count(), s: sum(size) } to csv(\"-\")",
    "session": "sink out = trades |> by symbol |> window session gap 5ms |> aggregate { symbol, n: count() }"
               " to csv(\"-\")",
    "chain": "sink out = trades |> by symbol |> window time 10ms |> aggregate { symbol, n: count() }"
             " |> window time 20ms |> aggregate { n: sum(n) } to csv(\"-\")",
}
# What is written, and the rows that this must bring out before anything more is written.
STEPS = {
    "map": [("1,a,1\n", []), ("2,a,2\n", ["a,4"]), ("3,b,5\n4,b,6\n", ["b,10", "b,12"])],
    "scan": [("1,a,1\n", ["a,1"]), ("2,b,2\n3,a,3\n", ["b,2", "a,4"])],
    "count": [("1,a,1\n2,b,2\n", []), ("3,a,3\n", ["a,3"]), ("4,b,1\n", ["b,2"])],
    "time": [("1,b,1\n2,a,1\n", []), ("10,c,1\n", ["a,1", "b,1"]), ("29,a,1\n", ["c,1"]), ("30,a,1\n", ["a,1"])],
    "whole": [("1,b,1\n2,a,1\n", []), ("10,c,7\n", ["2,2"]), ("29,a,1\n", ["1,7"])],
    "session": [("1,a,1\n4,a,1\n", []), ("9,b,1\n", ["a,2"]), ("14,a,1\n", ["b,1"])],
    "chain": [("1,a,1\n11,b,1\n", []), ("20,c,1\n", ["2"]), ("45,c,1\n", ["1"])],
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    made: dict[str, Native] = {}

    def build(name: str) -> Native:
        if name not in made:
            made[name] = compiled(f"app live\n{HEAD}{PROGRAMS[name]}\n", tmp_path_factory.mktemp(name))
        return made[name]

    return build


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_results_come_at_once(built, name, layout):
    talk = Talk(built(name).start(*layout))
    talk.say("ts,symbol,size\n")
    talk.hear(1)  # the header, before any row
    for said, released in STEPS[name]:
        talk.say(said)
        assert talk.hear(len(released)) == released
    talk.end()


@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_rows_may_come_in_pieces(built, layout):
    """A row is read when its newline is there, wherever the pipe cuts it; the last one needs none."""
    talk = Talk(built("scan").start(*layout))
    for piece in ("ts,sym", "bol,size\r", "\n1,a,", "1\n2,\"b", "\nc\",", "5", "\n"):
        talk.say(piece)
    assert talk.hear(4) == ["symbol,total", "a,1", "\"b", "c\",5"]
    talk.say("3,a,4")
    assert talk.end() == ["a,5"]


@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_a_slow_source_is_heard_beside_a_busy_one(tmp_path_factory, tmp_path, layout):
    """Both must have a turn: the busy one never runs dry."""
    text = ("app two\nrecord T { ts: timestamp<ms>, k: i64 }\n"
            "source fast: T = generate(count: 1G) event time ts\nsource slow: T = csv(\"-\") event time ts\n"
            "sink a = fast |> filter k < 0 to csv(\"a.csv\")\nsink b = slow |> map { k } to csv(\"-\")\n")
    talk = Talk(compiled(text, tmp_path).start(*layout))
    talk.say("ts,k\n")
    assert talk.hear(1) == ["k"]
    for k in range(5):
        talk.say(f"{k},{k}\n")
        assert talk.hear(1) == [str(k)]
    talk.process.terminate()
    talk.finish()


JOIN = """\
app pairs
record Quote { ts: timestamp<ms>, symbol: symbol, price: i64 }
source bids: Quote = csv("bids") event time ts
source asks: Quote = csv("asks") event time ts
stream pairs = bids |> join asks by symbol within 5ms { symbol: bids.symbol, gap: asks.price - bids.price }
sink out = pairs to csv("-")
"""


@pytest.fixture(scope="module")
def joined(tmp_path_factory) -> Native:
    return compiled(JOIN, tmp_path_factory.mktemp("join"))


@pytest.mark.parametrize("order", [("bids", "asks"), ("asks", "bids")], ids=" ".join)
@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_two_live_sources(joined, tmp_path, layout, order):
    """Named pipes may be opened in any order, before any row; a pair comes when its second half has been read."""
    for name in order:
        os.mkfifo(tmp_path / name)
    talk = Talk(joined.at(tmp_path).start(*layout))
    with ExitStack() as stack:
        pipes = {name: stack.enter_context(open(tmp_path / name, "w", buffering=1)) for name in order}
        for name in order:
            pipes[name].write("ts,symbol,price\n")
        assert talk.hear(1) == ["symbol,gap"]
        pipes["bids"].write("1,a,10\n")
        pipes["asks"].write("2,a,11\n")
        assert talk.hear(1) == ["a,1"]
        pipes["asks"].write("3,a,15\n4,b,1\n")
        assert talk.hear(1) == ["a,5"]
        pipes["bids"].write("5,b,3\n")
        assert talk.hear(1) == ["b,-2"]
    assert talk.finish() == []


UNION = """\
app joined
record Trade { ts: timestamp<ms>, size: i64 }
source left: Trade = csv("left") event time ts
source right: Trade = csv("right") event time ts
sink out = left |> union right |> window time 10ms |> aggregate { n: count() } to csv("-")
"""


@pytest.mark.parametrize("layout", LAYOUTS, ids=" ".join)
def test_an_input_that_ended_holds_nobody_back(tmp_path_factory, tmp_path, layout):
    program = compiled(UNION, tmp_path)
    for name in ("left", "right"):
        os.mkfifo(tmp_path / name)
    talk = Talk(program.start(*layout))
    with open(tmp_path / "left", "w", buffering=1) as left:
        with open(tmp_path / "right", "w", buffering=1) as right:
            right.write("ts,size\n1,1\n")
            left.write("ts,size\n2,1\n15,1\n")
        assert talk.hear(2) == ["n", "2"]  # the right side has ended: the left one alone moves time on
        left.write("25,1\n")
        assert talk.hear(1) == ["1"]
    assert talk.finish() == ["1"]
