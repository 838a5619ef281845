"""Packed records: field order, little endian, no padding; text<N> is N bytes padded with zeros, a symbol the
number of its line in the file of symbols beside."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from ...dsl.types import Bool, Float, Int, Record, Symbol, Text, Type
from .arrays import flat_record, flatten, nest
from .csv_rows import Malformed, NotThisType, parse_text, split_rows

_INTEGERS = {8: "b", 16: "h", 32: "i", 64: "q"}


def has_symbols(record: Record) -> bool:
    """Whether the texts of symbols stand in a second file."""
    return any(isinstance(one.type, Symbol) for one in flat_record(record).fields)


def unpack_rows(data: bytes, record: Record, symbols: list[str]) -> Iterator[tuple | Malformed]:
    """Records are counted from 1."""
    columns = flat_record(record)
    layout = _layout(columns)
    whole = len(data) - len(data) % layout.size
    for number, raw in enumerate(layout.iter_unpack(data[:whole]), 1):
        try:
            scalars = (_value(one, field.type, symbols) for one, field in zip(raw, columns.fields, strict=True))
            yield nest(tuple(scalars), record)
        except NotThisType as wrong:
            yield Malformed(number, str(wrong))
    if whole < len(data):
        yield Malformed(whole // layout.size + 1, "the input ends within it")


def read_symbols(data: bytes) -> list[str]:
    return [parse_text(fields[0], Symbol()) for _, fields in split_rows(data)]


def pack_rows(rows: list[tuple], record: Record) -> tuple[bytes, list[str]]:
    """The packed records, and the symbols in the order of their first appearance."""
    columns = flat_record(record)
    layout = _layout(columns)
    numbers: dict[str, int] = {}
    packed = b"".join(layout.pack(*(_raw(value, field.type, numbers)
                                    for value, field in zip(flatten(row, record), columns.fields, strict=True)))
                      for row in rows)
    return packed, list(numbers)


def _layout(record: Record) -> struct.Struct:
    return struct.Struct("<" + "".join(_code(one.type) for one in record.fields))


def _raw(value, type_: Type, numbers: dict[str, int]):
    if isinstance(type_, Symbol):
        return numbers.setdefault(value, len(numbers))
    return value.encode() if isinstance(type_, Text) else value


def _code(type_: Type) -> str:
    match type_:
        case Int():
            return _INTEGERS[type_.bits] if type_.signed else _INTEGERS[type_.bits].upper()
        case Float():
            return "f" if type_.bits == 32 else "d"
        case Bool():
            return "B"
        case Symbol():
            return "I"
        case Text():
            return f"{type_.size}s"
    return "q"


def _value(raw, type_: Type, symbols: list[str]):
    match type_:
        case Bool():
            if raw > 1:
                raise NotThisType("a bool that is neither 0 nor 1")
            return bool(raw)
        case Symbol():
            if raw >= len(symbols):
                raise NotThisType("a symbol that is not in the file of symbols")
            return symbols[raw]
        case Text():
            return parse_text(raw.rstrip(b"\0"), type_)
    return raw
