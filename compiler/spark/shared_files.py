"""The files and folders that a run on Spark would read and write: none may have two uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dfc.compiler.interpret.binary import has_symbols
from dfc.dsl import typed
from dfc.dsl.check_paths import FILES

from ..artifacts.graph import Graph
from ..own_files import Use, folder_use, require_apart, uses_of


def require_own_files(graph: Graph, read: Mapping[str, Sequence[str]], written: Mapping[str, str]) -> None:
    """Raises a Usage. `read`, `written`: the specifications of each source's files, and of each sink."""
    require_apart([*(use for name, specs in read.items() for spec in specs
                     for use in _uses(graph.step(name), "source", spec)),
                   *(use for name, spec in written.items() for use in _uses(graph.step(name), "sink", spec))])


def _uses(step: typed.Step, word: str, spec: str) -> Iterator[Use]:
    return uses_of(f"{word} '{step.name}'", spec, word == "sink", has_symbols(step.record))


def require_own_folders(read: Mapping[str, str], written: Mapping[str, str]) -> None:
    """Of a stream, for which both are folders. `read`: the path of each source that has one."""
    sources = [folder_use(f"source '{name}'", path, False) for name, path in read.items()]
    sinks = ((name, *spec.split(":", 1)) for name, spec in written.items() if ":" in spec)
    require_apart([*sources, *(folder_use(f"sink '{name}'", path, True) for name, kind, path in sinks
                               if kind in FILES and path != "-")])
