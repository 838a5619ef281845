"""Diagnostics as text and as JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from dfc.dsl.diagnostics import Diagnostic, Diagnostics, Note
from dfc.dsl.render import render, render_one, summary, to_json
from dfc.dsl.span import NOWHERE, Span
from hypothesis import given
from hypothesis import strategies as st

TEXT = "stream dear = quotes\n  |> filter prise > 3.0\n"
PLACE = Span("app.dfl", 2, 13, 2, 18)


def marked(line: str, column: int, end: int) -> tuple[str, str]:
    """The line and the marker below it, as they are shown."""
    item = Diagnostic("E0100", Span("a", 1, column, 1, end), "wrong")
    shown, marker = render_one(item, {"a": line}).split("\n")[3:5]
    return shown[len(" 1 | "):], marker[len("   | "):]


def test_text():
    item = Diagnostic("E0100", PLACE, "no field `prise` in Quote", "ts or price", "price",
                      (Note("the stream", Span("app.dfl", 1, 8, 1, 12)), Note("no place")))
    assert render([item], {"app.dfl": TEXT}) == """\
error[E0100]: no field `prise` in Quote
  --> app.dfl:2:13
   |
 2 |   |> filter prise > 3.0
   |             ^^^^^
   = expected: ts or price
   = help: did you mean `price`?
   = note: the stream
  --> app.dfl:1:8
   |
 1 | stream dear = quotes
   |        ----
   = note: no place

1 error
"""


def test_without_the_text_only_the_place_is_shown():
    assert render([Diagnostic("E0100", PLACE, "wrong")], {}) == "error[E0100]: wrong\n  --> app.dfl:2:13\n\n1 error\n"


def test_nothing_to_say():
    assert render(Diagnostics(), {}) == ""


def test_several_lines_are_marked_to_the_end_of_the_first():
    item = Diagnostic("E0100", Span("a", 1, 3, 2, 2), "wrong")
    assert "   |   ^^^\n" in render_one(item, {"a": "abcde\nfg"})


def test_a_place_behind_the_end_of_the_line():
    assert marked("ab", 3, 4) == ("ab", "  ^")


@pytest.mark.parametrize(("line", "column", "end", "shown", "marker"), [
    ("\tx = y", 2, 3, "    x = y", "    ^"),
    ("日本 x", 4, 5, "日本 x", "     ^"),
    ("a日b", 2, 3, "a日b", " ^^"),
    ("e\u0301 x", 4, 5, "e\u0301 x", "  ^"),
    ("a\x1bb", 3, 4, "a\ufffdb", "  ^"),
    ("x\r", 1, 2, "x", "^"),
])
def test_markers_stay_aligned(line, column, end, shown, marker):
    assert marked(line, column, end) == (shown, marker)


def test_colour_changes_nothing_else():
    item = Diagnostic("E0100", PLACE, "wrong", "right", "fix", (Note("note", PLACE),))
    coloured = render([item], {"app.dfl": TEXT}, colour=True)
    assert "\x1b[1;31m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == render([item], {"app.dfl": TEXT})


def test_order_and_summary():
    diagnostics = Diagnostics()
    diagnostics.add("W0100", Span("a", 1, 1, 1, 2), "first", severity="warning")
    diagnostics.add("E0100", Span("a", 3, 1, 3, 2), "third")
    diagnostics.add("E0100", Span("a", 2, 1, 2, 2), "second")
    text = render(diagnostics, {})
    assert text.index("first") < text.index("second") < text.index("third")
    assert text.endswith("\n2 errors, 1 warning\n")
    assert summary(diagnostics.items[:1]) == "1 warning"


def test_json():
    item = Diagnostic("E0100", PLACE, "no field", "ts", "price", (Note("here", PLACE), Note("no place")))
    assert json.loads(to_json(item)) == {
        "code": "E0100", "severity": "error", "file": "app.dfl", "line": 2, "column": 13, "end_line": 2,
        "end_column": 18, "message": "no field", "expected": "ts", "fix": "price",
        "notes": [{"message": "here", "file": "app.dfl", "line": 2, "column": 13, "end_line": 2, "end_column": 18},
                  {"message": "no place"}]}


@given(st.text(), st.integers(1, 9), st.integers(1, 90), st.integers(1, 9), st.integers(1, 90))
def test_any_text_and_place_can_be_shown(text, line, column, end_line, end_column):
    item = Diagnostic("E0100", Span("a", line, column, end_line, end_column), text, text, text, (Note(text, NOWHERE),))
    render([item], {"a": text}, colour=True)
    assert "\n" not in to_json(item)


def test_light_imports():
    """Showing a diagnostic, or knowing the codes' class, takes no parser and no numbers library."""
    code = ("import sys, dfc.dsl.typecheck, dfc.dsl.render, dfc.dsl.resolve, dfc.dsl.codes\n"
            "print([m for m in ('lark', 'numpy', 'networkx', 'jinja2') if m in sys.modules])")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
