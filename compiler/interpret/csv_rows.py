"""CSV as the conformance README defines it: rows of a record from bytes, and rows as text.

Reading is strict. A row that does not fit the record is malformed: kept apart with its line and the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...dsl.types import Bool, Float, Int, Record, Text, Type, is_time
from .arrays import flat_record, flatten, nest
from .numbers import to_f32
from .text_numbers import f32_from_text, format_float

_QUOTED = re.compile(rb'"([^"]*(?:""[^"]*)*)"')
_SIGNED = re.compile(rb"-?[0-9]+")
_UNSIGNED = re.compile(rb"[0-9]+")
_FLOAT = re.compile(rb"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|nan|-?inf")
_I64 = Int(64, True)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that is none: the line on which it began, counted from 1, and why."""

    line: int
    reason: str


class MissingColumn(Exception):
    """The header lacks a column of the record: an error before anything runs."""


class NotThisType(ValueError):
    """A field's bytes are no value of its type."""


def read_csv(path: str | Path, record: Record) -> tuple[list[tuple], list[Malformed]]:
    """All rows of a file, and those that are malformed."""
    rows, malformed = [], []
    for row in rows_of(Path(path).read_bytes(), record):
        (malformed if isinstance(row, Malformed) else rows).append(row)
    return rows, malformed


def rows_of(data: bytes, record: Record, separator: str = ",") -> Iterator[tuple | Malformed]:
    """Looks at the header at once, at the rows one by one."""
    lines = split_rows(data.removeprefix(b"\xef\xbb\xbf"), separator.encode())
    header = next(lines, (1, []))[1]
    if isinstance(header, str):
        raise MissingColumn(f"the header is malformed: {header}")
    names = [name.decode(errors="replace") for name in header]
    columns = flat_record(record)
    missing = [column.name for column in columns.fields if column.name not in names]
    if missing:
        raise MissingColumn(f"no column {', '.join(missing)}; the file has {', '.join(names)}")
    places = [names.index(column.name) for column in columns.fields]
    rows = (typed_row(line, fields, columns, places, len(names)) for line, fields in lines)
    return (row if isinstance(row, Malformed) else nest(row, record) for row in rows)


def typed_row(line: int, fields: list[bytes] | str, record: Record, places: list[int], width: int) -> tuple | Malformed:
    """The values of a row of a record of scalars: `places` are its columns among the `width` of the file."""
    if isinstance(fields, str):
        return Malformed(line, fields)
    if len(fields) != width:
        return Malformed(line, f"{len(fields)} fields, the header has {width}")
    try:
        return tuple(parse_field(fields[place], column.type)
                     for place, column in zip(places, record.fields, strict=True))
    except NotThisType as wrong:
        return Malformed(line, str(wrong))


def split_rows(data: bytes, separator: bytes = b",") -> Iterator[tuple[int, list[bytes] | str]]:
    """The line on which each row begins, and its fields or what is wrong with its quotes."""
    at, line = 0, 1
    unquoted = unquoted_field(separator)
    while at < len(data):
        fields, end = split_row(data, at, separator, unquoted)
        if fields != [b""] or data[at:at + 1] == b'"':  # an empty line is no row
            yield line, fields
        line += data.count(b"\n", at, end)
        at = end


def unquoted_field(separator: bytes) -> re.Pattern:
    return re.compile(rb"[^\n" + re.escape(separator) + rb"]*")


def split_row(data: bytes, at: int, separator: bytes, unquoted: re.Pattern) -> tuple[list[bytes] | str, int]:
    """The fields of the row that begins at `at`, and where the next one begins."""
    fields, wrong = [], ""
    while True:
        quoted = _QUOTED.match(data, at) if data[at:at + 1] == b'"' else None
        if data[at:at + 1] == b'"' and quoted is None:
            return wrong or "a quote is never closed", len(data)
        rest = unquoted.match(data, quoted.end() if quoted else at)
        at, last = rest.end(), data[rest.end():rest.end() + 1] != separator
        text = rest.group().removesuffix(b"\r") if last else rest.group()
        if quoted and text:
            wrong = wrong or "text after the closing quote of a field"
        elif b'"' in text:
            wrong = wrong or "a quote inside an unquoted field"
        fields.append(quoted.group(1).replace(b'""', b'"') if quoted else text)
        at += 1
        if last:
            return wrong or fields, at


def parse_field(text: bytes, type_: Type):
    """The value of a field, or NotThisType."""
    if isinstance(type_, Int) or is_time(type_):
        return _parse_integer(text, type_ if isinstance(type_, Int) else _I64, type_)
    if isinstance(type_, Float):
        if not _FLOAT.fullmatch(text):
            raise NotThisType(f"{_shown(text)} is no {type_}")
        return float(text) if type_.bits == 64 else f32_from_text(text.decode())
    if isinstance(type_, Bool):
        if text not in (b"true", b"false"):
            raise NotThisType(f"{_shown(text)} is no bool")
        return text == b"true"
    return parse_text(text, type_)


def _parse_integer(text: bytes, bounds: Int, type_: Type) -> int:
    if not (_SIGNED if bounds.signed else _UNSIGNED).fullmatch(text):
        raise NotThisType(f"{_shown(text)} is no {type_}")
    # Python refuses to convert thousands of digits; leading zeros may well be that many.
    digits = text.lstrip(b"-").lstrip(b"0") or b"0"
    value = int(digits) * (-1 if text.startswith(b"-") else 1) if len(digits) <= 20 else bounds.high + 1
    if not bounds.low <= value <= bounds.high:
        raise NotThisType(f"{_shown(text)} is out of the range of {type_}")
    return value


def parse_text(text: bytes, type_: Type) -> str:
    if isinstance(type_, Text) and len(text) > type_.size:
        raise NotThisType(f"{len(text)} bytes are too long for {type_}")
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise NotThisType("invalid UTF-8") from None


def _shown(text: bytes) -> str:
    return repr(text[:32].decode(errors="replace"))


def format_value(value, type_: Type) -> str:
    if isinstance(type_, Bool):
        return "true" if value else "false"
    if isinstance(type_, Float):
        return format_float(value if type_.bits == 64 else to_f32(value), type_.bits)
    return value if isinstance(value, str) else str(value)


def format_row(row: tuple, record: Record) -> str:
    """One line without its end. A lone empty text is quoted, or the line would be skipped when read."""
    columns = flat_record(record).fields
    fields = [_quoted(format_value(value, column.type))
              for value, column in zip(flatten(row, record), columns, strict=True)]
    return ",".join(fields) if fields != [""] else '""'


def format_header(record: Record) -> str:
    return ",".join(column.name for column in flat_record(record).fields)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text
