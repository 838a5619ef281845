"""Reading and writing CSV as the conformance README says."""

from __future__ import annotations

import csv
import io
import math

import pytest
from dfc.compiler.interpret import MissingColumn, format_row, read_csv
from dfc.compiler.interpret.csv_rows import Malformed, NotThisType, parse_field, rows_of
from dfc.compiler.interpret.numbers import to_f32
from dfc.compiler.interpret.sources import lines_of
from dfc.compiler.interpret.text_numbers import f32_from_text, format_float
from dfc.dsl.types import BOOL, F64, I64, SYMBOL, U64, Field, Float, Int, Record, Text, Timestamp
from hypothesis import given
from hypothesis import strategies as st

PAIR = Record("Pair", (Field("n", I64), Field("t", Text(8))))
WORD = Record("Word", (Field("t", SYMBOL),))


def rows(data: bytes, record=PAIR):
    return [(row.line, "bad") if isinstance(row, Malformed) else row for row in rows_of(data, record)]


def test_columns_are_matched_by_name_and_extra_ones_ignored():
    assert rows(b"t,more,n\na,x,1\nb,,2\n") == [(1, "a"), (2, "b")]
    assert rows(b"\xef\xbb\xbfn,t\r\n1,a\r\n\r\n\n2,b") == [(1, "a"), (2, "b")]
    assert rows(b'"n",t\n') == []


@pytest.mark.parametrize("data", [b"", b"n\n1\n", b"n,T\n"])
def test_a_missing_column_is_an_error_before_anything_runs(data):
    with pytest.raises(MissingColumn):
        rows_of(data, PAIR)


def test_quotes():
    assert rows(b'n,t\n1,"a,b"\n2,"say ""x"""\r\n3,"two\nln"\n"4",""\n') == [
        (1, "a,b"), (2, 'say "x"'), (3, "two\nln"), (4, "")]


def test_malformed_rows_know_the_line_on_which_they_began():
    data = (b'n,t\n1\n1,a,b\n+1,a\n 1,a\n1 ,a\n,a\n1,"x\ny"z\n1,x"y\n2,ok\n'
            b'1,123456789\n1,\xff\n99999999999999999999,a\n1,"open\n2,b\n')
    assert rows(data) == [(line, "bad") for line in (2, 3, 4, 5, 6, 7, 8, 10)] + [(2, "ok")] + [
        (line, "bad") for line in (12, 13, 14, 15)]


def test_an_empty_line_is_skipped_but_a_quoted_nothing_is_a_row():
    assert rows(b't\n\n""\n\r\na\n', WORD) == [("",), ("a",)]


def test_another_separator():
    assert list(rows_of(b"n;t\n1;a,b\n", PAIR, ";")) == [(1, "a,b")]


def test_read_csv_keeps_malformed_rows_apart(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"n,t\n1,a\nx,b\n")
    good, bad = read_csv(tmp_path / "x.csv", PAIR)
    assert good == [(1, "a")] and [one.line for one in bad] == [3] and "'x' is no i64" in bad[0].reason


@pytest.mark.parametrize("text, type_, expected", [
    ("-5", I64, -5), ("007", I64, 7), ("-128", Int(8, True), -128), ("0", U64, 0), (str(2**64 - 1), U64, 2**64 - 1),
    ("0" * 5000 + "1", I64, 1), ("-7", Timestamp("ms"), -7), ("1.5", F64, 1.5), ("1e3", F64, 1000.0),
    ("1E+3", F64, 1000.0), ("5.", F64, 5.0), (".5", F64, 0.5), ("inf", F64, math.inf),
    ("-inf", F64, -math.inf), ("1e999", F64, math.inf), ("true", BOOL, True),
    ("0.1", Float(32), 0.10000000149011612), ("", SYMBOL, ""),
])
def test_fields_that_fit(text, type_, expected):
    assert parse_field(text.encode(), type_) == expected


@pytest.mark.parametrize("text, type_", [
    ("+1", I64), ("", I64), ("-", I64), ("1.0", I64), ("1_0", I64), ("٣", I64), ("128", Int(8, True)), ("-1", U64),
    (str(2**64), U64), ("1e5", I64), ("+1.0", F64), ("", F64), (".", F64), ("e5", F64), ("1e", F64),
    ("NaN", F64), ("-nan", F64), ("Inf", F64), ("infinity", F64), ("0x1p3", F64), ("1_0.0", F64), (" 1.0", F64),
    ("True", BOOL), ("1", BOOL), ("", BOOL), ("123456789", Text(8)),
])
def test_fields_that_do_not_fit(text, type_):
    with pytest.raises(NotThisType):
        parse_field(text.encode(), type_)


def test_nan_is_read():
    assert math.isnan(parse_field(b"nan", F64))


@pytest.mark.parametrize("data", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"])
def test_what_is_not_utf8(data):
    with pytest.raises(NotThisType):
        parse_field(data, SYMBOL)


def test_lines_are_rows_empty_ones_too():
    record = Record("Line", (Field("text", Text(4)),))
    lines = lines_of(b"a,b\n\nlonger\r\n\xffx\nend\r\n", record)
    assert [row if isinstance(row, tuple) else row.line for row in lines] == [("a,b",), ("",), 3, 4, ("end",)]


MANY = Record("Many", (Field("i", I64), Field("f", F64), Field("g", Float(32)), Field("b", BOOL), Field("s", SYMBOL)))


def test_rows_are_written_in_the_shortest_form():
    assert format_row((-1, 0.1, to_f32(0.1), True, "a,b"), MANY) == '-1,0.1,0.1,true,"a,b"'
    assert format_row((0, math.nan, math.inf, False, 'x"y'), MANY) == '0,nan,inf,false,"x""y"'
    assert format_row((0, -math.inf, to_f32(1e-10), False, "two\nlines"), MANY) == '0,-inf,1e-10,false,"two\nlines"'
    assert format_row(("",), WORD) == '""'


@given(st.floats(allow_nan=False, width=32))
def test_f32_text_reads_back(x):
    assert f32_from_text(format_float(x, 32)) == x


def test_f32_is_rounded_once():
    # Half way between two f32s after rounding to f64, but not before.
    assert f32_from_text("1.000000059604644775390625") == 1.0
    assert f32_from_text("1.00000005960464477539062500000001") == 1.0000001192092896


VALUES = st.tuples(st.integers(-2**63, 2**63 - 1), st.floats(allow_nan=False), st.floats(width=32, allow_nan=False),
                   st.booleans(), st.text(st.characters(exclude_categories=("Cs",))))


@given(st.lists(VALUES, max_size=8))
def test_what_is_written_is_read_again(written):
    text = "i,f,g,b,s\n" + "".join(format_row(row, MANY) + "\n" for row in written)
    assert list(rows_of(text.encode(), MANY)) == written


@given(st.lists(st.lists(st.text("ab,\"\n\r ", max_size=4), min_size=2, max_size=2), max_size=6))
def test_python_reads_what_is_written(written):
    record = Record("Two", (Field("a", SYMBOL), Field("b", SYMBOL)))
    text = "".join(format_row(tuple(row), record) + "\n" for row in written)
    assert [row for row in csv.reader(io.StringIO(text, newline=""))] == written
