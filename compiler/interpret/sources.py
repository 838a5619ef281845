"""Opens the connector of a source and reads its rows: csv, jsonl, lines, binary, generate."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from ...dsl import typed
from ...dsl.types import Record
from ..graph.runnable import no_sockets
from .binary import has_symbols, read_symbols, unpack_rows
from .csv_rows import Malformed, NotThisType, parse_text, rows_of
from .generate import generate
from .json_rows import json_rows_of


def open_source(step: typed.Step, folder: Path) -> Iterator[tuple | Malformed]:
    connector = step.body.connector
    if connector.kind not in READERS:
        raise no_sockets(connector)
    return READERS[connector.kind](connector, step, folder)


def _bytes(connector: typed.Connector, folder: Path) -> bytes:
    return sys.stdin.buffer.read() if connector.path == "-" else (folder / connector.path).read_bytes()


def _csv(connector: typed.Connector, step: typed.Step, folder: Path) -> Iterator[tuple | Malformed]:
    separator = dict(connector.settings).get("separator", ",")
    return rows_of(_bytes(connector, folder), step.record, separator)


def _jsonl(connector: typed.Connector, step: typed.Step, folder: Path) -> Iterator[tuple | Malformed]:
    return json_rows_of(_bytes(connector, folder), step.record)


def _lines(connector: typed.Connector, step: typed.Step, folder: Path) -> Iterator[tuple | Malformed]:
    return lines_of(_bytes(connector, folder), step.record)


def lines_of(data: bytes, record: Record) -> Iterator[tuple | Malformed]:
    """Every line, empty ones too, is the record's only field. A byte-order mark is skipped."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            yield (parse_text(line.removesuffix(b"\r"), record.fields[0].type),)
        except NotThisType as wrong:
            yield Malformed(number, str(wrong))


def _binary(connector: typed.Connector, step: typed.Step, folder: Path) -> Iterator[tuple | Malformed]:
    symbols: list[str] = []
    if has_symbols(step.record):
        symbols = read_symbols((folder / f"{connector.path}.symbols").read_bytes())
    return unpack_rows(_bytes(connector, folder), step.record, symbols)


def _generate(connector: typed.Connector, step: typed.Step, folder: Path) -> Iterator[tuple]:
    return generate(connector, step.record, step.body.event_time, folder)


READERS = {"csv": _csv, "jsonl": _jsonl, "lines": _lines, "binary": _binary, "generate": _generate}
