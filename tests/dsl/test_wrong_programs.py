"""Golden wrong programs: `wrong/NAME.dfl` gives exactly the text of `wrong/NAME.expected`.

`DFC_UPDATE_GOLDEN=1 pytest tests/dsl/test_wrong_programs.py` writes the expected texts anew. A first line
`// dfc check -D name=value` says what the command line sets.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from dfc.dsl.codes import CODES
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.render import render, to_json
from dfc.dsl.typecheck import check

FOLDER = Path(__file__).parent / "wrong"
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.dfl"))


def read(path: str) -> str | None:
    """Imports of the programs are looked for beside them, under `imported/`."""
    file = FOLDER / path
    return file.read_text() if path.startswith("imported/") and file.exists() else None


def checked(name: str) -> tuple[Diagnostics, dict[str, str]]:
    text = (FOLDER / f"{name}.dfl").read_text()
    params = dict(re.findall(r"-D (\w+)=(\S+)", text.split("\n")[0]))
    diagnostics, texts = Diagnostics(), {}
    check(text, f"{name}.dfl", diagnostics, params=params, read=read, texts=texts)
    return diagnostics, texts


@pytest.mark.parametrize("name", PROGRAMS)
def test_wrong_program(name):
    expected = FOLDER / f"{name}.expected"
    rendered = render(*checked(name))
    if os.environ.get("DFC_UPDATE_GOLDEN"):
        expected.write_text(rendered)
    assert rendered == expected.read_text()


@pytest.mark.parametrize("name", PROGRAMS)
def test_codes_are_known_and_places_are_in_the_text(name):
    diagnostics, texts = checked(name)
    assert diagnostics.items
    for item in diagnostics.items:
        assert item.code in CODES
        for span in [item.span, *(note.span for note in item.notes if note.span)]:
            lines = texts[span.file].split("\n")
            assert 1 <= span.line <= span.end_line <= len(lines)
            assert 1 <= span.column <= len(lines[span.line - 1]) + 1
        assert json.loads(to_json(item))["code"] == item.code and "\n" not in to_json(item)


def test_there_are_many():
    assert len(PROGRAMS) >= 60
