"""The formatter: same tree, same comments, stable, readable; and the text form of the tree."""

from __future__ import annotations

import re

import pytest
from dfc.dsl import ast
from dfc.dsl.ast_text import dump
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.layout import WIDTH
from dfc.dsl.literals import parse_string, quote
from dfc.dsl.print_expressions import expression
from dfc.dsl.printer import format_text
from dfc.dsl.span import NOWHERE
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dsl.parsing import CASES, EVERYTHING, PROGRAMS, clean, expr


def formatted(text: str) -> str:
    """The canonical form, with all that must hold for every program."""
    diagnostics = Diagnostics()
    result = format_text(text, "test.dfl", diagnostics)
    assert result is not None and not diagnostics.items
    assert clean(result) == clean(text)
    assert format_text(result, "test.dfl", diagnostics) == result
    assert sorted(comments(result)) == sorted(comments(text))
    return result


def comments(text: str) -> list[str]:
    return [comment.rstrip() for comment in re.findall(r"//.*", re.sub(r'"[^"\n]*"', "", text))]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_conformance_programs_keep_their_trees(path):
    assert max(map(len, formatted(path.read_text(encoding="utf-8")).splitlines())) <= WIDTH


def test_every_construct_is_printed():
    formatted(EVERYTHING)


def test_text_with_mistakes_is_left_alone():
    diagnostics = Diagnostics()
    assert format_text("stream = a", "test.dfl", diagnostics) is None and diagnostics.failed


# --- layout ---


def test_short_record_stays_on_one_line_and_a_long_one_takes_a_line_a_field():
    assert formatted("record R {a:i32,\n b : f64 , }") == "record R { a: i32, b: f64 }\n"
    fields = [f"a_rather_long_name_of_a_field_{i}: i32" for i in range(4)]
    broken = "".join(f"  {field},\n" for field in fields)
    assert formatted(f"record R {{ {', '.join(fields)} }}") == f"record R {{\n{broken}}}\n"


def test_one_stage_stays_on_the_line_and_more_take_a_line_each():
    assert formatted("stream s = a\n |> filter x>1") == "stream s = a |> filter x > 1\n"
    assert formatted("stream s = a |> by k |> scan{k}") == "stream s = a\n  |> by k\n  |> scan { k }\n"


def test_long_condition_breaks_at_its_operators():
    terms = [f"field_with_a_long_name_{i} > {i}" for i in range(5)]
    assert formatted(f"stream s = a |> filter {' and '.join(terms)}").splitlines()[1:] == [
        f"  |> filter {terms[0]}", *(f"       and {term}" for term in terms[1:])]


def test_blank_lines_between_declarations_are_kept_one_at_most():
    assert formatted("\n\napp a\nuse b\n\n\n\nuse c\n\n") == "app a\nuse b\n\nuse c\n"
    assert formatted("app a use b") == "app a\nuse b\n"
    assert formatted("") == "" and formatted(" \n// only\n") == "// only\n"


def test_clauses_are_put_in_one_order():
    assert formatted('source a: R = csv("a") slack 1s retry event time ts') == (
        'source a: R = csv("a") event time ts slack 1s retry\n')


def test_long_header_of_an_operator():
    text = formatted("operator a_long_name on a_stream_with_a_long_name by one_key, another_key window count 100"
                     " slide 10 partial -> Result { alternate a = { b } }")
    assert text.splitlines() == [
        "operator a_long_name on a_stream_with_a_long_name", "  by one_key, another_key",
        "  window count 100 slide 10 partial", "  -> Result", "{", "  alternate a = { b }", "}"]


# --- comments ---


def test_comments_stay_with_what_they_are_about():
    text = """\
// the program
app a  // its name

// alone

record R {
  // about x
  x: i32,  // after x
  y: i32,
  // at the end
}  // after R
stream s = r
  // about the filter
  |> filter x > 1  // after the filter
  |> map {
       x,  // after the field
     }  // after the map
// the end
"""
    assert formatted(text) == text


@pytest.mark.parametrize("text", [
    'sink s = a order free // c\n to csv("a")', 'sink s = a order free // c\n to csv("a") // d',
    "// a\n\n// b\n// c", "record R { // open\n x: i32 }", "resources { // nothing\n}", "stream s = // early\n a",
    "stream s = a |> filter (x + // inside\n y) > 2 |> by k", 'sink s = a // head\n to csv("a") // end',
    "param p: i64 = 1 + // why\n 2", "operator o on s // head\n by k { // open\n alternate a = { x } // a\n // end\n}",
    'source a: R = csv("a", // path\n x: 1) // close\n event time ts // time',
    "split a into // first\n b when x, // b\n c otherwise // c\n// end", "cloud { // c\n region a { x: 1 } // a\n}",
    "stream s = a |> update { n: i64 = 0 // n\n } with { n: n + 1 } // with\n emit { n // e\n }",
    "stream s = a |> join b // b\n by k within 1s { k // k\n } -> // r\n R", "use // u\n std.text",
    "aggregate a(x: f64) -> f64 // r\n { state { n: i64 } // s\n lift { n: 1 } combine { n: 1 } // c\n lower n // l\n}",
])
def test_comments_at_odd_places_are_kept(text):
    formatted(text)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([*PROGRAMS, EVERYTHING]), st.data())
