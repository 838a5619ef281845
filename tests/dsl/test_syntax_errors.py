"""Mistakes: many are reported in one run, the rest of the program survives, nothing ever raises."""

from __future__ import annotations

import random

import pytest
from dfc.dsl.cursor import Cursor
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.parser import parse
from dfc.dsl.syntax_errors import MAX_MISTAKES
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dsl.parsing import EVERYTHING, PROGRAMS, read


def first(text: str):
    diagnostics = Diagnostics()
    parse(text, "test.dfl", diagnostics)
    return diagnostics.sorted()[0]


def names(text: str) -> list[str]:
    return [declaration.name.text for declaration in read(text)[0].declarations if hasattr(declaration, "name")]


# --- messages ---


@pytest.mark.parametrize(("text", "code", "fix"), [
    ("stream s = a |> fliter x", "E0003", "filter"),
    ("stream s = a |> where x", "E0003", "filter"),
    ('source s: R = csv("a") evnt time ts', "E0003", "event"),
    ("steam s = a", "E0002", "stream"),
    ("struct R { a: i32 }", "E0002", "record"),
    ("stream s = a |> filter x = 3", "E0012", "=="),
    ("stream s == a", "E0012", "="),
    ("stream s = a |> map { x = 3 }", "E0017", ":"),
    ("stream s = a | filter x", "E0017", "|>"),
    ("stream s = a |> filter x && y", "E0013", "and"),
    ("stream s = a |> filter x || y", "E0013", "or"),
    ("stream s = a |> filter !x", "E0013", "not"),
    ("goal latency mean <= 200 ms", "E0008", "200ms"),
    ("goal latency mean <= 5 sec", "E0008", "5s"),
    ("goal latency mean <= 5sec", "E0009", "5s"),
    ("goal latency mean <= 5m", "E0009", "5min"),
    ("stream s = a |> window count 5slide 3", "E0010", "5 slide"),
    ("import 'a.dfl'", "E0006", '"a.dfl"'),
    ("record R { a: i32; b: i32 }", "E0014", ","),
    ("stream if = a", "E0026", "if_"),
])
def test_fix_is_offered(text, code, fix):
    item = first(text)
    assert (item.code, item.fix) == (code, fix)
    assert len(read(text)[0].declarations) == 1, "what was meant is clear, so the declaration is kept"


@pytest.mark.parametrize(("text", "code", "missing"), [
    ("record R { a: i32 b: i32 }", "E0015", "`,`"),
    ("stream s = a |> map { x y }", "E0015", "`,`"),
    ("stream s = a filter x", "E0018", "`|>`"),
    ("fn f(x: f64) f64 = x", "E0018", "`->`"),
    ("param p int = 3", "E0018", "`:`"),
    ("stream s a", "E0018", "`=`"),
    ("stream s = a |> filter f(x |> by k", "E0016", "`)`"),
    ("record R { a: i32\nstream s = a", "E0016", "`}`"),
    ("record R { a: i32,\nrecord S { a: i32 }", "E0016", "`}`"),
    ("stream s = a |> filter (x", "E0016", "`)`"),
])
def test_missing_mark_is_named(text, code, missing):
    item = first(text)
    assert (item.code, item.expected) == (code, missing)


def test_expectation_is_in_the_words_of_the_language():
    assert first("stream s = a |> filter |> by k").expected == "an expression"
    assert first("stream = a").expected == "a name"
    assert first("import other").expected == "a string in double quotes"
    assert first("operator o on s { }").expected == "`alternate`"
    assert "`filter`" in first("stream s = a |> |> by k").expected
    assert first('sink s = a to csv("a") order 3').expected == "`free`, `key` or `total`"


def test_marker_stands_at_the_mistake():
    item = first("app a\nstream s = a\n  |> fliter x > 3\n")
    assert (item.span.line, item.span.column, item.span.end_column) == (3, 6, 12)
    item = first("record R {\n  a: i32\n  b: i32\n}\n")
    assert (item.span.line, item.span.column) == (2, 9)


