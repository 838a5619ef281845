"""Whether two programs gave the same results: the same rows in any order, floats to 1e-9."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy

TOLERANCE = 1e-9


def difference(left: Path, right: Path, result: str) -> str:
    """What differs between two files, or "" when nothing does."""
    a, b = read(left, result), read(right, result)
    if len(a[0]) != len(b[0]):
        return f"{len(a[0])} rows and {len(b[0])} rows"
    a, b = in_order(a), in_order(b)
    for number, (x, y) in enumerate(zip(a, b, strict=True)):
        good = numpy.isclose(x, y, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True) if x.dtype.kind == "f" else x == y
        if not good.all():
            at = int(numpy.argmin(good))
            return f"column {number} has {x[at]} and {y[at]}"
    return ""


def read(path: Path, result: str) -> list[numpy.ndarray]:
    """The columns of a file."""
    if result != "csv":
        records = numpy.fromfile(path, numpy.dtype([(f"f{i}", f"<{kind}") for i, kind in enumerate(result.split(","))]))
        return [records[name] for name in records.dtype.names]
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return [column([row[i] for row in rows]) for i in range(len(header))]


def column(texts: list[str]) -> numpy.ndarray:
    for kind in (numpy.int64, numpy.float64):
        try:
            return numpy.array(texts, dtype=kind) if texts else numpy.zeros(0)
        except (ValueError, OverflowError):
            continue
    return numpy.array(texts)


def in_order(columns: list[numpy.ndarray]) -> list[numpy.ndarray]:
    """Sorted by what is exact first, so that the last digits of floats decide nothing."""
    exact = [c for c in columns if c.dtype.kind != "f"]
    floats = [c for c in columns if c.dtype.kind == "f"]
    order = numpy.lexsort((*[numpy.round(c, 6) for c in floats], *exact))
    return [c[order] for c in columns]
