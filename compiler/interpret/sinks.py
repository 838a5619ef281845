"""What a run gave, as the files that the sinks of the program say: csv, jsonl and binary."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ...dsl import typed
from ...dsl.types import Field, Record, Symbol
from ..failure import Usage
from ..graph.runnable import no_sockets
from .binary import has_symbols, pack_rows
from .csv_rows import format_row
from .results import Results

_SYMBOL_FILE = Record("Symbols", (Field("symbol", Symbol()),))


def require_sinks(program: typed.Program) -> None:
    """Says before a run what could not be written after it."""
    for step in _sinks(program):
        connector = step.body.connector
        if connector.kind not in _FILES:
            raise no_sockets(connector)
        if connector.kind == "binary" and connector.path == "-" and has_symbols(step.record):
            raise Usage("binary:- can't carry symbols, which need a second file")


def sink_files(program: typed.Program, results: Results) -> list[tuple[str, bytes]]:
    """All files of the sinks, as (path, bytes); the path "-" is standard output."""
    require_sinks(program)
    return [file for step in _sinks(program)
            for file in _FILES[step.body.connector.kind](step.name, results, step.body.connector.path)]


def write_sinks(program: typed.Program, results: Results, folder: str | Path = ".") -> None:
    """Paths are relative to `folder`."""
    for path, data in sink_files(program, results):
        if path == "-":
            sys.stdout.buffer.write(data)
        else:
            (Path(folder) / path).write_bytes(data)


def _sinks(program: typed.Program) -> list[typed.Step]:
    return [step for step in program.steps if isinstance(step.body, typed.Sink)]


def _csv(sink: str, results: Results, path: str) -> list[tuple[str, bytes]]:
    return [(path, _lines(results.csv_lines(sink)))]


def _jsonl(sink: str, results: Results, path: str) -> list[tuple[str, bytes]]:
    return [(path, _lines(results.json_lines(sink)))]


def _discard(sink: str, results: Results, path: str) -> list[tuple[str, bytes]]:
    """What is only counted is in the counters."""
    return []


def _binary(sink: str, results: Results, path: str) -> list[tuple[str, bytes]]:
    record = results.records[sink]
    packed, symbols = pack_rows(results.rows[sink], record)
    beside = _lines(format_row((symbol,), _SYMBOL_FILE) for symbol in symbols)
    return [(path, packed), *([(f"{path}.symbols", beside)] if has_symbols(record) else [])]


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


_FILES = {"csv": _csv, "jsonl": _jsonl, "binary": _binary, "discard": _discard}
