"""Files replayed at a pace. A test may be as slow as it likes, but no replay is faster than it was told to be."""

from __future__ import annotations

import time

import pytest

from tests.e2e.native import Native, compiled, one_line

PROGRAM = """\
app replay
record Tick { ts: timestamp<ms>, n: i32 }
source a: Tick = csv("a.csv") event time ts
source b: Tick = jsonl("b.jsonl") event time ts
sink from_a = a to csv("a.out.csv")
sink from_b = b to csv("b.out.csv")
"""
COUNT = 40


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("replay"))


@pytest.fixture
def replay(built, tmp_path) -> Native:
    """`a` goes from 10.0 s to 10.39 s of event time, `b` begins 0.2 s earlier."""
    (tmp_path / "a.csv").write_text("ts,n\n" + "".join(f"{10_000 + 10 * i},{i}\n" for i in range(COUNT)))
    (tmp_path / "b.jsonl").write_text("".join(f'{{"ts":{9_800 + i},"n":{i}}}\n' for i in range(COUNT)))
    return built.at(tmp_path)


def complete(replay: Native) -> bool:
    return all((replay.folder / f"{name}.out.csv").read_text().count("\n") == COUNT + 1 for name in "ab")


@pytest.mark.parametrize(("words", "least"), [(("--rate", "100/s"), (COUNT - 1) / 100), (("--rate", "0.1k/s"), 0.39),
                                              (("--speed", "1x"), 0.59), (("--speed", "2x"), 0.295)],
                         ids=lambda value: "-".join(value) if isinstance(value, tuple) else "")
def test_no_faster_than_told(replay, words, least):
    began = time.monotonic()
    answer = replay.run(*words)
    assert time.monotonic() - began >= least
    assert (answer.returncode, answer.stderr) == (0, "") and complete(replay)


def test_full_speed_is_the_default_and_a_high_rate_loses_nothing(replay):
    for words in ((), ("--rate", "5M/s"), ("--speed", "1000000x")):
        assert replay.run(*words).returncode == 0 and complete(replay)


def test_rates_that_change(replay):
    """20 records in 0.2 s, none for 0.1 s, then 10 a second each 0.1 s: the last is due after 1.2 s."""
    (replay.folder / "rates.txt").write_text("0 100\n0.2 0\n0.3 10\n0.4 20\n")
    began = time.monotonic()
    answer = replay.run("--rates", "rates.txt")
    assert time.monotonic() - began >= 0.4 + 18 / 20
    assert (answer.returncode, answer.stderr) == (0, "") and complete(replay)


@pytest.mark.parametrize(("text", "words"), [("", ()), ("0 5\n1 0\n", ()), ("0 5\nx\n", ()),
                                             ("0 5\n", ("--rate", "5/s")), ("0 5\n", ("--speed", "1x"))])
def test_wrong_rates(replay, text, words):
    (replay.folder / "rates.txt").write_text(text)
    code, line = one_line(replay.run("--rates", "rates.txt", *words))
    assert code == 2 and "--rates" in line


def test_times_beyond_the_axis_are_not_waited_for(replay):
    for moment in (-(1 << 63), (1 << 63) - 1):
        rows = (replay.folder / "a.csv").read_text().replace("ts,n\n", f"ts,n\n{moment},0\n").splitlines(keepends=True)
        (replay.folder / "a.csv").write_text("".join([*rows[:20], f"{moment},0\n", *rows[20:]]))
        answer = replay.run("--speed", "20x", "--stats")
        assert answer.returncode == 0 and complete(replay), answer.stderr


def test_results_come_while_the_replay_pauses(replay):
    process = replay.start("--rate", "2/s", "--sink", "from_a=csv:-")
    assert [process.stdout.readline() for _ in range(3)] == [b"ts,n\n", b"10000,0\n", b"10010,1\n"]
    assert process.poll() is None  # 38 rows and 19 seconds to go
    process.terminate()
    assert process.wait(60) == 0


@pytest.mark.parametrize("words", [("--rate", "200"), ("--rate", "0/s"), ("--rate", "fast"), ("--rate", "-1/s"),
                                   ("--rate", "1G/s"), ("--speed", "10"), ("--speed", "0x"), ("--speed", "x"),
                                   ("--speed", "1e3x"), ("--rate", "1/s", "--speed", "1x")], ids="-".join)
def test_wrong_words(replay, words):
    code, line = one_line(replay.run(*words))
    assert code == 2 and ("--rate" in line or "--speed" in line)
