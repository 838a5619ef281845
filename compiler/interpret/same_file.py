"""The files that the interpreter would read and write: none may have two uses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...dsl import typed
from ..own_files import Use, require_apart, uses_of
from .binary import has_symbols


def require_own_files(program: typed.Program, folder: Path = Path()) -> None:
    """Raises a Usage for a file that is written and has another use. Paths are relative to `folder`."""
    require_apart(_uses(program, folder))


def _uses(program: typed.Program, folder: Path) -> Iterator[Use]:
    for kind, word in ((typed.Source, "source"), (typed.Sink, "sink")):
        for step in program.steps:
            if isinstance(step.body, kind):
                yield from uses_of(f"{word} '{step.name}'", _spec(step.body.connector), kind is typed.Sink,
                                   has_symbols(step.record), folder)


def _spec(connector: typed.Connector) -> str:
    settings = ",".join(f"{name}={value}" for name, value in connector.settings)
    return f"{connector.kind}:{settings if connector.kind == 'generate' else connector.path}"
