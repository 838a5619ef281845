"""The parser: trees, places, precedence, words that are keywords only where they are asked for."""

from __future__ import annotations

import logging
from fractions import Fraction

import pytest
from dfc.dsl import ast
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.grammar import load_grammar
from dfc.dsl.lexer import RESERVED
from dfc.dsl.parser import parse

from tests.dsl.parsing import CASES, EVERYTHING, clean, expr, read


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_conformance_programs_are_accepted(path):
    assert clean(path.read_text(encoding="utf-8")).declarations


def test_every_construct_is_accepted():
    kinds = {type(declaration) for declaration in clean(EVERYTHING).declarations}
    assert len(kinds) == 17


def test_grammar_has_no_conflicts(caplog):
    """Lark resolves shift/reduce conflicts in silence; in debug mode it tells."""
    from lark import Lark, logger

    with caplog.at_level(logging.DEBUG, logger=logger.name):
        logger.propagate = True
        Lark(load_grammar().lark.source_grammar, parser="lalr", lexer="basic", debug=True)
    assert "Reduce" not in caplog.text


# --- words ---

WORDS = sorted(set(load_grammar().vocabulary.keywords) - RESERVED)


@pytest.mark.parametrize("word", WORDS)
def test_every_word_but_the_reserved_can_be_a_name(word):
    program = clean(f"""\
record {word} {{ {word}: {word}, b: i32 }}
fn {word}({word}: i64) -> i64 = {word}({word}) + {word}
source {word}: {word} = {word}({word}: 1) event time {word} late to {word}
stream {word} = {word} |> filter {word} > 3 and {word} < 5 |> by {word}, {word} |> window count {word} slide {word}
  |> aggregate {{ {word}, b: sum({word}) }} -> {word}
stream s = {word}.{word} |> union {word}, {word} |> join {word} by {word} within {word} {{ a: {word}.{word} }}
split {word} into {word} when {word}, b otherwise
operator {word} on {word} by {word} -> {word} {{ alternate {word} value {word} = {{ {word}: {word} }} }}
sink {word} = {word} |> filter {word} to {word}({word})
goal {word} {word} <= 5 minimize {word}
resources {{ {word}: {word}..{word} step {word} }}
""")
    assert len(program.declarations) == 11


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_no_names(word):
    assert read(f"record R {{ {word}: i32 }}")[1] == ["E0026"]


def test_next_declaration_needs_no_new_line():
    first, second = clean("stream a = b |> filter stream stream c = d").declarations
    assert first.pipeline.stages[0].predicate.name == "stream" and second.name.text == "c"


def test_slack_auto_is_the_word_and_in_parentheses_the_parameter():
    word, name = clean('source a: R = csv("a") slack auto source b: R = csv("b") slack (auto)').declarations
    assert isinstance(word.slack, ast.Auto) and isinstance(name.slack, ast.Name)


def test_text_type_before_equals_sign():
    (param,) = clean('param t: text<32>= "x"').declarations
    assert param.type.argument == 32


# --- precedence ---


@pytest.mark.parametrize(("text", "same"), [
    ("a or b and c", "a or (b and c)"),
    ("not a and b", "(not a) and b"),
    ("not a == b", "not (a == b)"),
    ("a + b * c", "a + (b * c)"),
    ("a - b - c", "(a - b) - c"),
    ("a / b % c", "(a / b) % c"),
    ("-a * b", "(-a) * b"),
    ("-a.b", "-(a.b)"),
    ("-a[0]", "-(a[0])"),
    ("a < b + c", "a < (b + c)"),
    ("a < b and c < d", "(a < b) and (c < d)"),
    ("if a then b else c + d", "if a then b else (c + d)"),
    ("if a then b else if c then d else e", "if a then b else (if c then d else e)"),
])
def test_precedence(text, same):
    assert expr(text) == expr(same)


def test_left_and_right_operands_are_not_exchanged():
    assert expr("a - (b - c)") != expr("a - b - c")


# --- literals ---


@pytest.mark.parametrize(("text", "value"), [
    ("12", 12), ("1_000", 1000), ("10k", 10_000), ("1.5k", 1500), ("2M", 2_000_000), ("1G", 10**9),
    ("18446744073709551616", 2**64), ("1.5", 1.5), ("1e6", 1e6), ("1.5e-3", 1.5e-3),
])
def test_numbers(text, value):
    node = expr(text)
    assert node.value == value and type(node.value) is type(value)


