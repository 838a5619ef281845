"""The files that the interpreter would read and write: none may have two uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...dsl import typed
from ...dsl.check_paths import FILES
from ..own_files import Use, require_apart, use_of
from .binary import has_symbols

_SETTINGS = ("rates", "weights")  # of generate: paths of files


def require_own_files(program: typed.Program, folder: Path = Path()) -> None:
    """Raises a Usage for a file that is written and has another use. Paths are relative to `folder`."""
    require_apart(_uses(program, folder))


def _uses(program: typed.Program, folder: Path) -> Iterator[Use]:
    for kind in (typed.Source, typed.Sink):
        for step in program.steps:
            if isinstance(step.body, kind):
                yield from _of(step, folder, kind is typed.Sink)


def _of(step: typed.Step, folder: Path, writes: bool) -> Iterator[Use]:
    connector = step.body.connector
    who = f"{'sink' if writes else 'source'} '{step.name}'"
    if connector.kind in FILES:
        yield use_of(who, connector.path, writes, folder)
    if connector.kind == "binary" and connector.path != "-" and has_symbols(step.record):
        yield use_of(f"the symbols of {who}" if writes else who, f"{connector.path}.symbols", writes, folder)
    for name, value in connector.settings:
        if connector.kind == "generate" and name in _SETTINGS:
            yield use_of(who, value, writes, folder)