def test_open_bracket_is_shown():
    item = first("stream s = a |> map {\n  x: (1 + 2,\n}\nstream t = a\n")
    assert item.code in ("E0016", "E0015", "E0001")
    item = first("record R {\n  a: i32\nstream t = a\n")
    assert item.notes[0].span.line == 1 and item.notes[0].span.column == 10


def test_what_was_put_in_stands_where_it_was_missing():
    program, _ = read("record R { a: i32\n\n\nstream t = a\n")
    assert program.declarations[0].span.end_line == 1


# --- recovery ---


def test_many_mistakes_in_one_run():
    text = """\
app a;
record R { x: i32 y: i32 }
steam s = a |> fliter x = 3 && y
sink = s to csv("a")
stream t = a |> map { x: ) }
goal latency mean <= 5 ms
stream u = t
"""
    program, codes = read(text)
    assert codes == ["E0014", "E0015", "E0002", "E0003", "E0012", "E0013", "E0001", "E0001", "E0008"]
    assert [type(d).__name__ for d in program.declarations] == [
        "AppDecl", "RecordDecl", "StreamDecl", "GoalDecl", "StreamDecl"]


@pytest.mark.parametrize("broken", [
    "stream b = ", "stream b = a |> filter (", "record b {", "record b { x:", 'source b: R = csv("a', "stream b = @",
    "operator b on a {", "fn b(", "stream b", "b", "}", ")", "resources { a: 1..", "'",
])
def test_declarations_around_a_mistake_survive(broken):
    assert names(f"stream a = x |> filter y\n{broken}\nstream c = x\n") in (["a", "c"], ["a", "b", "c"])


def test_field_called_like_a_declaration_is_not_taken_for_one_after_a_mistake():
    assert names("stream a = x |> map {\n  y: ,\n  record: 1,\n  stream,\n}\nstream c = x\n") == ["c"]


def test_repeated_mistakes_are_cut_off():
    codes = read("stream = x\n" * 1000)[1]
    assert len(codes) == MAX_MISTAKES + 1 and "E0030" in codes


# --- hostile input ---


@pytest.mark.parametrize("text", [
    "param p: i64 = " + "(" * 20_000 + "1" + ")" * 20_000,
    "param p: i64 = " + "(" * 20_000,
    "param p: i64 = " + "-" * 20_000 + "1",
    "param p: bool = " + "not " * 20_000 + "true",
    "param p: i64 = " + "1 + " * 20_000 + "1",
    "param p: i64 = " + "if a then b else " * 20_000 + "c",
    "param p: i64 = " + "a[" * 20_000,
    "param p: i64 = a" + ".b" * 20_000,
])
def test_deep_nesting_is_a_diagnostic(text):
    program, codes = read(text)
    assert codes and not program.declarations


def test_nesting_up_to_the_limit_is_accepted():
    assert read("param p: i64 = " + "(" * 190 + "1" + ")" * 190)[1] == []


@pytest.mark.parametrize("line", [
    "stream = x |> filter (\n", "record R { a: i32,\n", "x ", "stream s = a\n", '"', "{\n", "; "])
def test_hostile_files_take_linear_work(line, monkeypatch):
    steps = []
    advance = Cursor.advance
    monkeypatch.setattr(Cursor, "advance", lambda cursor, lexeme: steps.append(1) or advance(cursor, lexeme))
    text = line * (100_000 // len(line))
    read(text)
    assert len(steps) < 3 * len(text)


MUTATIONS = ("", "{", "}", "(", ")", chr(34), chr(39), "|>", "->", ",", ":", "=", "@", "\n", "stream", " 5 ms ", "\x00",
             "é", "\ud800", "//")


@pytest.mark.parametrize("seed", range(60))
def test_mutated_programs_never_raise(seed):
    rng = random.Random(seed)
    text = rng.choice([*PROGRAMS, EVERYTHING])
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(text))
        text = text[:start] + rng.choice(MUTATIONS) + text[start + rng.randint(0, 6):]
    read(text)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_any_text_is_read_without_raising(text):
    read(text)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from([*EVERYTHING.split(), *"\n(){},'", "|>", "5sec", "&&"]), max_size=60))
def test_any_sequence_of_words_is_read_without_raising(words):
    read(" ".join(words))