@pytest.mark.parametrize(("text", "kind", "base"), [
    ("200ms", "time", 200_000_000), ("1.5us", "time", 1500), ("1d", "time", 86_400_000_000_000),
    ("300k/s", "rate", 300_000), ("5/s", "rate", 5), ("5/min", "rate", Fraction(1, 12)),
    ("0.1GHz", "frequency", 100_000_000), ("64KiB", "size", 65536), ("2MB", "size", 2_000_000),
    ("100MB/s", "bandwidth", 100_000_000), ("7B", "size", 7),
])
def test_measures_are_exact(text, kind, base):
    node = expr(text)
    assert (node.kind, node.base) == (kind, base)


def test_unit_is_the_longest_match_and_a_space_divides():
    assert isinstance(expr("300k/s"), ast.Measure)
    assert expr("300k / s").op == "/"
    assert expr("10/size").op == "/" and expr("100MB/size").op == "/"


def test_strings():
    assert expr(r'"a\"\\\n\t\r\u{1F600}é"').value == 'a"\\\n\t\r\U0001F600é'


@pytest.mark.parametrize(("text", "code"), [
    ("1.5003k", "E0010"), ("1e999", "E0011"), ("1e-999999999s", "E0011"), ("9" * 1000, "E0011"),
    ("9" * 100_000, "E0011"), ("1e" + "9" * 5000, "E0011"), (r'"\q"', "E0007"), (r'"\u{D800}"', "E0007"),
    (r'"\u{110000}"', "E0007"), ('"\ud800"', "E0007"), ("0x1F", "E0010"), ("1_", "E0010"), ("12parsecs", "E0009"),
])
def test_bad_literals(text, code):
    assert read(f"param p: f64 = {text}")[1] == [code]


# --- places ---


def test_spans():
    text = "app a\n\nstream big = trades\n  |> filter (price > 1.5)  // why\n"
    _, stream = clean(text).declarations
    (stage,) = stream.pipeline.stages
    assert (stream.span.line, stream.span.column, stream.span.end_line, stream.span.end_column) == (3, 1, 4, 26)
    assert (stream.name.span.column, stream.name.span.end_column) == (8, 11)
    assert (stage.span.line, stage.span.column) == (4, 6)
    assert (stage.predicate.right.span.column, stage.predicate.right.span.end_column) == (22, 25)
    assert str(stage.span) == "test.dfl:4:6"


def test_spans_count_characters_and_a_byte_order_mark_is_none():
    (param,) = clean('\ufeffparam p: symbol = "ääh" // é\n').declarations
    assert param.value.span.end_column - param.value.span.column == 5


# --- clauses ---


def test_clauses_stand_in_any_order():
    one = clean('source a: R = csv("a") event time ts slack 1s late to b')
    assert one == clean('source a: R = csv("a") late to b slack 1s event time ts')


def test_clause_given_twice_shows_the_first():
    diagnostics = Diagnostics()
    program = parse('source a: R = csv("a")\n  slack 1s\n  slack 2s\n', "a.dfl", diagnostics)
    (item,) = diagnostics.items
    assert item.code == "E0020" and item.span.line == 3 and item.notes[0].span.line == 2
    assert program.declarations[0].slack.text == "1s"


@pytest.mark.parametrize("text", [
    'sink a = b to csv("a") to csv("b")', "operator o on s by a by b { alternate x = { a } }",
    "stream s = a |> window count 5 slide 1 slide 2", 'source a: R = csv("a") retry retry',
    "stream s = a |> join b by k by l within 1s { k }", "operator o on s { alternate x cost 1s cost 2s = { a } }",
    "aggregate a(x: f64) -> f64 { state { n: i64 } state { n: i64 } lift { n: 1 } combine { n: 1 } lower n }",
    "aggregate a(x: f64) -> f64 associative associative = c(\"a\", \"a\")",
])
def test_every_kind_of_clause_is_given_at_most_once(text):
    assert read(text)[1] == ["E0020"]


@pytest.mark.parametrize(("text", "codes"), [
    ("sink a = b order free", ["E0021"]), ("stream s = a |> join b by k { k }", ["E0021"]),
    ("stream s = a |> update { n: i64 = 0 } emit { n }", ["E0021"]),
    ("aggregate a(x: f64) -> f64 { state { n: i64 } }", ["E0021"] * 3),
    ("stream s = a |> window time 5s partial", ["E0022"]), ("stream s = a |> window delta 5 of x slide 3", ["E0022"]),
    ("stream s = a |> window count 5 slide 2 every tuple", ["E0022"]),
])
def test_clauses_that_are_missing_or_out_of_place(text, codes):
    program, found = read(text)
    assert found == codes and not program.declarations


def test_c_is_a_name_unless_it_is_called_with_a_file_and_a_function():
    c, name = clean('fn f(x: f64) -> f64 = c("a.c", "f") fn g(c: f64) -> f64 = c * 2').declarations
    assert isinstance(c.body, ast.CFunction) and isinstance(name.body, ast.Binary)
