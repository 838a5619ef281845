"""Every code has an example that shows it, and a cure that is clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from dfc.dsl.codes import CODES, PRELUDE
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.parser import parse
from dfc.dsl.typecheck import check

FILES = {"other.dfl": "record Other { n: i64 }\n"}
SYNTAX = sorted(code for code in CODES if code.startswith("E00"))
MEANING = sorted(set(CODES) - set(SYNTAX))


def found(example: str) -> set[str]:
    """The codes that an example gives after the prelude."""
    params = dict(re.findall(r"-D (\w+)=(\S+)", example.split("\n")[0]))
    diagnostics = Diagnostics()
    text = PRELUDE + example + "\n"
    program = check(text, "program.dfl", diagnostics, params=params,
                    read={**FILES, "program.dfl": text}.get)
    assert (program is None) == diagnostics.failed
    return {item.code for item in diagnostics.items}


def parsed(example: str) -> set[str]:
    diagnostics = Diagnostics()
    parse(example, "program.dfl", diagnostics)
    return {item.code for item in diagnostics.items}


@pytest.mark.parametrize("code", MEANING)
def test_wrong_example_gives_the_code_and_no_other_error(code):
    assert code in found(CODES[code].wrong)
    assert {c for c in found(CODES[code].wrong) if c.startswith("E")} <= {code}


@pytest.mark.parametrize("code", MEANING)
def test_right_example_is_clean(code):
    codes = found(CODES[code].right)
    assert code not in codes
    assert not [c for c in codes if c.startswith("E")]


@pytest.mark.parametrize("code", SYNTAX)
def test_syntax_examples(code):
    assert code in parsed(CODES[code].wrong)
    assert not parsed(CODES[code].right)


def test_every_code_that_is_used_is_explained():
    folder = Path(__import__("dfc.dsl").dsl.__file__).parent
    used = {code for path in folder.glob("*.py") for code in re.findall(r'"([EW]0\d{3})"', path.read_text())}
    assert used == set(CODES)


@pytest.mark.parametrize("code", sorted(CODES))
def test_explanations_are_sentences(code):
    entry = CODES[code]
    assert entry.title and not entry.title.endswith(".")
    assert entry.explanation.endswith(".") and entry.wrong != entry.right
