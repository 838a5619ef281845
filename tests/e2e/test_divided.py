"""Operators in parts while the program runs: results come at once, signals drain it, a failure ends it."""

from __future__ import annotations

import json
import signal

import pytest

from tests.e2e.native import PATIENCE, Native, Talk, compiled, wait_until

PATTERNS = {
    "farmed": "window_farming { workers: 3, schedule: on_demand, batch: 2 }",
    "owned": "window_farming { workers: 2, style: active }",
    "paned": "pane_farming { workers: 2, merge_workers: 2, merge: shuffled }",
    "shared": "window_partitioning { workers: 3 }",
    "nested": "nesting { workers: 2, inner_workers: 2 }",
}
HEAD = """\
app divided
record Trade { ts: timestamp<ms>, symbol: symbol, size: i64 }
record Sum { symbol: symbol, total: i64, n: i64 }
source trades: Trade = csv("-") event time ts
"""
OPERATOR = ("operator {0} on trades by symbol window {2} pattern {1} -> Sum "
            "{{ alternate a = {{ symbol, total: sum(size), n: count() }} }}\n")


def program(window: str, sink: str) -> str:
    return HEAD + "".join(OPERATOR.format(name, pattern, window) + f"sink {name}_out = {name} to {sink.format(name)}\n"
                          for name, pattern in PATTERNS.items())


@pytest.fixture(scope="module")
def timed(tmp_path_factory) -> Native:
    return compiled(program("time 10ms", 'csv("{}.csv")'), tmp_path_factory.mktemp("timed"))


@pytest.fixture(scope="module")
def counted(tmp_path_factory) -> Native:
    """One operator writes to where the test listens, the others to files."""
    text = program("count 4 slide 2", 'csv("{}.csv")').replace('csv("paned.csv")', 'csv("-")')
    return compiled(text, tmp_path_factory.mktemp("counted"))


def sums(folder, name: str) -> list[list[str]]:
    return [line.split(",") for line in (folder / f"{name}.csv").read_text().splitlines()[1:]]


@pytest.mark.parametrize("words", [(), ("--workers", 4), ("--layout", "fused")], ids=("planned", "four", "fused"))
def test_a_busy_program_drains(timed, tmp_path, words):
    """Every tuple that was read is in the results of every operator, once, whenever the signal came."""
    generated = ("--source", "trades=generate:keys=7,size=1..1")
    process = timed.at(tmp_path).start(*generated, *words, "--stats")
    wait_until(lambda: all((tmp_path / f"{name}.csv").exists() and (tmp_path / f"{name}.csv").stat().st_size > 1000
                           for name in PATTERNS), process)
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0
    read = json.loads(said.splitlines()[-1])["in"]
    assert {name: sum(int(total) for _, total, _ in sums(tmp_path, name)) for name in PATTERNS} == \
        dict.fromkeys(PATTERNS, read)
    assert len({tuple(map(tuple, sums(tmp_path, name))) for name in PATTERNS}) == 1, "all in one order"


@pytest.mark.parametrize("words", [(), ("--workers", 4)], ids=("planned", "four"))
def test_results_do_not_wait_for_more_input(counted, tmp_path, words):
    process = counted.at(tmp_path).start(*words)
    talk = Talk(process)
    talk.say("ts,symbol,size\n1,a,1\n2,a,2\n3,b,7\n4,a,3\n5,a,4\n")
    assert talk.hear(2) == ["symbol,total,n", "a,10,4"]
    talk.say("6,a,5\n7,a,6\n")
    assert talk.hear(1) == ["a,18,4"]
    process.send_signal(signal.SIGTERM)
    assert talk.finish() == []
    assert all(sums(tmp_path, name) == [["a", "10", "4"], ["a", "18", "4"]] for name in PATTERNS if name != "paned")


@pytest.mark.parametrize("name", PATTERNS)
def test_a_sink_that_fails_ends_the_program(timed, tmp_path, name):
    """Whatever is still handed out then."""
    words = ("--source", "trades=generate:keys=7,count=2000000", "--sink", f"{name}_out=csv:/dev/full")
    answer = timed.at(tmp_path).run(*words)
    assert answer.returncode not in (0, -6, -11) and "No space left on device" in answer.stderr
    assert "Sanitizer" not in answer.stderr