def test_comments_anywhere_are_kept(text, data):
    """A comment, with the line break that ends it, after any of the tokens."""
    places = [match.end() for match in re.finditer(r'"[^"\n]*"|[\w.]+(?:/s)?|\|>|->|[<>=]=|[{}(),:]', text)]
    chosen = data.draw(st.lists(st.sampled_from(places), max_size=4, unique=True))
    for number, place in enumerate(sorted(chosen, reverse=True)):
        text = text[:place] + data.draw(st.sampled_from([" // c", "\n// c"])) + f"{number}\n" + text[place:]
    formatted(text)


# --- expressions ---

NAMES = st.sampled_from(["a", "value", "text", "end", "step", "auto", "c"])
LEAVES = (
    NAMES.map(lambda name: ast.Name(name, NOWHERE))
    | st.integers(0, 2**64).map(lambda number: ast.IntLiteral(number, str(number), NOWHERE))
    | st.floats(0, 1e308).map(lambda number: ast.FloatLiteral(number, repr(number), NOWHERE))
    | st.booleans().map(lambda value: ast.BoolLiteral(value, NOWHERE))
    | st.text(max_size=5).map(lambda value: ast.StringLiteral(value, NOWHERE))
    | st.sampled_from(["5ms", "300k/s", "2GHz", "64MiB", "10k"]).map(expr)
)
OPS = st.sampled_from("+ - * / % == != < <= > >= and or".split())


def compound(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    ident = NAMES.map(lambda name: ast.Ident(name, NOWHERE))
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return (
        st.builds(lambda op, left, right: ast.Binary(op, left, right, NOWHERE), OPS, inner, inner)
        | st.builds(lambda op, operand: ast.Unary(op, operand, NOWHERE), st.sampled_from(["-", "not"]), inner)
        | st.builds(lambda c, t, e: ast.If(c, t, e, NOWHERE), inner, inner, inner)
        | st.builds(lambda function, args: ast.Call(function, args, NOWHERE), ident, several | st.just(()))
        | st.builds(lambda object_, field: ast.Member(object_, field, NOWHERE), inner, ident)
        | st.builds(lambda object_, index: ast.Index(object_, index, NOWHERE), inner, inner)
        | several.map(lambda elements: ast.ArrayLiteral(elements, NOWHERE)))


@settings(max_examples=400, deadline=None)
@given(st.recursive(LEAVES, compound, max_leaves=25))
def test_any_expression_prints_and_reads_back(tree):
    assert expr(expression(tree)) == tree


@pytest.mark.parametrize("text", [
    "(a + b) * c", "a - (b - c)", "a - b - c", "-(a + b)", "--a", "not (a and b)", "not a == b", "(a < b) == c",
    "(if a then b else c) + d", "if a then b else if c then d else e", "(-a).b", "f(a)[1].b", "a and (b or c)",
])
def test_parentheses_are_minimal(text):
    assert expression(expr(text)) == text


@pytest.mark.parametrize("text", ["(a)", "((a * b)) + c", "not (a == b)", "(a.b)[c]", "(a and b) and c", "f((a))"])
def test_needless_parentheses_go(text):
    assert len(expression(expr(text))) == len(text) - 2 * text.count("(") + 2 * text.count("f(")


@given(st.text())
def test_strings_read_back(value):
    assert parse_string(quote(value)) == value


# --- the text form of the tree ---


def test_dump():
    assert dump(clean("app a\nstream s = a |> filter x > 1.5 |> by k, l\n")) == """\
Program @1:1
  declarations:
    AppDecl name=a @1:1
    StreamDecl name=s @2:1
      pipeline: Pipeline @2:12
        head: StreamRef name=a port=- @2:12
        stages:
          FilterStage @2:17
            predicate: Binary op='>' @2:24
              left: Name name='x' @2:24
              right: FloatLiteral value=1.5 text='1.5' @2:28
          ByStage keys=(k, l) @2:35
"""


def test_everything_can_be_dumped():
    assert dump(clean(EVERYTHING)).count("Decl ") == len(clean(EVERYTHING).declarations)
