"""Files that a program would read and write, or write twice: refused before a run, as the native program does."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ...dsl import typed
from ...dsl.check_paths import FILES
from ..failure import Usage
from .binary import has_symbols

_SETTINGS = ("rates", "weights")  # of generate: paths of files


@dataclass(frozen=True, slots=True)
class Place:
    """A file or pipe that is there, or the name that one will have in a folder that is."""

    device: int
    inode: int
    later: str = ""
    pipe: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """Who reads or writes where; None for devices, and for what can't be opened: who opens it will say so."""

    who: str
    path: str
    writes: bool
    place: Place | None

    def __str__(self) -> str:
        return f"'{self.path}'" if self.path != "-" else f"standard {'output' if self.writes else 'input'}"


def require_own_files(program: typed.Program, folder: Path = Path()) -> None:
    """Raises a Usage for a file that is written and has another use. Paths are relative to `folder`."""
    for first, second in combinations(_uses(program, folder), 2):
        if first.place is not None and first.place == second.place:
            _require_harmless(first, second, first.place.pipe)


def _require_harmless(first: Use, second: Use, pipe: bool) -> None:
    """A file may have several readers, a pipe has one."""
    both = f"{first.who} and {second.who} would both"
    if first.writes and second.writes:
        raise Usage(f"{both} write to {second}; give each a path of its own")
    if first.writes != second.writes and not pipe:
        writer, reader = (first, second) if first.writes else (second, first)
        raise Usage(f"{writer.who} would empty {writer}, which {reader.who} reads; use another path")
    if first.writes == second.writes and pipe:
        raise Usage(f"{both} read {second}, and get a part of it each; give each an input of its own")


def _uses(program: typed.Program, folder: Path) -> Iterator[Use]:
    for kind in (typed.Source, typed.Sink):
        for step in program.steps:
            if isinstance(step.body, kind):
                yield from _of(step, folder, kind is typed.Sink)


def _of(step: typed.Step, folder: Path, writes: bool) -> Iterator[Use]:
    connector = step.body.connector
    who = f"{'sink' if writes else 'source'} '{step.name}'"
    if connector.kind in FILES:
        yield Use(who, connector.path, writes, _place(folder, connector.path, writes))
    if connector.kind == "binary" and connector.path != "-" and has_symbols(step.record):
        beside = f"{connector.path}.symbols"
        yield Use(f"the symbols of {who}" if writes else who, beside, writes, _place(folder, beside, writes))
    for name, value in connector.settings:
        if connector.kind == "generate" and name in _SETTINGS:
            yield Use(who, value, writes, _place(folder, value, writes))


def _place(folder: Path, path: str, writes: bool) -> Place | None:
    try:
        about = os.fstat(1 if writes else 0) if path == "-" else os.stat(folder / path)
    except OSError:
        return _place_to_be(folder / path) if path != "-" else None
    pipe = stat.S_ISFIFO(about.st_mode)
    return Place(about.st_dev, about.st_ino, pipe=pipe) if pipe or stat.S_ISREG(about.st_mode) else None


def _place_to_be(path: Path) -> Place | None:
    target = os.path.realpath(path)  # the name that a link to nothing stands for
    try:
        about = os.stat(os.path.dirname(target))
    except OSError:
        return None
    return Place(about.st_dev, about.st_ino, os.path.basename(target))
