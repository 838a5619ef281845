"""Runs in the executors: one block of a file becomes Parquet files in the staging folder, one for each hour of event
time, and a file of the rows that are none. Errors are returned, not raised: one line of them is for the user."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .blocks import CsvBlock, JsonBlock, Rows, read_lines
from .schema import FILE, HOUR_NS, ROW, SourceColumns

CHUNK = 8 << 20
MOST_TEXT = 1000  # bytes of a bad row that are kept
_FIRST_HOUR, _LAST_HOUR = -17_259_888, 70_389_527  # of the years 1 and 9999: the dates that folders are named by


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of work: rows of a file from one byte to another, or all of it (`whole`)."""

    number: int
    path: str
    form: str  # csv, jsonl, parquet
    begin: int
    end: int
    line: int
    whole: bool
    names: tuple[str, ...]  # the header
    columns: SourceColumns
    staging: str
    quarantine: str


@dataclass(frozen=True, slots=True)
class Part:
    """A Parquet file of a block: its place within the folder of the source."""

    path: str
    rows: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of a block. `first` and `last` are its lowest and highest event time."""

    number: int
    parts: tuple[Part, ...] = ()
    rows: int = 0
    rejected: int = 0
    rejects: str | None = None
    reason: str | None = None  # of the first one that was rejected
    first: int | None = None
    last: int | None = None
    error: str | None = None


def take_all(blocks: Iterable[Block]) -> Iterable[list[Taken]]:
    return map(take, blocks)


def take(block: Block) -> list[Taken]:
    """A whole file gives several, one for each of its chunks."""
    found: list[Taken] = []
    try:
        for rows in _rows(block):
            found.append(_kept(block, rows, len(found)))
    except OSError as error:
        if error.errno is None:  # Arrow's own, about what is in the file
            return [Taken(block.number, error=_unreadable(block, error))]
        deed = "read" if error.filename == block.path else "write"
        place = error.filename or block.staging
        return [Taken(block.number, error=f"can't {deed} `{place}`: {error.strerror or error}")]
    except pa.ArrowException as error:
        return [Taken(block.number, error=_unreadable(block, error))]
    return found


def _unreadable(block: Block, error: Exception) -> str:
    return f"`{block.path}` can't be read: {str(error).splitlines()[0][:160]}"


# --- reading ----------------------------------------------------------------------------------------


def _rows(block: Block) -> Iterator[Rows]:
    if block.form == "parquet":
        yield from _parquet_rows(block)
    elif block.whole:
        yield from CsvBlock(block.columns, list(block.names)).quoted(_chunks(block), block.line)
    else:
        reader = CsvBlock(block.columns, list(block.names)) if block.form == "csv" else JsonBlock(block.columns)
        rows = Rows()
        read_lines(_bytes(block), block.line, reader.fast, reader.strict, rows)
        yield rows


def _bytes(block: Block) -> bytes:
    with open(block.path, "rb") as file:
        file.seek(block.begin)
        return file.read(block.end - block.begin)


def _chunks(block: Block) -> Iterator[bytes]:
    with open(block.path, "rb") as file:
        file.seek(block.begin)
        while data := file.read(min(CHUNK, block.end - file.tell())):
            yield data


def _parquet_rows(block: Block) -> Iterator[Rows]:
    """Columns by name; values must fit the record's types. A null is no value of any type. Checksums of pages
    are looked at."""
    schema, at = block.columns.schema(), 0
    with pq.ParquetFile(block.path, page_checksum_verification=True) as file:
        for batch in file.iter_batches(1 << 18, columns=list(block.columns.names)):
            rows = Rows()
            table = pa.table([_whole(batch.column(one.name), one.type) for one in schema], schema=schema)
            table = table.append_column(ROW, pa.array(np.arange(at, at + len(batch), dtype=np.int64)))
            at += len(batch)
            good = pc.and_(_present(table), _short_enough(table, block.columns))
            for number in table.filter(pc.invert(good))[ROW].to_pylist():
                rows.malformed.append((number, "a value is missing or too long", b""))
            rows.tables.append(table.filter(good))
            yield rows


def _whole(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Times of Parquet's own become counts of their unit."""
    if pa.types.is_timestamp(column.type) or pa.types.is_duration(column.type):
        column = column.cast(pa.int64())
    return column.cast(wanted)


