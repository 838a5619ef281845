"""Whatever the program, the checker ends with a program or with diagnostics, and a program it gives is well formed."""

from __future__ import annotations

import re
from pathlib import Path

from dfc.dsl.codes import CODES
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.mistake import WRONG
from dfc.dsl.render import render
from dfc.dsl.typecheck import check
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dsl.parsing import EVERYTHING

TESTS = Path(__file__).parents[1]
PROGRAMS = [path.read_text() for path in sorted((TESTS / "conformance" / "cases").glob("*/program.dfl"))]
PROGRAMS += [EVERYTHING, *(code.right for code in CODES.values())]
TOKEN = re.compile(r'\s+|[A-Za-z_]\w*|[0-9][\w./]*|"[^"\n]*"|\|>|->|[<>=!]=|.', re.S)
WORDS = sorted({word for text in PROGRAMS for word in TOKEN.findall(text) if not word.isspace()})


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A program in which a few words were replaced, removed or put in."""
    words = TOKEN.findall(draw(st.sampled_from(PROGRAMS)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(len(words) - 1, 0)))
        words[at: at + draw(st.integers(0, 1))] = draw(st.sampled_from([[], [f" {draw(st.sampled_from(WORDS))} "]]))
    return "".join(words)


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_damaged_programs(text):
    diagnostics, texts = Diagnostics(), {}
    program = check(text, "p.dfl", diagnostics, read=lambda path: None, texts=texts)
    assert (program is None) == diagnostics.failed
    assert {item.code for item in diagnostics.items} <= set(CODES)
    render(diagnostics, texts)
    if program:
        seen = set()
        for step in program.steps:
            assert set(step.inputs) <= seen and step.name not in seen
            assert repr(WRONG) not in repr(step)
            seen.add(step.name)
        assert len({record.name for record in program.records}) == len(program.records)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text):
    diagnostics = Diagnostics()
    program = check(text, "p.dfl", diagnostics, read=lambda path: None)
    assert (program is None) == diagnostics.failed
