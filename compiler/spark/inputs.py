"""Which file is what: its form by its name, its source by its columns, logs by their first line."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from dfc.compiler.failure import Failure, Usage

from .blocks import header_of, keys_of
from .schema import SourceColumns

DECISIONS, STATS = "decision log", "summary"
_FORMS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet"}
_HEAD = 1 << 16


@dataclass(frozen=True, slots=True)
class Input:
    """A file: what it is of, and where its rows begin."""

    path: Path
    kind: str  # a source, or DECISIONS, STATS
    form: str
    begin: int = 0
    line: int = 1
    names: tuple[str, ...] = ()


def input_files(words: Sequence[str]) -> list[Path]:
    """Files and the files of folders, by name; hidden ones are left out."""
    found: dict[Path, None] = {}
    for word in words:
        path = Path(os.path.abspath(word))
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*") if one.suffix in _FORMS and one.is_file()
                            and not any(part.startswith((".", "_")) for part in one.relative_to(path).parts))
            if not inside:
                raise Usage(f"the folder `{word}` has no files that end in {', '.join(_FORMS)}")
            found |= dict.fromkeys(inside)
        elif path.is_file():
            found[path] = None
        else:
            raise Usage(f"there is no file `{word}`")
    return sorted(found)


def recognized(path: Path, sources: Mapping[str, SourceColumns], said: Sequence[tuple[str, str]]) -> Input:
    """Raises Usage when the file is none of the program's."""
    form = _FORMS.get(path.suffix)
    if form is None:
        raise Usage(f"`{path}`: the name of a file ends in {', '.join(_FORMS)}")
    if form == "parquet":
        names = _parquet_names(path)
        return Input(path, _source(path, names, sources, said), form)
    head = _head(path)
    log = _log_kind(path, head) if form == "jsonl" else None
    if log is not None:
        return Input(path, log, "log")
    if form == "jsonl":
        names = keys_of(head)
        if names is None:
            raise Usage(f"`{path}` has no line that is a JSON object")
        return Input(path, _source(path, names, sources, said), form, 3 if head.startswith(b"\xef\xbb\xbf") else 0)
    return _csv_input(path, head, sources, said)


def _csv_input(path: Path, head: bytes, sources: Mapping[str, SourceColumns], said: Sequence[tuple[str, str]]) -> Input:
    """The header is read with each separator that a source has."""
    wrong = ""
    for separator in dict.fromkeys(one.separator for one in sources.values()):
        header = header_of(head, separator)
        if isinstance(header, str):
            wrong = wrong or f"`{path}`: the header is malformed: {header}"
            continue
        names, begin, line = header
        try:
            mine = {name: one for name, one in sources.items() if one.separator == separator}
            return Input(path, _source(path, names, mine, said), "csv", begin, line, tuple(names))
        except Usage as error:
            wrong = wrong or str(error)
    raise Usage(wrong)


def _source(path: Path, names: Iterable[str], sources: Mapping[str, SourceColumns],
            said: Sequence[tuple[str, str]]) -> str:
    present = set(names)
    for name, pattern in said:
        if fnmatch.fnmatch(path.name, pattern) or fnmatch.fnmatch(str(path), os.path.abspath(pattern)):
            missing = [one for one in sources[name].names if one not in present] if name in sources else []
            if missing:
                raise Usage(f"`{path}` has no column {', '.join(missing)}, which `{name}` needs")
            return name
    fitting = [name for name, one in sources.items() if present.issuperset(one.names)]
    named = [name for name in fitting if path.name.startswith(name)]
    if len(fitting) == 1 or len(named) == 1:
        return (named or fitting)[0]
    if fitting:
        raise Usage(f"`{path}` fits the sources {' and '.join(fitting)}; say which: --source {fitting[0]}={path.name}")
    near = min(sources.values(), key=lambda one: len(set(one.names) - present))
    missing = [one for one in near.names if one not in present]
    raise Usage(f"`{path}` fits no source of the program: `{near.name}` needs {', '.join(missing)}, and the file has "
                f"{', '.join(list(names)[:12])}")


def _parquet_names(path: Path) -> list[str]:
    try:
        return pq.read_schema(path).names
    except (pa.ArrowException, OSError) as error:
        raise Failure(f"`{path}` is no whole Parquet file: {str(error).splitlines()[0][:120]}") from None


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError as error:
        raise Failure(f"can't read `{path}`: {error.strerror}") from None


def _log_kind(path: Path, head: bytes) -> str | None:
    first = head.split(b"\n", 1)[0]
    try:
        value = json.loads(first)
    except ValueError:
        return None if first.rstrip() != b"{" else _summary(path)
    if not isinstance(value, dict):
        return None
    if "schema" in value and "kind" in value:
        return DECISIONS
    return STATS if {"app", "steps", "seconds"} <= set(value) else None


def _summary(path: Path) -> str | None:
    """A summary may be laid out over many lines."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return STATS if isinstance(value, dict) and {"app", "steps", "seconds"} <= set(value) else None
