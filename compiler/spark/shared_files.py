"""The files and folders that a run on Spark would read and write: none may have two uses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import combinations, product
from pathlib import Path

from dfc.compiler.failure import Usage
from dfc.compiler.interpret.binary import has_symbols
from dfc.dsl import typed
from dfc.dsl.check_paths import FILES

from ..artifacts.graph import Graph
from ..own_files import Use, require_apart, uses_of
from .stream_outputs import batch_name

_SPECIAL = re.compile(r"[*?\[{]")


def require_own_files(graph: Graph, read: Mapping[str, Sequence[str]], written: Mapping[str, str]) -> None:
    """Raises a Usage. `read`, `written`: the specifications of each source's files, and of each sink."""
    require_apart([*(use for name, specs in read.items() for spec in specs
                     for use in _uses(graph.step(name), "source", spec)),
                   *(use for name, spec in written.items() for use in _uses(graph.step(name), "sink", spec))])


def _uses(step: typed.Step, word: str, spec: str) -> Iterator[Use]:
    return uses_of(f"{word} '{step.name}'", spec, word == "sink", has_symbols(step.record))


def require_own_folders(read: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Of a stream, for which sinks are folders. `read`: the path of each source that has one, which may be a pattern;
    `written`: the specification of each sink."""
    sinks = [(name, *spec.split(":", 1)) for name, spec in written.items() if spec.partition(":")[0] in FILES]
    for (first, _, one), (second, _, other) in combinations(sinks, 2):
        if one == other == "-" or "-" not in (one, other) and _parts(one) == _parts(other):
            where = "standard output" if other == "-" else f"'{other}'"
            raise Usage(f"sink '{first}' and sink '{second}' would both write to {where}; give each a path of its own")
    for (source, pattern), (sink, kind, folder) in product(read.items(), sinks):
        if folder != "-" and _reads(pattern, folder, batch_name(kind, 0)):
            raise Usage(f"sink '{sink}' would write into '{folder}', which source '{source}' reads; use another path")


def _reads(pattern: str, folder: str, file: str) -> bool:
    """Whether a file in a folder is new input: Spark takes files that match, and those in folders that do."""
    wanted, there = _parts(pattern), _parts(folder)
    return any(len(wanted) == len(parts) and all(map(fnmatchcase, parts, wanted)) for parts in (there, (*there, file)))


def _parts(path: str) -> tuple[str, ...]:
    """Of the whole path, without links as far as it is no pattern. `{a,b}`, which fnmatch does not know, may be any
    text."""
    parts = Path(os.path.abspath(path)).parts
    plain = next((i for i, part in enumerate(parts) if _SPECIAL.search(part)), len(parts))
    real = Path(os.path.realpath(Path(*parts[:plain]))).parts
    return (*real, *("*" if "{" in part else part for part in parts[plain:]))
