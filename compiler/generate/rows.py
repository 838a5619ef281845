"""Columns as the bytes of a file: csv, jsonl, or packed records with their symbols beside."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import numpy as np

from ...dsl.types import Bool, Duration, Field, Float, Int, Symbol, Text, Timestamp, is_string

FORMATS = ("csv", "jsonl", "binary")


class Names:
    """The strings of keys: k0, k1, …"""

    def __init__(self, count: int):
        self.all = [f"k{number}" for number in range(count)]

    def of(self, column: np.ndarray) -> list[str]:
        return [self.all[number] for number in column.tolist()]


def header(fields: Iterable[Field], form: str) -> bytes:
    return (",".join(field.name for field in fields) + "\n").encode() if form == "csv" else b""


def encoder(fields: tuple[Field, ...], form: str, names: Names) -> Callable[[list[np.ndarray]], bytes]:
    if form == "binary":
        return lambda columns: _packed(fields, columns, names)
    if form == "csv":
        return lambda columns: _lines(",".join, _texts(fields, columns, names, '{}'))
    shape = "{" + ",".join(f"{json.dumps(field.name)}:%s".replace("%s", "\0") for field in fields) + "}"
    parts = shape.split("\0")
    return lambda columns: _lines(lambda row: _joined(parts, row), _texts(fields, columns, names, '"{}"'))


def _lines(join: Callable[[tuple[str, ...]], str], columns: list[list[str]]) -> bytes:
    text = "\n".join(map(join, zip(*columns, strict=True)))
    return f"{text}\n".encode() if text else b""


def _joined(parts: list[str], row: tuple[str, ...]) -> str:
    return "".join(piece for pair in zip(parts, row, strict=False) for piece in pair) + parts[-1]


def _texts(fields: tuple[Field, ...], columns: list[np.ndarray], names: Names, quoted: str) -> list[list[str]]:
    return [_text(field, column, names, quoted) for field, column in zip(fields, columns, strict=True)]


def _text(field: Field, column: np.ndarray, names: Names, quoted: str) -> list[str]:
    if is_string(field.type):
        return names.of(column) if quoted == "{}" else [quoted.format(name) for name in names.of(column)]
    if isinstance(field.type, Bool):
        return ["true" if value else "false" for value in column.tolist()]
    if isinstance(field.type, Float) and field.type.bits == 32:
        return column.astype(str).tolist()  # numpy has the fewest digits that read back, as the runtime
    return list(map(repr, column.tolist()))


def _packed(fields: tuple[Field, ...], columns: list[np.ndarray], names: Names) -> bytes:
    layout = np.dtype([(f"f{at}", _code(field)) for at, field in enumerate(fields)])
    rows = np.empty(len(columns[0]), layout)
    for at, (field, column) in enumerate(zip(fields, columns, strict=True)):
        rows[f"f{at}"] = [name.encode() for name in names.of(column)] if isinstance(field.type, Text) else column
    return rows.tobytes()


def _code(field: Field) -> str:
    match field.type:
        case Int():
            return f"<{'i' if field.type.signed else 'u'}{field.type.bits // 8}"
        case Float():
            return f"<f{field.type.bits // 8}"
        case Bool():
            return "u1"
        case Text():
            return f"S{field.type.size}"
        case Symbol():
            return "<u4"
        case Timestamp() | Duration():
            return "<i8"
    raise TypeError(field.type)


def symbols(names: Names) -> bytes:
    """The file beside packed records: line n is the string of number n."""
    return "".join(f"{name}\n" for name in names.all).encode()


def has_symbols(fields: Iterable[Field]) -> bool:
    return any(isinstance(field.type, Symbol) for field in fields)
