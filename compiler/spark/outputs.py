"""The sinks of a program that ran elsewhere, written by the runtime's own writers; files appear whole or not."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dfc.compiler.failure import Failure, Usage
from dfc.dsl import typed

from ..artifacts.graph import Graph
from ..codegen.connectors import connector_spec
from .executor import Library, TaskFailed, columns_of

FILES = ("csv", "jsonl", "binary")


def sinks_of(graph: Graph, said: Mapping[str, str]) -> dict[str, str]:
    """The specification of every sink by name: as the words say, else as the program does."""
    return {step.name: said.get(step.name, connector_spec(step.body.connector)) for step in graph.steps
            if isinstance(step.body, typed.Sink)}


class Outputs:
    """Writers of all sinks. Leaving it without `done` removes what was written."""

    def __init__(self, library: Library, names: Sequence[str], specs: Sequence[str]):
        self.library, self.names, self.specs = library, names, specs
        self.writers: list[ctypes.c_void_p] = []
        self.moves: list[tuple[Path, Path]] = []

    def __enter__(self) -> Outputs:
        try:
            for number, spec in enumerate(self.specs):
                self.writers.append(self.library.opened("writer_open", number, self._beside(number, spec).encode()))
        except TaskFailed as failed:
            self._close()
            raise Failure(str(failed)) from None
        return self

    def _beside(self, number: int, spec: str) -> str:
        """Where it is written before it is complete: in the folder of the file."""
        kind, _, path = spec.partition(":")
        if kind == "discard" or kind in FILES and path == "-":
            sys.stdout.flush()
            return spec
        if kind not in FILES:
            raise Usage(f"sink `{self.names[number]}` ({spec}) is no file: with --engine spark there are csv, jsonl, "
                        "binary and discard")
        final = Path(path)
        if final.exists() and not final.is_file():
            return spec  # a pipe or device takes it as it comes
        part = final.with_name(f".{final.name}.{os.getpid()}.part")
        self.moves.append((part, final))
        if kind == "binary":
            self.moves.append((Path(f"{part}.symbols"), Path(f"{final}.symbols")))
        return f"{kind}:{part}"

    def write(self, sink: int, batch) -> None:
        columns, _kept = columns_of(batch)
        try:
            self.library.call("writer_rows", self.writers[sink], ctypes.byref(columns))
        except TaskFailed as failed:
            raise Failure(str(failed)) from None

    def done(self) -> None:
        """Everything is there: put it in place."""
        wrong = self._close_writers()
        if wrong:
            raise Failure(wrong)
        moves, self.moves = self.moves, []
        for part, final in moves:
            if part.exists():  # only records with symbols have a file for them
                os.replace(part, final)

    def __exit__(self, *failure: object) -> None:
        self._close()

    def _close(self) -> None:
        self._close_writers()
        for part, _ in self.moves:
            part.unlink(missing_ok=True)

    def _close_writers(self) -> str:
        wrong = ""
        while self.writers:
            try:
                self.library.call("writer_close", self.writers.pop())
            except TaskFailed as failed:
                wrong = wrong or str(failed)
        return wrong
