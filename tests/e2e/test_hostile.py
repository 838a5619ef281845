"""Lines without end, disks without room, readers that leave: one clear line, and nothing corrupt."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time

import pytest

from tests.e2e.native import PATIENCE, Native, compiled, wait_until
from tests.e2e.sockets import address_of, call

PROGRAM = """\
app hostile
record Row { name: text<64>, n: i64 }
record Line { body: text<64> }
source rows: Row = csv("rows.csv")
source raw: Line = lines("raw.txt")
sink out = rows to csv("out.csv")
sink lines_out = raw to csv("lines.csv")
"""
GIB = 1 << 30
MEMORY = 256 << 20  # bytes: far above the 16 MiB of the longest row, far below the line
GOOD = {"csv": b"a,1\n", "jsonl": b'{"name":"a","n":1}\n'}
HEADER = {"csv": b"name,n\n", "jsonl": b""}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("hostile"))


@pytest.fixture
def hostile(built, tmp_path) -> Native:
    (tmp_path / "rows.csv").write_text("name,n\n" + "".join(f"row number {i},{i}\n" for i in range(50_000)))
    (tmp_path / "raw.txt").write_text("")
    return built.at(tmp_path)


def little_memory() -> None:
    if not os.environ.get("DFC_SANITIZE"):  # whose shadow is larger than any limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def few_addresses() -> None:
    if not os.environ.get("DFC_SANITIZE"):
        resource.setrlimit(resource.RLIMIT_AS, (3 * MEMORY, 3 * MEMORY))  # six threads have stacks and heaps


# --- few addresses ----------------------------------------------------------------------------------


def test_keyed_state_where_addresses_are_limited(tmp_path):
    """Stores reserve more than they use: not so much that nothing is left for others, or for threads."""
    program = compiled("""\
