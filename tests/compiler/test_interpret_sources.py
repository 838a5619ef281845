"""The other sources: generated tuples, packed records, and C code that the interpreter calls."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections import Counter

import pytest
from dfc.compiler.graph.runnable import NotRunnable
from dfc.compiler.interpret import UserC, WrongFile, run, write_sinks
from dfc.compiler.interpret.binary import unpack_rows
from dfc.compiler.interpret.csv_rows import Malformed
from dfc.compiler.interpret.generate import SplitMix64, generate, key_drawer
from dfc.dsl import typed
from dfc.dsl.types import BOOL, F64, I64, SYMBOL, Duration, Field, Float, Int, Record, Text, Timestamp

from tests.compiler.hand_built import HERE, count_window, program, readings, source, step

TICK = Record("Tick", (Field("ts", Timestamp("ms")), Field("name", SYMBOL), Field("x", F64), Field("f", Float(32)),
                       Field("on", BOOL), Field("n", Int(16, True)), Field("d", Duration("us")),
                       Field("at", Timestamp("s"))))


def generated(**settings):
    return list(generate(typed.Connector("generate", "", tuple(settings.items()), HERE), TICK, "ts"))


def test_splitmix64_gives_the_published_numbers():
    random = SplitMix64(1234567)
    assert [random.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_generated_tuples_are_those_of_the_c_runtime():
    rows = generated(count=500, rate=7000, keys=50, zipf=1.1, disorder=50_000_000, seed=7, x=(100.0, 200.0), n=(-5, 5))
    assert len(rows) == 500
    assert rows[0] == (1699999999980, "k0", 190.07606806068833, 0.5829302668571472, False, -3, 3, 1699999999)
    assert rows[-1] == (1700000000051, "k0", 195.91498026802483, 0.1015634760260582, True, 0, 2, 1700000000)
    assert generated(count=1, start=-5, d=(3, 9)) == [
        (-5, "k566", 0.7457817572627011, 0.9710027575492859, False, 444, 8, -1)]


def test_zipf_prefers_small_keys():
    draw = key_drawer(SplitMix64(1), [1 / (k + 1) for k in range(100)])
    drawn = Counter(draw() for _ in range(20_000))
    assert max(drawn) <= 99 and 1.8 < drawn[0] / drawn[1] < 2.2 and 8 < drawn[0] / drawn[9] < 12.5


def test_rates_that_change(tmp_path, monkeypatch):
    """Tuples come evenly while a rate holds; the last one as long as the one before; none while it is 0."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.txt").write_text("# seconds and rates\n3\n10 4\n10.5 0\n11.5 2.6\n")
    times = [row[0] for row in generated(rates="rates.txt", start=0)]
    assert times == [0, 250, 1500, 1833, 2166]
    assert [row[0] for row in generated(rates="rates.txt", start=0, count=3)] == times[:3]


