"""Files that a run would read and write, or write twice: refused before it begins, as native programs do."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from .failure import Usage


@dataclass(frozen=True, slots=True)
class Place:
    """A file, folder or pipe that is there, or the name that one will have in a folder that is."""

    device: int
    inode: int
    later: str = ""
    pipe: bool = False
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """Who reads or writes where; None for devices, and for what can't be opened: who opens it will say so."""

    who: str
    path: str
    writes: bool
    place: Place | None

    def __str__(self) -> str:
        return f"'{self.path}'" if self.path != "-" else f"standard {'output' if self.writes else 'input'}"


def use_of(who: str, path: str, writes: bool, folder: Path = Path()) -> Use:
    """The path is relative to `folder`."""
    return Use(who, path, writes, _place(folder, path, writes))


def require_apart(uses: Iterable[Use]) -> None:
    """Raises a Usage for a file that is written and has another use."""
    for first, second in combinations(uses, 2):
        if first.place is not None and first.place == second.place:
            _require_harmless(first, second, first.place)


def _require_harmless(first: Use, second: Use, place: Place) -> None:
    """A file may have several readers, a pipe has one."""
    both = f"{first.who} and {second.who} would both"
    if first.writes and second.writes:
        raise Usage(f"{both} write to {second}; give each a path of its own")
    if first.writes != second.writes and not place.pipe:
        writer, reader = (first, second) if first.writes else (second, first)
        harm = "write into" if place.folder else "empty"
        raise Usage(f"{writer.who} would {harm} {writer}, which {reader.who} reads; use another path")
    if first.writes == second.writes and place.pipe:
        raise Usage(f"{both} read {second}, and get a part of it each; give each an input of its own")


def _place(folder: Path, path: str, writes: bool) -> Place | None:
    try:
        about = os.fstat(1 if writes else 0) if path == "-" else os.stat(folder / path)
    except OSError:
        return _place_to_be(folder / path) if path != "-" else None
    pipe, folder = stat.S_ISFIFO(about.st_mode), stat.S_ISDIR(about.st_mode)
    kept = pipe or folder or stat.S_ISREG(about.st_mode)
    return Place(about.st_dev, about.st_ino, pipe=pipe, folder=folder) if kept else None


def _place_to_be(path: Path) -> Place | None:
    target = os.path.realpath(path)  # the name that a link to nothing stands for
    try:
        about = os.stat(os.path.dirname(target))
    except OSError:
        return None
    return Place(about.st_dev, about.st_ino, os.path.basename(target))
