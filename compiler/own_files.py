"""Files that a run would read and write, or write twice: refused before it begins, as native programs do."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from ..dsl.check_paths import FILES
from .failure import Usage

_SETTINGS = ("rates", "weights")  # of generate: paths of files


@dataclass(frozen=True, slots=True)
class Place:
    """A file or pipe that is there, or the name that one will have in a folder that is; or standard input or output,
    whatever that is."""

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


def uses_of(who: str, spec: str, writes: bool, symbols: bool, base: Path = Path()) -> Iterator[Use]:
    """The files of a specification such as csv:PATH, relative to `base`. `symbols`: whether records have some, of which
    binary files keep the texts beside them."""
    kind, _, path = spec.partition(":")
    if kind in FILES:
        yield Use(who, path, writes, _place(base, path, writes))
    if kind == "binary" and path != "-" and symbols:
        beside = f"{path}.symbols"
        yield Use(f"the symbols of {who}" if writes else who, beside, writes, _place(base, beside, writes))
    for name, _, value in (setting.partition("=") for setting in path.split(",")):
        if kind == "generate" and name in _SETTINGS:
            yield Use(who, value, writes, _place(base, value, writes))


def require_apart(uses: Iterable[Use]) -> None:
    """Raises a Usage for what is written and has another use."""
    by_place: dict[Place, list[Use]] = {}
    for use in uses:
        if use.place is not None:
            by_place.setdefault(use.place, []).append(use)
    for place, together in by_place.items():
        for first, second in combinations(together, 2):
            _require_harmless(first, second, place)


def _require_harmless(first: Use, second: Use, place: Place) -> None:
    """A file may have several readers, a pipe has one, and so has standard input."""
    both = f"{first.who} and {second.who} would both"
    if first.writes and second.writes:
        raise Usage(f"{both} write to {second}; give each a path of its own")
    if first.writes != second.writes and not place.pipe:
        writer, reader = (first, second) if first.writes else (second, first)
        raise Usage(f"{writer.who} would empty {writer}, which {reader.who} reads; use another path")
    if first.writes == second.writes and (place.pipe or first.path == second.path == "-"):
        raise Usage(f"{both} read {second}, and get a part of it each; give each an input of its own")


def _place(base: Path, path: str, writes: bool) -> Place | None:
    try:
        about = os.fstat(1 if writes else 0) if path == "-" else os.stat(base / path)
    except OSError:
        return _place_to_be(base / path) if path != "-" else None
    pipe = stat.S_ISFIFO(about.st_mode)
    if pipe or stat.S_ISREG(about.st_mode):
        return Place(about.st_dev, about.st_ino, pipe=pipe)
    return Place(0, int(writes), "-") if path == "-" else None


def _place_to_be(path: Path) -> Place | None:
    target = os.path.realpath(path)  # the name that a link to nothing stands for
    try:
        about = os.stat(os.path.dirname(target))
    except OSError:
        return None
    return Place(about.st_dev, about.st_ino, os.path.basename(target))
