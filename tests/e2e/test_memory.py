"""Long streams: memory does not grow with what has passed, only with what is open."""

from __future__ import annotations

import json
import os

import pytest

from tests.e2e.native import Native, compiled

HEAD = """\
app long
record Trade { ts: timestamp<us>, symbol: symbol, id: i64, price: f64 }
source trades: Trade = generate(count: 1M, keys: 500) event time ts slack 60ms
"""
SINK = ' to csv("out.csv")\n'
PROGRAMS = {
    "windows": "sink out = trades |> by symbol |> window time 100ms slide 20ms"
               " |> aggregate { symbol, n: count(), p: avg(price) }",
    "kept tuples": "sink out = trades |> by symbol |> window time 50ms |> aggregate { symbol, p: median(price) }",
    "count windows": "sink out = trades |> by symbol |> window count 100 slide 50"
                     " |> aggregate { symbol, p: median(price) }",
    "sessions": "sink out = trades |> by symbol |> window session gap 5ms |> aggregate { symbol, n: count() }",
    "keys that vanish": "sink out = trades |> by id |> window time 10ms |> aggregate { id, n: count() }",
}
JOIN = """\
app long
record Trade { ts: timestamp<us>, symbol: symbol, id: i64 }
source left: Trade = generate(count: 1M, rate: 100k/s, keys: 300, seed: 5) event time ts
source right: Trade = generate(count: 1M, rate: 100k/s, keys: 300, seed: 6) event time ts
sink out = left |> join right by KEY within 1ms { id: left.id, other: right.id } to csv("out.csv")
"""


def peak(program: Native, *words: object) -> tuple[int, dict]:
    """The largest resident size in KiB, and the summary."""
    process = program.start(*words, "--stats", "--sink", "out=discard:")
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, error
    return usage.ru_maxrss, json.loads(error.splitlines()[-1])


def ids(count: str) -> str:
    """Keys that come for a while and then never again: a range that is far larger than what is open at once."""
    return f"trades=generate:count={count},rate=1M/s,keys=500,zipf=1.1,disorder=50ms,seed=5,id=1..1000000000"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_memory_stays(tmp_path, name, workers):
    """Four times the stream takes no more: the slack of a few MiB is for what allocators round up."""
    program = compiled(HEAD + PROGRAMS[name] + SINK, tmp_path)
    short, _ = peak(program, "--source", ids("250k"), "--workers", workers)
    long, stats = peak(program, "--source", ids("1M"), "--workers", workers)
    assert stats["in"] == 1_000_000 and stats["out"] > 0
    assert long < short * 1.25 + 8 * 1024, f"{short} KiB became {long} KiB"


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("key", ["symbol", "id"])
def test_a_join_forgets(tmp_path, key, workers):
    """Of a symbol the tuples; of an id, which never comes again, the group too."""
    program = compiled(JOIN.replace("KEY", key), tmp_path)

    def sized(count: str) -> tuple[int, dict]:
        both = [f"{side}=generate:count={count},rate=100k/s,keys=300,seed={seed},id=1..1000000000"
                for side, seed in (("left", 5), ("right", 6))]
        return peak(program, "--source", both[0], "--source", both[1], "--workers", workers)

    (short, _), (long, stats) = sized("100k"), sized("400k")
    assert stats["out"] > 0 or key == "id"
    assert long < short * 1.25 + 8 * 1024, f"{short} KiB became {long} KiB"


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_two_hundred_million(tmp_path, workers):
    program = compiled(HEAD + PROGRAMS["windows"] + SINK, tmp_path)
    used, stats = peak(program, "--source", ids("200M"), "--workers", workers)
    assert stats["in"] == 200_000_000 and used < 200 * 1024
