"""Sources and sinks beyond csv: JSON lines in files, and every format over TCP and Unix sockets."""

from __future__ import annotations

import signal
import socket
import struct

import pytest

from tests.e2e.native import PATIENCE, Native, compiled, one_line, wait_until
from tests.e2e.sockets import Listener, address_of, call, line_of

COPY = """\
app copy
record Row { ts: timestamp<ms>, name: symbol, note: text<8>, x: f64, y: f32, n: i64, u: u8, ok: bool }
source rows: Row = csv("rows.csv") event time ts
sink out = rows to csv("out.csv")
"""
HEADER = "ts,name,note,x,y,n,u,ok"
ROWS = """\
ts,name,note,x,y,n,u,ok
1,a,,0.1,0.1,-9223372036854775808,0,true
2,"q""uo,te",é,nan,1e+30,9223372036854775807,255,false
3,"two
lines",tab\t.,inf,-inf,0,1,true
4,,\x7f\x01,-0.0,1.5,-1,7,false
5,😀,,1e-05,3.0,12,9,true
"""
NUMBERS = """\
app numbers
record Number { n: i32, x: f64 }
source numbers: Number = csv("numbers.csv")
sink out = numbers |> filter n > 0 to csv("out.csv")
"""


@pytest.fixture(scope="module")
def copy_program(tmp_path_factory) -> Native:
    return compiled(COPY, tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copy(copy_program, tmp_path) -> Native:
    (tmp_path / "rows.csv").write_text(ROWS)
    return copy_program.at(tmp_path)


@pytest.fixture(scope="module")
def numbers_program(tmp_path_factory) -> Native:
    return compiled(NUMBERS, tmp_path_factory.mktemp("numbers"))


@pytest.fixture
def numbers(numbers_program, tmp_path) -> Native:
    return numbers_program.at(tmp_path)


def ended(process, code: int = 0) -> str:
    """The rest of stderr of a program that ends by itself."""
    _, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == code, error.decode()
    return error.decode()


# --- jsonl ------------------------------------------------------------------------------------------


def test_csv_to_jsonl_and_back(copy):
    assert copy.run("--sink", "out=jsonl:rows.jsonl").returncode == 0
    assert copy.run("--source", "rows=jsonl:rows.jsonl").returncode == 0
    assert (copy.folder / "out.csv").read_text() == ROWS
    second = (copy.folder / "rows.jsonl").read_text().splitlines()[1]
    assert second == ('{"ts":2,"name":"q\\"uo,te","note":"é","x":"nan","y":1e+30,"n":9223372036854775807,"u":255,'
                      '"ok":false}')


LINES = [
    '{"n":1,"x":2}', ' {"x" : 2.5e1,\t"n":2} ', '{"n":3,"x":"nan"}', '{"n":4,"x":"-inf","more":{"a":[1,{"b":null}]}}',
    '{"\\u006e":5,"x":-0.0}', '{"n":6,"x":1e999}', "", "  ", '{"n":7,"x":0.1,"t":"\\ud83d\\ude00"}',
    '{"n":"8","x":1}', '{"n":9.0,"x":1}', '{"n":10}', '{"n":11,"x":1,"n":11}', '{"n":12,"x":null}',
    '{"n":13,"x":NaN}', '{"n":14,"x":01}', '{"n":15,"x":1,}', '{"n":16,"x":1} x', '[17]', '{"n":18,"x":"1"}',
    '{"n":19,"x":1,"t":"\\ud83d"}', '{"n":20,"x":1,"t":"\t"}', '{"n":2147483648,"x":1}', '{"n":1e1,"x":1}',
    '{"n":21,"x":1,"t":' + "[" * 63 + "]" * 63 + "}", '{"n":22,"x":1,"t":' + "[" * 64 + "]" * 64 + "}",
    '{"n":23,"x":1', '{"n":24,"x":+1}', '{"n":25,"x":.5}', '{"n":-26,"x":1}', '{"n":27,"x":1,"t":"\\x41"}',
    '{"n":28,"x":true}', "{'n':29,'x':1}", '{"n":30,"x":1}\r', '{}', '{"n":31,"x":1,"k":1,"k":2}',
]


def test_the_interpreter_takes_the_same_lines(numbers, dfc):
    bad = b'{"n":40,"x":1,"t":"\xff"}\n{"n":41,"x":1}'
    (numbers.folder / "lines.jsonl").write_bytes("\n".join([*LINES, ""]).encode() + bad)
    text = NUMBERS.replace('csv("numbers.csv")', 'jsonl("lines.jsonl")').replace('csv("out', 'jsonl("out')
    (numbers.folder / "program.dfl").write_text(text)
    answer = numbers.run("--source", "numbers=jsonl:lines.jsonl", "--sink", "out=jsonl:native.jsonl", "--report", 99)
    assert answer.returncode == 0
    native = (numbers.folder / "native.jsonl").read_text()
    assert [line.split(",")[0] for line in native.splitlines()] == [
        f'{{"n":{n}' for n in (1, 2, 3, 4, 5, 6, 7, 21, 30, 31, 41)]
    interpreted = dfc("run", "--interpret", "program.dfl")
    assert interpreted.returncode == 0, interpreted.stderr
    assert (numbers.folder / "out.csv").read_text() == native
    count = answer.stderr.split("numbers: ")[-1].split()[0]
    assert interpreted.stderr.splitlines()[-1] == f"numbers: {count} malformed rows"


def test_malformed_lines_say_why(numbers):
    (numbers.folder / "bad.jsonl").write_text('{"n":1}\n{"n":1,"x":[]}\n{"n":99999999999,"x":1}\n{"n":1 "x":1}\n')
    answer = numbers.run("--source", "numbers=jsonl:bad.jsonl")
    assert answer.returncode == 0
    assert answer.stderr.splitlines() == [
        "numbers: line 1: there is no field 'x'",
        "numbers: line 2: field 'x': expected a number, not []",
        "numbers: line 3: field 'n': out of the range of i32: \"99999999999\"",
        "numbers: line 4: no JSON at byte 8: a comma or the end of an object is expected",
        "numbers: 4 malformed rows in all",
    ]


# --- tcp --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 3])
def test_a_listening_source_and_a_listening_sink(copy, workers):
    process = copy.start("--source", "rows=tcp:127.0.0.1:0?listen=true", "--sink",
                         "out=tcp:127.0.0.1:0?listen=true&format=jsonl", "--workers", workers)
    feed, results = call(address_of(process, "rows")), call(address_of(process, "out"))
    feed.say(HEADER + "\n1,a,,0.5,0.5,1,1,true\n")
    assert results.hear(1) == ['{"ts":1,"name":"a","note":"","x":0.5,"y":0.5,"n":1,"u":1,"ok":true}']
    feed.say("2,b,,1,1,2,2,false\n3,c,,1,1,")
    assert results.hear(1)[0].startswith('{"ts":2,"name":"b"')
    feed.close()
    error = ended(process)
    assert results.rest() == ""
    assert "has ended: closed by the other side\n" in error
    assert "rows: line 4: the connection ended within the row\n" in error


def test_a_source_and_a_sink_that_connect(copy):
    with Listener() as server, Listener() as target:
        process = copy.start("--source", f"rows=tcp:127.0.0.1:{server.port}?format=jsonl", "--sink",
                             f"out=tcp:localhost:{target.port}")
        feed, results = server.accept(), target.accept()
        assert results.hear(1) == [HEADER]
        feed.say('{"ts":1,"name":"a","note":"","x":1,"y":1,"n":1,"u":1,"ok":true}\n')
        assert results.hear(1) == ["1,a,,1.0,1.0,1,1,true"]
        feed.close()
        ended(process)
        assert results.rest() == ""


def test_packed_records_over_tcp(numbers):
    with Listener() as server, Listener() as target:
        process = numbers.start("--source", f"numbers=tcp:127.0.0.1:{server.port}?format=binary", "--sink",
                                f"out=tcp:127.0.0.1:{target.port}?format=binary")
        feed, results = server.accept(), target.accept()
        packed = [struct.pack("<id", n, n / 2) for n in (5, -1, 7)]
        feed.socket.sendall(b"".join(packed) + packed[0][:5])
        feed.close()
        error = ended(process)
        assert "numbers: record 4: the input ends within it" in error
        results.socket.settimeout(PATIENCE)
        assert results._file.read() == packed[0] + packed[2]


def test_nobody_is_there(copy):
    with Listener() as server:
        port = server.port
    code, line = one_line(copy.run("--source", f"rows=tcp:127.0.0.1:{port}"))
    assert code == 4 and line.endswith(f"cannot connect to 127.0.0.1:{port}: Connection refused")
    code, line = one_line(copy.run("--sink", f"out=tcp:127.0.0.1:{port}"))
    assert (code, line) == (4, f"copy: error: sink 'out': cannot connect to 127.0.0.1:{port}: Connection refused")


def test_retry_connects_again(copy):
    with Listener() as server:
        process = copy.start("--source", f"rows=tcp:127.0.0.1:{server.port}?retry=true", "--sink", "out=csv:-")
        for number in (1, 2, 3):
            feed = server.accept()
            if number > 1:
                assert line_of(process) == f"rows: connected to 127.0.0.1:{server.port}"
            feed.say(f"{HEADER}\n{number},a,,1,1,1,1,true\n")
            if number == 1:
                assert process.stdout.readline().decode() == HEADER + "\n"
            assert process.stdout.readline().decode() == f"{number},a,,1.0,1.0,1,1,true\n"
            feed.close()
            assert line_of(process).endswith("has ended: closed by the other side; trying again")
        process.send_signal(signal.SIGTERM)
        ended(process)


def test_a_sink_that_lost_its_reader_goes_on_with_the_next(copy):
    process = copy.start("--source", "rows=csv:-", "--sink", "out=tcp:127.0.0.1:0?listen=true&retry=true")
    process.stdin.write((HEADER + "\n").encode())
    process.stdin.flush()
    address = address_of(process, "out")
    first = call(address)

    def say(number: int) -> None:
        process.stdin.write(f"{number},a,,1,1,1,1,true\n".encode())
        process.stdin.flush()

    say(1)
    assert first.hear(2) == [HEADER, "1,a,,1.0,1.0,1,1,true"]
    first.close()
    second = call(address)
    number = 1
    while process.poll() is None and number < 10_000:  # the first rows may still go to whoever has left
        number += 1
        say(number)
        second.socket.settimeout(0.05)
        try:
            got = second.socket.recv(1 << 16)
        except TimeoutError:
            continue
        assert got.startswith((HEADER + "\n").encode())
        break
    process.stdin.close()
    process.stdin = None
    assert "waiting for the next" in ended(process)


def test_a_sink_without_retry_says_who_left(copy):
    with Listener() as target:
        process = copy.start("--source", "rows=csv:-", "--sink", f"out=tcp:127.0.0.1:{target.port}")
        process.stdin.write((HEADER + "\n").encode())
        process.stdin.flush()
        target.accept().close()

        def feeding() -> bool:
            try:
                process.stdin.write(b"1,a,,1,1,1,1,true\n")
                process.stdin.flush()
            except BrokenPipeError:
                return True
            return process.poll() is not None

        wait_until(feeding)
        process.stdin = None
        error = ended(process, 4)
        assert f"copy: error: cannot write '127.0.0.1:{target.port}': " in error


@pytest.mark.parametrize(("retry", "code"), [("", 4), ("?retry=true", 0)])
def test_a_reader_that_leaves_at_the_end(numbers, retry, code):
    """He has not read what is there, and nothing more comes that would show it."""
    with Listener() as target:
        process = numbers.start("--source", "numbers=csv:-", "--sink", f"out=tcp:127.0.0.1:{target.port}{retry}")
        process.stdin.write(b"n,x\n1,2\n")
        process.stdin.flush()
        reader = target.accept()
        wait_until(lambda: b"1,2.0\n" in reader.socket.recv(100, socket.MSG_PEEK), process)
        reader.close()
        process.stdin.close()
        process.stdin = None
        error = ended(process, code)
    assert (f"out: the connection to 127.0.0.1:{target.port} has ended: Connection reset by peer; "
            "rows that it had not read are lost\n") in error
    assert (f"error: cannot write '127.0.0.1:{target.port}': Connection reset by peer" in error) == (code == 4)


def test_a_reader_that_reads_to_the_end(numbers):
    """Nobody waits for him longer than he needs, whatever he says himself."""
    (numbers.folder / "numbers.csv").write_text("n,x\n" + "1,2\n" * 100_000)
    with Listener() as target:
        process = numbers.start("--sink", f"out=tcp:127.0.0.1:{target.port}")
        reader = target.accept()
        reader.say("thanks\n")
        reader.socket.shutdown(socket.SHUT_WR)
        assert reader.rest() == "n,x\n" + "1,2.0\n" * 100_000
        reader.close()
        assert ended(process) == ""


# --- unix -------------------------------------------------------------------------------------------


def test_a_unix_socket_is_the_owners_and_is_removed(numbers):
    program = compiled(NUMBERS.replace('csv("numbers.csv")', 'unix("feed ?%.sock", listen: true, format: jsonl) retry'),
                       numbers.folder)
    process = program.start("--sink", "out=csv:-")
    path = numbers.folder / "feed ?%.sock"
    assert line_of(process) == "numbers: listening on feed ?%.sock"
    assert path.is_socket() and path.stat().st_mode & 0o777 == 0o600
    feed = call(str(path))
    feed.say('{"n":1,"x":2}\n')
    assert [process.stdout.readline() for _ in range(2)] == [b"n,x\n", b"1,2.0\n"]
    process.send_signal(signal.SIGTERM)
    ended(process)
    assert not path.exists()


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(("spec", "word"), [
    ("tcp:0.0.0.0:9?listen=true", "can be reached from other machines"),
    ("tcp:localhost", "no HOST:PORT"),
    ("tcp:localhost:9?format=xml", "no setting of a socket"),
    ("unix:?listen=true", "needs a path"),
    ("tcp:localhost:9?format=lines", "one text or symbol field"),
    ("jsonl:", "needs a path"),
    ("http:x", "unknown connector"),
])
def test_a_wrong_specification_is_wrong_usage(copy, spec, word):
    code, line = one_line(copy.run("--source", f"rows={spec}"))
    assert code == 2 and word in line


@pytest.mark.parametrize(("connector", "code"), [
    ('tcp("0.0.0.0:9", listen: true)', "E0416"), ('tcp("example.org:9", listen: true)', "E0416"),
    ('tcp("[::]:9", listen: true)', "E0416"), ('tcp("nine")', "E0417"), ('tcp("a:99999")', "E0417"),
    ('tcp("localhost:9", format: binary)', "E0418"), ('tcp("localhost:9", format: lines)', "E0415"),
    ('tcp("localhost:9", format: xml)', "E0402"), ('unix("s", listen: 1)', "E0402"),
])
def test_the_checker_knows_sockets(dfc, tmp_path, connector, code):
    (tmp_path / "program.dfl").write_text(COPY.replace('csv("rows.csv")', connector))
    answer = dfc("check", "program.dfl")
    assert answer.returncode == 1 and f"error[{code}]" in answer.stderr


def test_public_and_loopback_addresses_are_taken(dfc, tmp_path):
    for connector in ('tcp("0.0.0.0:9", listen: true, public: true)', 'tcp("[::1]:9", listen: true)',
                      'tcp("127.8.0.1:9", listen: true, max_row: 64KiB)', 'tcp("example.org:9")'):
        (tmp_path / "program.dfl").write_text(COPY.replace('csv("rows.csv")', connector))
        assert dfc("check", "program.dfl").returncode == 0


def test_the_interpreter_has_no_sockets(dfc, tmp_path):
    (tmp_path / "program.dfl").write_text(COPY.replace('csv("rows.csv")', 'tcp("localhost:9")'))
    answer = dfc("run", "--interpret", "program.dfl")
    assert answer.returncode != 0 and "E0811" in answer.stderr