app limited
record Row { key: i64, x: f64 }
source rows: Row = generate(count: 200k, key: 1..20k)
stream sums = rows |> by key |> window count 4 |> aggregate { key, total: sum(x) }
stream heights = rows |> by key |> window count 3 |> aggregate { key, top: max(x) }
sink out = sums to csv("sums.csv")
sink high = heights to csv("heights.csv")
""", tmp_path)
    answer = program.run("--workers", "4", "--layout", "staged", preexec_fn=few_addresses)
    assert answer.returncode == 0, answer.stderr
    assert len((tmp_path / "sums.csv").read_text().splitlines()) > 1000


# --- a line of 1 GB ---------------------------------------------------------------------------------


def sparse(path, before: bytes, start: bytes, after: bytes) -> None:
    """A line of `start` and a gigabyte of zeros, which takes no room on the disk, between two good ones."""
    with open(path, "wb") as file:
        file.write(before + start)
        file.seek(GIB, os.SEEK_CUR)
        file.write(b"\n" + after)


@pytest.mark.slow
@pytest.mark.parametrize("start", [b"a", b'"'], ids=["plain", "quoted"])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_line_of_a_gigabyte(hostile, kind, start):
    sparse(hostile.folder / "huge", HEADER[kind] + GOOD[kind], start, b'"\n' * (start == b'"') + GOOD[kind])
    answer = hostile.run("--source", f"rows={kind}:huge", preexec_fn=little_memory)
    assert answer.returncode == 0, answer.stderr
    assert (hostile.folder / "out.csv").read_text() == "name,n\na,1\na,1\n"
    assert "malformed" in answer.stderr


@pytest.mark.slow
def test_a_line_of_a_gigabyte_of_text(hostile):
    sparse(hostile.folder / "huge", b"one\n", b"x", b"three\n")
    answer = hostile.run("--source", "raw=lines:huge", preexec_fn=little_memory)
    assert answer.returncode == 0
    assert (hostile.folder / "lines.csv").read_text() == "body\none\nthree\n"
    assert "raw: line 2: the line is too long" in answer.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_caller_who_never_ends_his_line(hostile, kind):
    process = hostile.start("--source", f"rows=tcp:127.0.0.1:0?listen=true&max_row=1000&format={kind}",
                            preexec_fn=little_memory)
    caller = call(address_of(process, "rows"))
    caller.socket.sendall(HEADER[kind])
    for _ in range(GIB >> 20):
        caller.socket.sendall(b"x" * (1 << 20))
    caller.socket.sendall(b"\n" + GOOD[kind])
    caller.close()
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, error
    assert (hostile.folder / "out.csv").read_text() == "name,n\na,1\n" and b"1 malformed row" in error


def test_a_header_without_end(hostile):
    answer = hostile.run("--source", "rows=csv:/dev/zero")
    assert answer.returncode == 4 and "'/dev/zero': the header is longer than" in answer.stderr


@pytest.mark.parametrize("kind", ["jsonl", "lines"])
def test_a_line_without_end_holds_nobody(hostile, kind):
    process = hostile.start("--source", f"{'rows' if kind == 'jsonl' else 'raw'}={kind}:/dev/zero")
    wait_until((hostile.folder / "out.csv").exists, process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_who_does_not_want_to_wait(tmp_path):
    """The first signal waits for what is worked on, a later one does not."""
    (tmp_path / "busy.c").write_text('#include "busy.h"\n#include <unistd.h>\n'
                                     "bool never(const busy_Row *in, busy_Row *out)\n"
                                     "{\n    *out = *in;\n    for (;;) (void)pause();\n}\n")
    busy = compiled('app busy\nrecord Row { n: i64 }\nsource rows: Row = csv("rows.csv")\n'
                    'operator stuck on rows -> Row { alternate only value 1.0 = c("busy.c", "never") }\n'
                    'sink out = stuck to csv("out.csv")\n', tmp_path)
    (tmp_path / "rows.csv").write_text("n\n1\n")
    process = busy.start()
    wait_until((tmp_path / "out.csv").exists, process)
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
    assert process.returncode == -signal.SIGTERM


# --- no room ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl", "binary"])
def test_a_full_disk(hostile, kind):
    answer = hostile.run("--sink", f"out={kind}:/dev/full")
    assert answer.returncode == 4
    assert answer.stderr.splitlines()[-1] == ("hostile: error: cannot write '/dev/full': No space left on device")


def test_no_room_for_what_stands_beside(hostile):
    """Malformed rows that are kept, and the summary."""
    (hostile.folder / "bad.csv").write_text("name,n\n" + "x,y\n" * 10_000)
    answer = hostile.run("--source", "rows=csv:bad.csv", "--malformed", "kept", preexec_fn=few_bytes)
    assert answer.returncode == 0, answer.stderr
    for name in ("kept.rows", "kept.raw"):
        os.replace(hostile.folder / name, hostile.folder / f"{name}.before")
    os.symlink("/dev/full", hostile.folder / "kept.rows")
    answer = hostile.run("--source", "rows=csv:bad.csv", "--malformed", "kept")
    assert answer.returncode == 4
    assert "cannot write 'kept.rows': No space left on device" in answer.stderr.splitlines()[-1]


def test_a_full_disk_for_the_compiler(dfc, tmp_path):
    (tmp_path / "app.dfl").write_text(PROGRAM)
    answer = dfc("compile", "app.dfl", "-o", "out", preexec_fn=few_bytes)
    assert (answer.returncode, answer.stderr.count("\n")) == (4, 1)
    assert "could not write" in answer.stderr or "can't write" in answer.stderr  # the C compiler, or dfc itself
    assert dfc("compile", "app.dfl", "-o", "out").returncode == 0  # what is there already does not mislead it
    assert subprocess.run([tmp_path / "out" / "hostile", "--version"], capture_output=True).returncode == 0
    for words in (("--emit", "c"), ("--print-outputs",)):
        with open("/dev/full", "w") as full:
            answer = dfc("compile", "app.dfl", *words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        assert answer.returncode == 4 and answer.stderr == "dfc: No space left on device\n"


def few_bytes() -> None:
    """The disk is full after 100,000 bytes; the signal that goes with it is not wanted."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_what_was_written_before_the_disk_was_full_is_right(hostile, kind):
    whole = hostile.run("--sink", f"out={kind}:whole")
    answer = hostile.run("--sink", f"out={kind}:part", preexec_fn=few_bytes)
    assert (whole.returncode, answer.returncode) == (0, 4)
    part = (hostile.folder / "part").read_bytes()
    assert len(part) == 100_000 and (hostile.folder / "whole").read_bytes().startswith(part)
    assert "cannot write 'part': File too large" in answer.stderr


# --- a reader that goes away ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("workers", [1, 3])
def test_a_pipe_whose_reader_leaves(hostile, kind, workers):
    process = hostile.start("--sink", f"out={kind}:-", "--workers", workers, stdin=subprocess.DEVNULL)
    process.stdout.readline()
    process.stdout.close()
    error = process.stderr.read().decode()
    assert process.wait(PATIENCE) == 4
    assert error.splitlines()[-1] == "hostile: error: cannot write 'standard output': Broken pipe"
