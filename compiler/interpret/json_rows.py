"""JSON lines: rows of a record from bytes, and rows as text. As strict as RFC 8259, and as docs/CONNECTORS.md says.

The grammar is that of Python's json; what it lets pass (nan, half a surrogate pair, a field twice) is refused here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from ...dsl.types import Bool, Float, Record, Type, is_string
from .arrays import flat_record, flatten, nest
from .csv_rows import Malformed, NotThisType, format_value, parse_field, parse_text

DEPTH = 64
_SPECIAL = ("nan", "inf", "-inf")
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


class _Number(str):
    """A number as it was written."""


class _Pairs(list):
    """The members of an object."""


def json_rows_of(data: bytes, record: Record) -> Iterator[tuple | Malformed]:
    """One object a line; lines of blanks are skipped. A byte-order mark before the first is left out."""
    columns = flat_record(record)
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip(b" \t\r"):
            continue
        try:
            yield nest(json_row(line, columns), record)
        except NotThisType as wrong:
            yield Malformed(number, str(wrong))


def json_row(line: bytes, columns: Record) -> tuple:
    """The values of a line of a record of scalars; raises NotThisType."""
    return _row(_members(line), columns)


def _members(line: bytes) -> _Pairs:
    try:
        text = line.decode()
        _check_depth(line)
        value = json.loads(text, parse_int=_Number, parse_float=_Number, parse_constant=_no_constant,
                           object_pairs_hook=_Pairs)
        _check_characters(value)
    except UnicodeError:
        raise NotThisType("invalid Unicode") from None
    except json.JSONDecodeError as error:
        raise NotThisType(f"no JSON at character {error.pos + 1}: {error.msg}") from None
    if not isinstance(value, _Pairs):
        raise NotThisType("an object is expected")
    return value


def _no_constant(word: str) -> None:
    raise NotThisType(f"{word} is no JSON")


def _check_depth(line: bytes) -> None:
    depth = 0
    for part in _STRING_OR_BRACKET.finditer(line):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(part.group(), 0)
        if depth > DEPTH:
            raise NotThisType("values nest too deeply")


def _check_characters(value: object) -> None:
    """Half a surrogate pair has no UTF-8."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, _Pairs):
        for key, inner in value:
            key.encode()
            _check_characters(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_characters(inner)


def _row(members: _Pairs, columns: Record) -> tuple:
    types = {column.name: column.type for column in columns.fields}
    found: dict[str, object] = {}
    for key, value in members:
        if key in found:
            raise NotThisType(f"field '{key}' is there twice")
        if key in types:
            found[key] = _value(value, key, types[key])
    for name in types:
        if name not in found:
            raise NotThisType(f"there is no field '{name}'")
    return tuple(found[name] for name in types)


def _value(value: object, key: str, type_: Type) -> object:
    if is_string(type_):
        if isinstance(value, str) and not isinstance(value, _Number):
            return parse_text(value.encode(), type_)
    elif isinstance(type_, Bool):
        if isinstance(value, bool):
            return value
    elif isinstance(value, _Number) or isinstance(type_, Float) and value in _SPECIAL:
        return parse_field(str(value).encode(), type_)
    raise NotThisType(f"field '{key}' is no {type_}")


def format_json(row: tuple, record: Record) -> str:
    """One line without its end: fields in record order, no blanks."""
    columns = flat_record(record).fields
    members = (f"{_quoted(column.name)}:{_formatted(value, column.type)}"
               for column, value in zip(columns, flatten(row, record), strict=True))
    return "{" + ",".join(members) + "}"


def _formatted(value: object, type_: Type) -> str:
    text = format_value(value, type_)
    quoted = is_string(type_) or isinstance(type_, Float) and not math.isfinite(float(text))
    return _quoted(text) if quoted else text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