def _present(table: pa.Table) -> pa.ChunkedArray:
    good = pc.is_valid(table[0])
    for column in table.columns[1:]:
        good = pc.and_(good, pc.is_valid(column))
    return good


def _short_enough(table: pa.Table, columns: SourceColumns) -> pa.ChunkedArray:
    good = pc.is_valid(table[ROW])
    for name, size in columns.longest.items():
        good = pc.and_(good, pc.fill_null(pc.less_equal(pc.binary_length(table[name]), size), False))
    return good


# --- writing ----------------------------------------------------------------------------------------


def _kept(block: Block, rows: Rows, chunk: int) -> Taken:
    table = rows.table(block.columns.schema())
    name = f"{block.number:06}-{chunk:04}"
    taken = Taken(block.number)
    if block.columns.time is None:
        parts = [_write(block, table, f"{name}.parquet")] if table.num_rows else []
    else:
        table, parts = _timed_parts(block, table, rows, name)
        times = table[block.columns.time]
        low, high = pc.min_max(times).as_py().values() if table.num_rows else (None, None)
        taken = replace(taken, first=low, last=high)
    rows.malformed.sort(key=lambda one: one[0])
    rejects = _write_rejects(block, rows, name) if rows.malformed else None
    return replace(taken, parts=tuple(parts), rows=table.num_rows, rejected=len(rows.malformed), rejects=rejects,
                   reason=rows.malformed[0][1] if rows.malformed else None)


def _timed_parts(block: Block, table: pa.Table, rows: Rows, name: str) -> tuple[pa.Table, list[Part]]:
    """By the hour; rows whose time is no date are rejected."""
    hours = _hours(table, block.columns)
    dated = (hours >= _FIRST_HOUR) & (hours <= _LAST_HOUR)
    if not dated.all():
        out = table.filter(pa.array(~dated))
        for line, time in zip(out[ROW].to_pylist(), out[block.columns.time].to_pylist(), strict=True):
            rows.malformed.append((line, f"{block.columns.time} {time} is no time between the years 1 and 9999", b""))
        table, hours = table.filter(pa.array(dated)), hours[dated]
    parts = []
    found = np.unique(hours)
    for hour in found:
        here = table if len(found) == 1 else table.filter(pa.array(hours == hour))
        parts.append(_write(block, here, f"{_folder(int(hour))}/{name}.parquet"))
    return table, parts


def _hours(table: pa.Table, columns: SourceColumns) -> np.ndarray:
    times = table[columns.time].to_numpy()
    if columns.unit_ns <= HOUR_NS:
        return times // (HOUR_NS // columns.unit_ns)
    return np.clip(times, -10 ** 9, 10 ** 9) * (columns.unit_ns // HOUR_NS)


def _folder(hour: int) -> str:
    day = np.datetime64(hour // 24, "D")
    return f"date={day}/hour={hour % 24:02}"


def _write(block: Block, table: pa.Table, name: str) -> Part:
    path = Path(block.staging) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    names = pa.DictionaryArray.from_arrays(pa.array(np.zeros(table.num_rows, np.int32)), [block.path])
    pq.write_table(table.append_column(FILE, names), path, compression="zstd", compression_level=1,
                   use_dictionary=_dictionary(table), row_group_size=1 << 20, write_statistics=True)
    return Part(name, table.num_rows)


def _dictionary(table: pa.Table) -> list[str]:
    """Texts repeat; numbers mostly do not, and trying costs time."""
    return [one.name for one in table.schema if one.type == pa.string()] + [FILE]


def _write_rejects(block: Block, rows: Rows, name: str) -> str:
    path = Path(block.quarantine) / f"{name}.jsonl"
    try:
        with open(path, "w", encoding="utf-8") as file:
            for line, reason, text in rows.malformed:
                kept = text[:MOST_TEXT].decode(errors="replace").rstrip("\r\n")
                file.write(json.dumps({"file": block.path, "line": line, "reason": reason, "text": kept},
                                      ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:  # a write does not know its file's name
        raise OSError(error.errno, error.strerror, str(path)) from None
    return str(path)
