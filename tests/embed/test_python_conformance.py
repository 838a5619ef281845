"""Every conformance case through `dfc.load` gives what the binary gives, in the same order."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
import dfc  # noqa: E402
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.build import compile_program  # noqa: E402
from dfc.dsl.types import Bool, Float, Record, Symbol, Text, Type  # noqa: E402

CASES = sorted(Path(__file__).parents[1].glob("conformance/cases/*/program.dfl"))


def read_value(word: str, type_: Type) -> object:
    match type_:
        case Symbol() | Text():
            return word
        case Bool():
            return {"true": True, "false": False}[word]
        case Float():
            return float(word)
    return int(word)


def read_rows(path: Path, record: Record) -> list[list]:
    """The rows that are well formed, as values."""
    found = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            try:
                found.append([read_value(row[field.name], field.type) for field in record.fields])
            except (ValueError, KeyError):
                pass  # malformed on purpose
    return found


def columns(rows: list[list], program, port) -> dict:
    """Rows as arrays; times as whole numbers, symbols as texts."""
    dtypes = {field.name: object if isinstance(field.type, Symbol | Text) else program.dtype(port.name)[field.name]
              for field in port.record.fields}
    plain = {name: np.dtype("i8") if getattr(dtype, "kind", "") in "mM" and dtype is not object else dtype
             for name, dtype in dtypes.items()}
    return {name: np.array([row[at] for row in rows], dtype=dtype) for at, (name, dtype) in enumerate(plain.items())}


def as_rows(rows) -> list[list]:
    def column(field) -> list:
        if isinstance(field.type, Symbol | Text):
            return rows.text(field.name).tolist()
        values = rows[field.name]
        return (values.astype("i8") if values.dtype.kind in "mM" else values).tolist()

    return [list(row) for row in zip(*map(column, rows.record.fields), strict=True)]


def paths_of(case: Path) -> dict[str, Path]:
    """The files that the program's sources read."""
    checked = pipeline.check(case.read_text(), str(case), {})
    return {step.name: case.parent / step.body.connector.path for step in checked.steps
            if type(step.body).__name__ == "Source" and step.body.connector.kind == "csv"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_a_conformance_case(case, tmp_path):
    paths = paths_of(case)
    bundle = pipeline.generate(case.read_text(), str(case), {}, embed=True)
    if set(paths) != {port.name for port in bundle.interface.sources}:
        pytest.skip("has a source that is no CSV file")
    sinks = {port.name: port.record for port in bundle.interface.sinks}
    words = [word for sink in sinks for word in ("--sink", f"{sink}=csv:{tmp_path / sink}")]
    subprocess.run([compile_program(bundle, "native"), "--quiet", *words], check=True, timeout=300, cwd=case.parent)
    expected = {sink: read_rows(tmp_path / sink, record) for sink, record in sinks.items()}
    for workers in (1, 3):
        program = dfc.load(case, workers=workers)
        arrays = {port.name: columns(read_rows(paths[port.name], port.record), program, port)
                  for port in bundle.interface.sources}
        assert {name: as_rows(rows) for name, rows in program.run(**arrays).items()} == expected, f"{workers} workers"
