"""Compares tables as multisets of rows: integers and text exactly, floats to 1e-9."""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from pathlib import Path

Row = tuple[str, ...]
_INTEGER = re.compile(r"-?[0-9]+")


def read_table(path: Path) -> tuple[Row, list[Row]]:
    """The header and the rows of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [tuple(row) for row in csv.reader(file) if row]
    return rows[0], rows[1:]


def file_difference(expected: Path, got: Path) -> str:
    """What is wrong with the file that was written; '' when nothing is."""
    if not got.exists():
        return f"{got.name} was not written"
    (header, rows), (got_header, got_rows) = read_table(expected), read_table(got)
    if header != got_header:
        return f"{got.name}: header {got_header}, expected {header}"
    return difference(rows, got_rows) and f"{got.name}: {difference(rows, got_rows)}"


def difference(expected: list[Row], got: list[Row]) -> str:
    """The rows that one side has and the other has not, a few of each; '' when there are none."""
    floats = _float_columns(expected + got)
    waiting: dict[Row, list[Row]] = defaultdict(list)
    for row in got:
        waiting[_exact_part(row, floats)].append(row)
    missing = [row for row in expected if not _take(row, waiting[_exact_part(row, floats)], floats)]
    extra = [row for rows in waiting.values() for row in rows]
    if not missing and not extra:
        return ""
    return (f"{len(got)} rows, expected {len(expected)}; {len(missing)} missing, such as {missing[:3]}; "
            f"{len(extra)} too many, such as {extra[:3]}")


def _float_columns(rows: list[Row]) -> frozenset[int]:
    """Columns of numbers that are not all integers."""
    columns = enumerate(zip(*rows, strict=False))
    return frozenset(at for at, cells in columns
                     if all(map(_is_number, cells)) and not all(map(_INTEGER.fullmatch, cells)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _exact_part(row: Row, floats: frozenset[int]) -> Row:
    return tuple(cell for at, cell in enumerate(row) if at not in floats)


def _take(row: Row, candidates: list[Row], floats: frozenset[int]) -> bool:
    """Removes the first candidate whose floats are near enough."""
    for at, candidate in enumerate(candidates):
        if len(candidate) == len(row) and all(_near(row[column], candidate[column]) for column in floats):
            del candidates[at]
            return True
    return False


def _near(a: str, b: str) -> bool:
    x, y = float(a), float(b)
    return (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-9)
