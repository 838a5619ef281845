"""Writes what a run gave to where the sinks of the program say: csv, jsonl and binary."""

from __future__ import annotations

import sys
from pathlib import Path

from ...dsl import typed
from ...dsl.types import Field, Record, Symbol
from ..graph.runnable import no_sockets
from .arrays import flat_record
from .binary import pack_rows
from .csv_rows import format_row
from .results import Results

_SYMBOL_FILE = Record("Symbols", (Field("symbol", Symbol()),))


def write_sinks(program: typed.Program, results: Results, folder: str | Path = ".") -> None:
    """Paths are relative to `folder`; "-" is standard output."""
    for step in program.steps:
        if isinstance(step.body, typed.Sink):
            connector = step.body.connector
            if connector.kind not in _WRITERS:
                raise no_sockets(connector)
            _WRITERS[connector.kind](step.name, results, connector.path, Path(folder))


def _csv(sink: str, results: Results, path: str, folder: Path) -> None:
    _write("".join(f"{line}\n" for line in results.csv_lines(sink)).encode(), path, folder)


def _jsonl(sink: str, results: Results, path: str, folder: Path) -> None:
    _write("".join(f"{line}\n" for line in results.json_lines(sink)).encode(), path, folder)


def _discard(sink: str, results: Results, path: str, folder: Path) -> None:
    """What is only counted is in the counters."""


def _binary(sink: str, results: Results, path: str, folder: Path) -> None:
    packed, symbols = pack_rows(results.rows[sink], results.records[sink])
    _write(packed, path, folder)
    if any(isinstance(one.type, Symbol) for one in flat_record(results.records[sink]).fields):
        lines = "".join(f"{format_row((symbol,), _SYMBOL_FILE)}\n" for symbol in symbols)
        _write(lines.encode(), f"{path}.symbols", folder)


def _write(data: bytes, path: str, folder: Path) -> None:
    if path == "-":
        sys.stdout.buffer.write(data)
    else:
        (folder / path).write_bytes(data)


_WRITERS = {"csv": _csv, "jsonl": _jsonl, "binary": _binary, "discard": _discard}
