"""Expressions: wrapping integers, IEEE floats, conversions, text, and the division that counts as a fault."""

from __future__ import annotations

import math

import pytest
from dfc.compiler.interpret import run
from dfc.compiler.interpret.expressions import Scope, evaluate
from dfc.compiler.interpret.numbers import convert, integer_to_f32, wrap
from dfc.dsl import typed
from dfc.dsl.types import BOOL, F64, I64, SYMBOL, U64, Duration, Float, Int, Sequence, Text, Timestamp
from hypothesis import given
from hypothesis import strategies as st

from tests.compiler.hand_built import (
    HERE,
    aggregate,
    binary,
    call,
    cast,
    filtered,
    lit,
    mapped,
    program,
    readings,
    ref,
    scanned,
    source,
    step,
    time_window,
    windowed,
)

LOW, HIGH = -2**63, 2**63 - 1
NAN, INF = math.nan, math.inf
F32 = Float(32)


def value(expr):
    return evaluate(expr, Scope({}))


def same(a, b):
    return type(a) is type(b) and (a == b and math.copysign(1, a) == math.copysign(1, b) or a != a and b != b)


@pytest.mark.parametrize("op, left, right, expected", [
    ("+", HIGH, 1, LOW), ("-", LOW, 1, HIGH), ("*", HIGH, 2, -2), ("/", LOW, -1, LOW), ("%", LOW, -1, 0),
    ("/", 7, 2, 3), ("/", -7, 2, -3), ("/", 7, -2, -3), ("%", -7, 2, -1), ("%", 7, -2, 1), ("%", -6, 3, 0),
    ("/", 5, 0, 0), ("%", 5, 0, 0), ("/", HIGH, 3, HIGH // 3),
])
def test_integers_wrap_and_truncate(op, left, right, expected):
    assert value(binary(op, lit(left), lit(right))) == expected


def test_unsigned_integers_wrap_at_zero():
    assert value(binary("-", lit(0, U64), lit(1, U64))) == 2**64 - 1
    assert value(binary("*", lit(2**63, U64), lit(2, U64))) == 0


@given(st.integers(LOW, HIGH), st.integers(LOW, HIGH).filter(bool))
def test_division_and_remainder_belong_together(a, b):
    quotient = value(binary("/", lit(a), lit(b)))
    assert wrap(quotient * b + value(binary("%", lit(a), lit(b)))) == a


@pytest.mark.parametrize("op, left, right, expected", [
    ("/", 1.0, 0.0, INF), ("/", -1.0, 0.0, -INF), ("/", 1.0, -0.0, -INF), ("/", 0.0, 0.0, NAN), ("/", NAN, 0.0, NAN),
    ("%", 7.5, 2.0, 1.5), ("%", -7.5, 2.0, -1.5), ("%", 1.0, 0.0, NAN), ("%", INF, 2.0, NAN), ("%", 2.0, INF, 2.0),
    ("*", 1e308, 10.0, INF), ("-", INF, INF, NAN), ("+", 0.1, 0.2, 0.1 + 0.2),
])
def test_floats_follow_ieee(op, left, right, expected):
    assert same(value(binary(op, lit(left), lit(right))), expected)


@pytest.mark.parametrize("op, expected", [("==", False), ("!=", True), ("<", False), ("<=", False), (">", False)])
def test_nan_compares_like_nan(op, expected):
    assert value(binary(op, lit(NAN), lit(NAN))) is expected


@pytest.mark.parametrize("function, args, expected", [
    ("log", (0.0,), -INF), ("log", (-0.0,), -INF), ("log", (-1.0,), NAN), ("log2", (8.0,), 3.0),
    ("log10", (0.0,), -INF), ("exp", (1000.0,), INF), ("exp", (-1000.0,), 0.0), ("sqrt", (-1.0,), NAN),
    ("sqrt", (INF,), INF), ("sin", (INF,), NAN),
    ("pow", (2.0, 10.0), 1024.0), ("pow", (0.0, -1.0), INF), ("pow", (-0.0, -1.0), -INF), ("pow", (-0.0, -2.0), INF),
    ("pow", (-8.0, 0.5), NAN), ("pow", (10.0, 400.0), INF), ("pow", (-10.0, 401.0), -INF), ("pow", (NAN, 0.0), 1.0),
    ("floor", (-0.5,), -1.0), ("ceil", (-0.5,), -0.0), ("round", (0.5,), 1.0), ("round", (-0.5,), -1.0),
    ("round", (2.5,), 3.0), ("round", (0.49999999999999994,), 0.0), ("trunc", (-1.7,), -1.0), ("floor", (INF,), INF),
    ("floor", (-0.0,), -0.0), ("abs", (-2.5,), 2.5), ("abs", (-3,), 3), ("abs", (LOW,), LOW),
    ("abs", (2**64 - 1,), 2**64 - 1),
    ("least", (3.0, NAN, 1.0), 1.0), ("greatest", (1, 5, 3), 5), ("least", (NAN, NAN), NAN),
])
def test_functions_follow_libm(function, args, expected):
    assert same(value(call(function, *map(lit, args))), expected)


@pytest.mark.parametrize("function, args, expected", [
    ("length", ("häß€😀",), 5), ("length", ("",), 0), ("lower", ("AÄz",), "aÄz"), ("upper", ("aä",), "Aä"),
    ("trim", (" \ta b\r\n",), "a b"), ("contains", ("abc", "bc"), True), ("contains", ("abc", ""), True),
    ("starts_with", ("abc", "ab"), True), ("ends_with", ("abc", "b"), False), ("is_nan", (NAN,), True),
    ("split", ("a b  c", " "), ["a", "b", "", "c"]), ("split", ("", " "), [""]), ("split", ("ab", ""), ["ab"]),
    ("split", ("a--b-", "--"), ["a", "b-"]),
])
def test_text_functions(function, args, expected):
    assert value(call(function, *map(lit, args))) == expected


def test_strings_compare_by_their_bytes():
    assert value(binary("<", lit("Z"), lit("a"))) and value(binary("<", lit("\uffff"), lit("\U00010000")))
    assert value(binary("<", lit("ab"), lit("abc"))) and value(binary("==", lit("é"), lit("é", Text(2))))


@pytest.mark.parametrize("given_, source_, target, expected", [
    (300, I64, Int(8, False), 44), (200, I64, Int(8, True), -56), (-1, I64, U64, 2**64 - 1), (2**63, U64, I64, LOW),
    (1e30, F64, I64, HIGH), (-1e30, F64, I64, LOW), (NAN, F64, I64, 0), (-1.9, F64, I64, -1),
    (300.0, F64, Int(8, False), 255), (-5.0, F64, U64, 0), (INF, F64, Timestamp("ms"), HIGH),
    (0.1, F64, F32, 0.10000000149011612), (1e300, F64, F32, INF),
    (5, I64, F64, 5.0), (1999, Duration("ms"), Duration("s"), 1), (-1, Timestamp("ms"), Timestamp("s"), -1),
    (3, Timestamp("s"), Timestamp("ms"), 3000), (7, I64, Timestamp("s"), 7),
    ("häh", SYMBOL, Text(2), "h"), ("häh", SYMBOL, Text(3), "hä"),
    ("😀", SYMBOL, Text(3), ""), ("ab", Text(9), SYMBOL, "ab"),
])
def test_conversions(given_, source_, target, expected):
    assert convert(given_, source_, target) == expected


def test_a_large_integer_becomes_an_f32_in_one_rounding():
    assert integer_to_f32(2**60 + 2**36 + 1) == 2.0**60 + 2.0**37
    assert integer_to_f32(2**60 + 2**36) == 2.0**60 and integer_to_f32(-(2**60 + 2**36 + 1)) == -(2.0**60 + 2.0**37)


def test_logic_does_not_look_at_what_does_not_matter():
    fault = binary("==", binary("/", lit(1), lit(0)), lit(1))
    scope = Scope({})
    assert evaluate(binary("and", lit(False), fault), scope) is False
    assert evaluate(binary("or", lit(True), fault), scope) is True
    assert evaluate(typed.If(lit(True), lit(1), binary("/", lit(1), lit(0)), I64, HERE), scope) == 1
    assert scope.faults.count == 0


def test_a_function_of_the_program_is_called_with_values():
    local = typed.LocalRef("x", I64, HERE)
    twice = typed.Function("twice", (("x", I64),), I64, binary("+", local, local), HERE)
    one = mapped("m", "s", v=call("twice", binary("/", lit(8), ref("k", I64)), type_=I64, user=True))
    result = run(program(source(), one, functions=(twice,)), {"s": readings((1, 2, 0), (2, 0, 0))})
    assert result.rows["out"] == [(8,), (0,)] and result.counters["m"].faults == 1


def test_faults_count_by_step_and_once_a_tuple_in_windows():
    half = binary("/", lit(1), ref("k", I64))
    total = aggregate("sum", half, type_=I64)
    one = windowed("w", "s", time_window(10, 2), total=total, again=binary("+", total, lit(1)))
    result = run(program(source(), one), {"s": readings((1, 0, 0), (2, 0, 0), (3, 1, 0))})
    assert result.counters["w"].faults == 2 and result.counters["s"].faults == 0
    assert run(program(source(), scanned("c", "s", total=total)), {"s": readings((1, 0, 0))}).counters["c"].faults == 1


def test_filter_branch_map_and_flatmap():
    hot = step("hot", "s", typed.Branch((), binary(">", ref("x"), lit(30.0))), source().record)
    cold = step("cold", "s", typed.Branch((hot.body.predicate,), binary(">", ref("x"), lit(10.0))), source().record)
    rest = step("rest", "s", typed.Branch((hot.body.predicate, cold.body.predicate), None), source().record)
    rows = {"s": readings((1, 40), (2, 20), (3, 5))}
    assert [run(program(source(), one), rows).rows["out"][0][0] for one in (hot, cold, rest)] == [1, 2, 3]
    kept = filtered("f", "s", binary("<", ref("x"), lit(30.0)))
    result = run(program(source(), kept), rows)
    assert (result.counters["f"].taken, result.counters["f"].given) == (3, 2)
    words = mapped("m", "s", t=lit("a bc  d"))
    split = call("split", ref("t", SYMBOL), lit(" "), type_=Sequence(SYMBOL))
    record = mapped("r", "s", word=cast(lit(""), Text(1))).record
    flat = step("flat", "m", typed.FlatMap(split, Text(1)), record)
    assert run(program(source(), words, flat), {"s": readings((1, 1))}).rows["out"] == [("a",), ("b",), ("",), ("d",)]


def test_bool_fields():
    assert run(program(source(), mapped("m", "s", b=typed.Unary("not", lit(False), BOOL, HERE))),
               {"s": readings((1, 1))}).rows["out"] == [(True,)]