def test_a_rate_a_line_holds_for_a_second(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.txt").write_text("4\n# a pause\n0\n2.6\n")
    assert [row[0] for row in generated(rates="rates.txt", start=0)] == [0, 250, 500, 750, 2000, 2333, 2666]


def test_arrivals_by_chance(tmp_path, monkeypatch):
    """As many as the rates say, give or take what chance allows, with the gaps of a Poisson process."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rates.txt").write_text("0 1000\n2 0\n3 4000\n4 500\n")
    times = [row[0] / 1e3 for row in generated(rates="rates.txt", arrivals="poisson", start=0)]
    counts = Counter(int(time) for time in times)
    assert times == sorted(times) and 2 not in counts and set(counts) <= {0, 1, 3, 4}
    assert counts[0] + counts[1] == pytest.approx(2000, abs=200) and counts[3] == pytest.approx(4000, abs=300)
    gaps = [b - a for a, b in zip(times, times[1:], strict=False) if a >= 3 and b < 4]
    mean = sum(gaps) / len(gaps)
    assert sum(gap > mean for gap in gaps) / len(gaps) == pytest.approx(0.368, abs=0.15)  # 1/e, on a clock of 1 ms


def test_keys_by_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights.txt").write_text("0 6\n3\n1 0\n")
    drawn = Counter(row[1] for row in generated(weights="weights.txt", count=5000))
    assert set(drawn) == {"k1", "k2", "k3"} and drawn["k1"] / 5000 == pytest.approx(0.6, abs=0.03)


@pytest.mark.parametrize(("name", "text"), [("rates", ""), ("rates", "1 2\n1 3\n"), ("rates", "1 x\n"),
                                            ("rates", "1 -1\n"), ("weights", "0 0\n"), ("weights", "1 -2\n")])
def test_wrong_rates_and_weights(tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.txt").write_text(text)
    with pytest.raises(WrongFile, match=r"given\.txt"):
        generated(count=1, **{name: "given.txt"})


PACKED = Record("Packed", (Field("a", Int(16, False)), Field("s", SYMBOL), Field("t", Text(4)), Field("b", BOOL)))


def test_packed_records():
    layout = struct.Struct("<HI4sB")
    data = b"".join(layout.pack(*row) for row in [
        (65535, 1, "hä".encode(), 1), (0, 2, b"", 0), (0, 0, b"a\0b\0", 0), (0, 0, b"\xff", 0), (7, 0, b"abcd", 0),
        (0, 0, b"", 2)]) + b"abc"
    rows = [row.line if isinstance(row, Malformed) else row for row in unpack_rows(data, PACKED, ["zero", "one"])]
    assert rows == [(65535, "one", "hä", True), 2, (0, "zero", "a\0b", False), 4, (7, "zero", "abcd", False), 6, 7]


def test_sources_are_opened_by_their_connector(tmp_path):
    (tmp_path / "s.csv").write_text("ts,k,x\n1,2,3.5\nbad,2,3\n")
    result = run(program(source()), folder=tmp_path)
    assert result.rows["out"] == [(1, 2, 3.5)] and result.counters["s"].malformed == 1
    assert list(result.csv_lines("out")) == ["ts,k,x", "1,2,3.5"]
    (tmp_path / "b.bin").write_bytes(struct.pack("<qqd", 1, 2, 3.5))
    packed = source()
    connector = typed.Connector("binary", "b.bin", (), HERE)
    packed = typed.Step("s", (), typed.Source(connector, "ts", False, 0, None), packed.record, "ms", HERE)
    assert run(program(packed), folder=tmp_path).rows["out"] == [(1, 2, 3.5)]


def in_c(window, function="sum_up"):
    record = Record("Sum", (Field("n", I64), Field("total", F64)))
    body = typed.CFunction("sum.c", function, HERE)
    return step("o", "s", typed.Operator((), window, (typed.Alternate("c", 1.0, None, None, body, HERE),)), record)


def test_an_alternate_in_c_needs_its_library():
    with pytest.raises(NotRunnable) as raised:
        run(program(source(), in_c(count_window(2))), {"s": []})
    assert [item.code for item in raised.value.diagnostics.items] == ["E0813"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_an_alternate_in_c_is_called_with_the_window(tmp_path):
    structs = ("typedef struct { int64_t ts, k; double x; } Reading; typedef struct { int64_t n; double total; } Sum;\n"
               "typedef struct { const Reading *tuples; const int64_t *times; size_t count; int64_t start, end; } "
               "Window;\n"
               "bool sum_up(const Window *window, Sum *result);\n"
               "bool sum_one(const Reading *tuple, Sum *result);\n")
    (tmp_path / "sum.c").write_text(f"""
        #include <stdbool.h>
        #include <stddef.h>
        #include <stdint.h>
        {structs}
        bool sum_up(const Window *window, Sum *result)
        {{
            *result = (Sum){{(int64_t)window->count, 0.0}};
            for (size_t i = 0; i < window->count; i++) result->total += window->tuples[i].x;
            return window->times[0] != 5;
        }}
        bool sum_one(const Reading *tuple, Sum *result)
        {{
            *result = (Sum){{1, tuple->x}};
            return tuple->x > 1.0;
        }}""")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "sum.so", "sum.c"], cwd=tmp_path, check=True)
    user_c = UserC(tmp_path / "sum.so", structs)
    rows = {"s": readings((1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32))}
    windows = in_c(count_window(2), "sum_up")
    assert run(program(source(), windows), rows, user_c=user_c).rows["out"] == [(2, 3.0), (2, 12.0)]
    single = in_c(None, "sum_one")
    assert run(program(source(), single), rows, user_c=user_c).rows["out"][:2] == [(1, 2.0), (1, 4.0)]


def test_sinks_write_what_sources_read(tmp_path):
    text = Record("Word", (Field("w", SYMBOL), Field("t", Text(3)), Field("ok", BOOL), Field("f", Float(32))))
    rows = [("b", "x", True, 0.5), ("a", "", False, 1.5), ("b", "é", True, -0.25), ("", "y", True, 0.0)]
    for kind in ("csv", "binary"):
        connector = typed.Connector(kind, f"words.{kind}", (), HERE)
        given = typed.Step("s", (), typed.Source(connector, None, False, 0, None), text, None, HERE)
        target = step("out", "s", typed.Sink(connector), text, None)
        one = program(given, target)
        write_sinks(one, run(one, {"s": rows}), tmp_path)
        assert run(one, folder=tmp_path).rows["out"] == rows
    assert (tmp_path / "words.csv").read_text() == "w,t,ok,f\nb,x,true,0.5\na,,false,1.5\nb,é,true,-0.25\n,y,true,0.0\n"
    assert (tmp_path / "words.binary.symbols").read_text() == 'b\na\n""\n'
