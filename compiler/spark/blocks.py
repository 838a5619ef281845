"""Runs in the executors: bytes of a file become typed rows, as strictly as the programs themselves read.

Arrow's parsers read what is plain. What they refuse, or would read more generously than the language does, is halved
until a few lines are left, and those go row by row through the readers of the interpreter. So one bad row in a million
costs a few more looks at its neighbours, and what is accepted is decided in one place.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json
from dfc.compiler.interpret.csv_rows import Malformed, NotThisType, split_row, split_rows, typed_row, unquoted_field
from dfc.compiler.interpret.json_rows import json_row
from dfc.dsl.types import Bool, Float

from .schema import ROW, SourceColumns

FEW_LINES = 32
LONGEST_ROW = 16 << 20  # like --max-row of the programs
# In numbers Arrow takes blanks around them, hexadecimal digits and other spellings of nan and inf.
_GENEROUS = tuple(b" \txXiInN+")
_STRICT_NUMBER = r"^-?[0-9]+$"
_STRICT_FLOAT = r"^(-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|nan|-?inf)$"


@dataclass
class Rows:
    """Tables in order, with the line of each row, and the rows that are none."""

    tables: list[pa.Table] = field(default_factory=list)
    malformed: list[tuple[int, str, bytes]] = field(default_factory=list)  # line, reason, text

    def table(self, schema: pa.Schema) -> pa.Table:
        whole = pa.schema([*schema, (ROW, pa.int64())])
        return pa.concat_tables(self.tables) if self.tables else whole.empty_table()


Fast = Callable[[bytes, int], pa.Table | None]
Strict = Callable[[bytes, int, "Rows"], None]


def read_lines(data: bytes, line: int, fast: Fast, strict: Strict, into: Rows) -> None:
    """`data` begins with a row on `line`; no row goes over several lines."""
    count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    table = fast(data, count) if count else None
    if table is not None:
        into.tables.append(_numbered(table, line))
    elif count > FEW_LINES:
        middle = data.index(b"\n", len(data) // 2 if b"\n" in data[len(data) // 2:-1] else 0) + 1
        read_lines(data[:middle], line, fast, strict, into)
        read_lines(data[middle:], line + data.count(b"\n", 0, middle), fast, strict, into)
    elif count:
        strict(data, line, into)


def _numbered(table: pa.Table, line: int) -> pa.Table:
    return table.append_column(ROW, pa.array(np.arange(line, line + table.num_rows, dtype=np.int64)))


def _add_rows(rows: list[tuple[int, tuple]], columns: SourceColumns, into: Rows) -> None:
    if rows:
        arrays = [pa.array([row[place] for _, row in rows], one.type) for place, one in enumerate(columns.schema())]
        arrays.append(pa.array([line for line, _ in rows], pa.int64()))
        into.tables.append(pa.table(arrays, schema=pa.schema([*columns.schema(), (ROW, pa.int64())])))


# --- csv --------------------------------------------------------------------------------------------


class CsvBlock:
    """The readers of one CSV file, whose header is `names`."""

    def __init__(self, columns: SourceColumns, names: list[str]):
        self.columns, self.names, self.separator = columns, names, columns.separator.encode()
        self.places = [names.index(name) for name in columns.names]
        # Only the first of equally named columns counts.
        self.unique = [name if names.index(name) == place else f"{name}\0{place}" for place, name in enumerate(names)]
        self.schema = columns.schema()
        self.numbers = {one.name: _STRICT_FLOAT if isinstance(one.type, Float) else _STRICT_NUMBER
                        for one in columns.record.fields if self.schema.field(one.name).type != pa.string()
                        and not isinstance(one.type, Bool)}

    def fast(self, data: bytes, count: int) -> pa.Table | None:
        """None: not all of it is plain."""
        if b'"' in data or b"\r" in data:
            return None
        try:
            table = self._parsed(data, {one.name: one.type for one in self.schema})
        except (pa.ArrowInvalid, pa.ArrowKeyError):
            return None
        if table.num_rows != count or not _texts_fit(table, self.columns):
            return None
        return table if self._is_strict(data) else None

    def _parsed(self, data: bytes, types: dict[str, pa.DataType]) -> pa.Table:
        return pa.csv.read_csv(
            io.BytesIO(data),
            pa.csv.ReadOptions(use_threads=False, block_size=max(len(data), 1), column_names=self.unique),
            pa.csv.ParseOptions(delimiter=self.columns.separator, quote_char=False),
            pa.csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[],
                                  true_values=["true"], false_values=["false"], strings_can_be_null=False))

    def _is_strict(self, data: bytes) -> bool:
        """Whether every number is written as the language has it. Looked at only where a byte makes one doubt."""
        if not self.numbers or not any(byte in data for byte in _GENEROUS):
            return True
        table = self._parsed(data, dict.fromkeys(self.numbers, pa.string()))
        return all(pc.all(pc.match_substring_regex(table[name], form)).as_py() for name, form in self.numbers.items())

    def strict(self, data: bytes, line: int, into: Rows) -> None:
        found: list[tuple[int, tuple]] = []
        for at, fields in split_rows(data, self.separator):
            self._take(line + at - 1, fields, data, at - 1, found, into)
        _add_rows(found, self.columns, into)

    def _take(self, line: int, fields: list[bytes] | str, data: bytes, at: int, found: list, into: Rows) -> None:
        row = typed_row(line, fields, self.columns.record, self.places, len(self.names))
        if isinstance(row, Malformed):
            into.malformed.append((line, row.reason, data.split(b"\n", at + 1)[at] if at < 1 << 20 else b""))
        else:
            found.append((line, row))

    def quoted(self, chunks: Iterator[bytes], line: int) -> Iterator[Rows]:
        """Rows of a file with quotes, where a newline may stand inside a field: from its begin to its end."""
        rest, ended = b"", False
        while not ended:
            more = next(chunks, None)
            ended = more is None
            data = rest + (more or b"")
            into = Rows()
            used = self._whole_rows(data, line, ended, into)
            line += data.count(b"\n", 0, used)
            rest = data[used:]
            yield into

    def _whole_rows(self, data: bytes, line: int, ended: bool, into: Rows) -> int:
        """Takes the rows that end within the data; what it returns is how much that was."""
        if b'"' not in data:
            used = len(data) if ended else data.rfind(b"\n") + 1
            read_lines(data[:used], line, self.fast, self.strict, into)
            return used
        at, found, unquoted = 0, [], unquoted_field(self.separator)
        while at < len(data):
            fields, end = split_row(data, at, self.separator, unquoted)
            if not ended and end >= len(data) and len(data) - at <= LONGEST_ROW:
                break
            if fields != [b""] or data[at:at + 1] == b'"':
                self._take(line, fields, data[at:end], 0, found, into)
            line += data.count(b"\n", at, end)
            at = end
        _add_rows(found, self.columns, into)
        return at


def header_of(data: bytes, separator: str) -> tuple[list[str], int, int] | str:
    """Names, where the first row begins and on which line; or what is wrong with the header."""
    mark = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    line, at = 1, mark
    while at < len(data):
        fields, end = split_row(data, at, separator.encode(), unquoted_field(separator.encode()))
        line += data.count(b"\n", at, end)
        if fields != [b""]:
            return fields if isinstance(fields, str) else ([one.decode(errors="replace") for one in fields],
                                                           min(end, len(data)), line)
        at = end
    return "it is empty"


# --- json lines -------------------------------------------------------------------------------------


class JsonBlock:
    """The readers of JSON lines."""

    def __init__(self, columns: SourceColumns):
        self.columns, self.schema = columns, columns.schema()
        self.options = pa.json.ParseOptions(explicit_schema=self.schema, unexpected_field_behavior="ignore")

    def fast(self, data: bytes, count: int) -> pa.Table | None:
        """Flat objects without escapes that Arrow reads without a doubt."""
        if b"\\" in data or b"[" in data or data.count(b"{") != count:
            return None
        try:
            data.decode()
            whole = pa.json.ReadOptions(use_threads=False, block_size=len(data) + 1)
            table = pa.json.read_json(io.BytesIO(data), whole, self.options).select(list(self.columns.names))
        except (pa.ArrowInvalid, pa.ArrowKeyError, pa.ArrowNotImplementedError, UnicodeDecodeError):
            return None
        plain = table.num_rows == count and not any(column.null_count for column in table.columns)
        return table.cast(self.schema) if plain and _texts_fit(table, self.columns) else None

    def strict(self, data: bytes, line: int, into: Rows) -> None:
        found: list[tuple[int, tuple]] = []
        for number, text in enumerate(data.split(b"\n"), line):
            if not text.strip(b" \t\r"):
                continue
            try:
                found.append((number, json_row(text, self.columns.record)))
            except NotThisType as wrong:
                into.malformed.append((number, str(wrong), text))
        _add_rows(found, self.columns, into)


def _texts_fit(table: pa.Table, columns: SourceColumns) -> bool:
    return all((pc.max(pc.binary_length(table[name])).as_py() or 0) <= size for name, size in columns.longest.items())


def keys_of(data: bytes) -> list[str] | None:
    """The members of the first line that is an object; None when there is none."""
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")[:100]:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            return list(value)
    return None

