"""The conformance cases through the reference interpreter: the meaning is what their expected rows say."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from dfc.compiler.interpret import run
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.typecheck import check

CASES = sorted((Path(__file__).parents[1] / "conformance" / "cases").glob("*/program.dfl"))


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def is_exact(text: str) -> bool:
    return number(text) is None or text.lstrip("-").isdigit()


def order(row: list[str]) -> tuple[str, ...]:
    """Floats are rounded: the same rows stand at the same place though their last digits differ."""
    return tuple(text if is_exact(text) else f"{number(text):.4g}" for text in row)


def close(a: str, b: str) -> bool:
    if is_exact(a) and is_exact(b):
        return a == b
    x, y = number(a), number(b)
    return math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9) or math.isnan(x) and math.isnan(y)


def read(lines) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(lines)
    return header, sorted((row for row in rows if row), key=order)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_case(path: Path):
    diagnostics = Diagnostics()
    program = check(path.read_text(), str(path), diagnostics)
    assert program is not None, diagnostics.items
    result = run(program, folder=path.parent)
    files = {step.body.connector.path: step.name for step in program.steps if step.name in result.rows}
    for expected in path.parent.glob("*.expected.csv"):
        written = files[expected.name.replace(".expected", "")]
        header, rows = read(result.csv_lines(written))
        wanted_header, wanted = read(expected.read_text().splitlines())
        assert header == wanted_header and len(rows) == len(wanted)
        for row, right in zip(rows, wanted, strict=True):
            assert all(map(close, row, right)), (row, right)
