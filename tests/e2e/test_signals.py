"""SIGTERM and SIGINT: what was read is worked on to its end, and the program ends with 0."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket

import pytest

from tests.e2e.native import PATIENCE, Native, Talk, compiled, wait_until

PROGRAM = """\
app sums
record Trade { ts: timestamp<ms>, symbol: symbol, size: i64 }
source trades: Trade = csv("-") event time ts
stream perkey = trades |> by symbol |> window time 10ms |> aggregate { symbol, total: sum(size), n: count() }
stream all = trades |> filter size >= 0 |> map { ts, symbol, size }
sink sums = perkey to csv("sums.csv")
sink seen = all to csv("-")
"""
TWO = """\
app both
record Bid { ts: timestamp<ms>, symbol: symbol, price: i64 }
source bids: Bid = csv("bids") event time ts
source asks: Bid = csv("asks") event time ts
stream pairs = bids |> join asks by symbol within 5ms { ts: bids.ts, symbol: bids.symbol, gap: asks.price - bids.price }
sink out = pairs to csv("-")
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("sums"))


@pytest.fixture(scope="module")
def built_two(tmp_path_factory) -> Native:
    return compiled(TWO, tmp_path_factory.mktemp("both"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
@pytest.mark.parametrize("workers", [1, 3])
def test_an_idle_program_drains(built, tmp_path, workers, number):
    """It waits on a pipe that stays open; the windows that are open then are complete up to what was read."""
    process = built.at(tmp_path).start("--workers", workers, "--stats")
    talk = Talk(process)
    talk.say("ts,symbol,size\n1,a,1\n2,b,2\n3,a,4\n")
    assert talk.hear(4)[1:] == ["1,a,1", "2,b,2", "3,a,4"]
    process.send_signal(number)
    assert process.wait(PATIENCE) == 0
    assert (tmp_path / "sums.csv").read_text() == "symbol,total,n\na,5,2\nb,2,1\n"
    assert json.loads(process.stderr.read().splitlines()[-1])["in"] == 3


@pytest.mark.parametrize("workers", [1, 3])
def test_a_busy_program_drains(built, tmp_path, workers):
    """Every tuple that was read is in the results, once, whenever the signal came."""
    words = ("--source", "trades=generate:keys=7,size=1..1", "--sink", "seen=discard:", "--workers", workers)
    process = built.at(tmp_path).start(*words, "--stats")
    wait_until(lambda: (tmp_path / "sums.csv").exists() and (tmp_path / "sums.csv").stat().st_size > 1000, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    stats = json.loads(process.stderr.read().splitlines()[-1])
    rows = [line.split(",") for line in (tmp_path / "sums.csv").read_text().splitlines()[1:]]
    assert sum(int(total) for _, total, _ in rows) == stats["in"] > 0


@pytest.mark.parametrize("workers", [1, 3])
def test_before_the_header(built, tmp_path, workers):
    process = built.at(tmp_path).start("--workers", workers, "--stats")
    wait_until(lambda: waits_in_poll(process.pid), process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0
    assert json.loads(process.stderr.read().splitlines()[-1])["in"] == 0
    assert process.stdout.read() == b"ts,symbol,size\n"
    assert (tmp_path / "sums.csv").read_text() == "symbol,total,n\n"


def waits_in_poll(process: int) -> bool:
    """Whether it sleeps, with its handlers in place (the kernel says which signals are caught)."""
    with open(f"/proc/{process}/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    caught = int(status["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1
    return bool(caught) and status["State"].startswith("S")


@pytest.mark.parametrize("workers", [1, 3])
def test_an_endless_row_of_malformed_rows(built, tmp_path, workers):
    """A stream that holds nothing but rubbish must not keep the program from hearing a signal."""
    reader, writer = os.pipe()
    process = built.at(tmp_path).start("--workers", workers, stdin=reader)
    os.close(reader)
    rubbish = b"ts,symbol,size\n" + b"x,y,z\n" * 100_000
    if os.fork() == 0:  # feeds for ever
        try:
            while True:
                os.write(writer, rubbish)
                rubbish = b"x,y,z\n" * 10_000
        finally:
            os._exit(0)
    os.close(writer)
    wait_until(lambda: process.stderr.readline().startswith(b"trades: further"), process)
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read().decode()
    assert process.wait(PATIENCE) == 0 and "malformed rows in all" in rest
    os.wait()


@pytest.mark.parametrize("workers", [1, 3])
def test_two_sources(built_two, tmp_path, workers):
    for name in ("bids", "asks"):
        os.mkfifo(tmp_path / name)
    process = built_two.at(tmp_path).start("--workers", workers)
    with open(tmp_path / "asks", "w") as asks, open(tmp_path / "bids", "w") as bids:
        for pipe in (bids, asks):
            pipe.write("ts,symbol,price\n1,a,10\n")
            pipe.flush()
        talk = Talk(process)
        assert talk.hear(2) == ["ts,symbol,gap", "1,a,0"]
        process.send_signal(signal.SIGTERM)
        assert talk.finish() == []


@contextlib.contextmanager
def nobody_answers():
    """A port whose queue is full: who connects waits."""
    with contextlib.ExitStack() as open_sockets:
        server = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            client = open_sockets.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"tcp:127.0.0.1:{server.getsockname()[1]}?format=csv"


def send_header(process):
    """Sources are opened before sinks, so that a mistake there leaves no file behind; this one waits for its header."""
    process.stdin.write(b"ts,symbol,size\n")
    process.stdin.flush()


@pytest.mark.parametrize("words", [(), ("--stats",), ("--workers", 3)], ids=["plain", "stats", "workers"])
@pytest.mark.parametrize("where", ["csv:fifo", "binary:fifo", "binary:plain", "socket"])
def test_while_a_sink_waits_for_its_other_side(built, tmp_path, where, words):
    """Nothing has been read, so there is nothing to lose."""
    os.mkfifo(tmp_path / "fifo")
    os.mkfifo(tmp_path / "plain.symbols")
    with nobody_answers() as address:
        process = built.at(tmp_path).start("--sink", f"sums={address if where == 'socket' else where}", *words)
        send_header(process)
        wait_until(lambda: waits_in_poll(process.pid), process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, process.stderr.read()
    assert process.stderr.read().count(b"\n") == words.count("--stats")


@pytest.mark.parametrize("workers", [1, 3])
def test_a_fifo_gets_a_reader_late(built, tmp_path, workers):
    os.mkfifo(tmp_path / "fifo")
    process = built.at(tmp_path).start("--sink", "sums=csv:fifo", "--workers", workers)
    send_header(process)
    wait_until(lambda: waits_in_poll(process.pid), process)
    with open(tmp_path / "fifo") as reader:
        process.stdin.write(b"1,a,1\n")
        process.stdin.close()
        assert reader.read() == "symbol,total,n\na,1,1\n"
    assert process.wait(PATIENCE) == 0
