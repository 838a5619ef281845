"""Types of expressions, the casts that are put in, and folding."""

from __future__ import annotations

import pytest

from tests.dsl.checking import codes, value

RECORD = """\
record Q { ts: timestamp<ms>, at: timestamp<us>, d: duration<ms>, s: symbol, t: text<8>, f: f64, g: f32,
  i: i32, l: i64, u: u64, w: u32, b: bool, v: f64[4] }
source quotes: Q = csv("q.csv") event time ts
"""


@pytest.mark.parametrize(("written", "typed"), [
    ("i", "i : i32"),
    ("i + 1", "(i64(i) + 1:i64) : i64"),
    ("i + l", "(i64(i) + l) : i64"),
    ("i + f", "(f64(i) + f) : f64"),
    ("g * 2", "(f64(g) * 2.0:f64) : f64"),
    ("u + 1", "(u + 1:u64) : u64"),
    ("u + w", "(u + u64(w)) : u64"),
    ("w + 1", "(i64(w) + 1:i64) : i64"),
    ("u + f", "(f64(u) + f) : f64"),
    ("u + u64(i)", "(u + u64(i)) : u64"),
    ("-i", "(- i64(i)) : i64"),
    ("-g", "(- f64(g)) : f64"),
    ("-d", "(- d) : duration<ms>"),
    ("u == 18446744073709551615", "(u == 18446744073709551615:u64) : bool"),
    ("i / 0", "(i64(i) / 0:i64) : i64"),
])
def test_arithmetic(written, typed):
    assert value(written, prelude=RECORD) == typed


@pytest.mark.parametrize(("written", "typed"), [
    ("ts + 5s", "(ts + 5000:duration<ms>) : timestamp<ms>"),
    ("5s + ts", "(5000:duration<ms> + ts) : timestamp<ms>"),
    ("ts - ts", "(ts - ts) : duration<ms>"),
    ("ts - 5", "(ts - 5:i64) : timestamp<ms>"),
    ("ts + i", "(ts + i64(i)) : timestamp<ms>"),
    ("ts % 10", "(ts % 10:i64) : i64"),
    ("ts / 10 * 10", "((ts / 10:i64) * 10:i64) : i64"),
    ("d * 2", "(d * 2:i64) : duration<ms>"),
    ("d / d", "(d / d) : i64"),
    ("d / 2.0", "(f64(d) / 2.0:f64) : f64"),
    ("ts > 5", "(ts > 5:timestamp<ms>) : bool"),
    ("d > 1s", "(d > 1000:duration<ms>) : bool"),
    ("1.5s", "1500:duration<ms> : duration<ms>"),
    ("i64(ts)", "i64(ts) : i64"),
])
def test_time(written, typed):
    assert value(written, prelude=RECORD) == typed


@pytest.mark.parametrize(("written", "typed"), [
    ('s == "a"', "(s == 'a':symbol) : bool"),
    ("s < t", "(s < t) : bool"),
    ("b == true", "(b == True:bool) : bool"),
    ("i < f", "(f64(i) < f) : bool"),
    ("not b and b or b", "(((not b) and b) or b) : bool"),
    ("if b then 1 else 2.0", "(if b then 1.0:f64 else 2.0:f64) : f64"),
    ("if b then i else i", "(if b then i else i) : i32"),
    ("if b then i else 0", "(if b then i64(i) else 0:i64) : i64"),
    ('if b then t else "x"', "(if b then symbol(t) else 'x':symbol) : symbol"),
    ("if b then d else 1s", "(if b then d else 1000:duration<ms>) : duration<ms>"),
])
def test_comparison_and_choice(written, typed):
    assert value(written, prelude=RECORD) == typed


@pytest.mark.parametrize(("written", "typed"), [
    ("sqrt(i)", "sqrt(f64(i)) : f64"),
    ("abs(i)", "abs(i64(i)) : i64"),
    ("abs(g)", "abs(f64(g)) : f64"),
    ("least(i, f, 2)", "least(f64(i), f, 2.0:f64) : f64"),
    ("greatest(ts, ts + 1s)", "greatest(ts, (ts + 1000:duration<ms>)) : timestamp<ms>"),
    ("length(t)", "length(t) : i64"),
    ("is_nan(f)", "is_nan(f) : bool"),
    ("i8(f)", "i8(f) : i8"),
    ("symbol(t)", "symbol(t) : symbol"),
    ("v[1]", "v[1:i64] : f64"),
    ("v[i]", "v[i64(i)] : f64"),
    ("[i, f]", "[f64(i), f] : f64[2]"),
])
def test_functions(written, typed):
    assert value(written, prelude=RECORD) == typed


@pytest.mark.parametrize(("written", "typed"), [
    ("2 + 3 * 4", "14:i64 : i64"),
    ("-9223372036854775808", "-9223372036854775808:i64 : i64"),
    ("9223372036854775807 + 1", "-9223372036854775808:i64 : i64"),
    ("-7 / 2", "-3:i64 : i64"),
    ("-7 % 2", "-1:i64 : i64"),
    ("-9223372036854775808 / -1", "-9223372036854775808:i64 : i64"),
    ("7 / 0", "(7:i64 / 0:i64) : i64"),
    ("1.0 / 4", "0.25:f64 : f64"),
    ("if 2 > 1 then i else 0", "i64(i) : i64"),
    ("10s + 5ms", "10005:duration<ms> : duration<ms>"),
    ("i8(300)", "44:i8 : i8"),
    ("i64(2.9)", "2:i64 : i64"),
    ('"a" < "b"', "True:bool : bool"),
    ("not true", "False:bool : bool"),
    ("10k", "10000:i64 : i64"),
])
def test_folding(written, typed):
    assert value(written, prelude=RECORD) == typed


def test_parameters_are_literals_and_fields_come_first():
    before = "param width: int = 3\nparam f: float = 1.0\nparam wait: duration = 2s"
    assert value("width * 2", prelude=RECORD, before=before) == "6:i64 : i64"
    assert value("f", prelude=RECORD, before=before) == "f : f64"
    assert value("ts + wait", prelude=RECORD, before=before) == "(ts + 2000:duration<ms>) : timestamp<ms>"


def test_functions_of_the_program():
    before = "fn mid(a: f64, b: f64) -> f32 = (a + b) / 2.0"
    assert value("mid(i, 1)", prelude=RECORD, before=before) == "mid(f64(i), 1.0:f64) : f32"


@pytest.mark.parametrize("written", [
    "u + i", "u + (w + 1)", "-u", "u > -1", "ts + at", "ts - 1us", "ts + ts", "ts < d", "d < at", "s + s", "b + 1",
    "b < b", "s < 1", "not i", "if i then 1 else 2", "v[4]", "v[-1]", "v[f]", "f[0]", "sqrt(s)", "i64(s)", "bool(i)",
    "5GHz", "nope", "s.f", "split(t, s)", "sum(f)", "window_start", "99999999999999999999", "ts * ts", "1 - ts",
])
def test_mistakes(written):
    assert len(codes(f"stream s1 = quotes |> map {{ x: {written} }}", prelude=RECORD)) == 1


def test_each_part_of_an_expression_is_checked():
    assert codes("stream x = quotes |> filter a + b > c and d", prelude=RECORD.replace("d: dur", "z: dur").replace(
        "b: bool", "y: bool")) == ["E0100"] * 4
