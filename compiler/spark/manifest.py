"""What a folder of traces holds: the files that were taken in, by their content, and the parts that came of them.

The manifest is what counts: a Parquet file that it does not name is not part of the traces. It is replaced as a whole,
last, so that readers see all of an ingestion or nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dfc.compiler.failure import Failure, Usage

SCHEMA = 1
NAME, LOCK = "manifest.json", ".lock"


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of a file: its parts, and its lowest and highest event time."""

    parts: tuple[str, ...]
    rows: int
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that was taken in. `kind` is the source, or what kind of log it is."""

    path: str
    size: int
    mtime_ns: int
    digest: str
    kind: str
    form: str  # csv, jsonl, parquet, log
    pieces: tuple[Piece, ...]
    rejected: int = 0
    rejects: str | None = None

    @property
    def rows(self) -> int:
        return sum(piece.rows for piece in self.pieces)

    @property
    def parts(self) -> list[str]:
        return [part for piece in self.pieces for part in piece.parts]


@dataclass
class Manifest:
    app: str
    sources: dict[str, dict]
    entries: dict[str, Entry] = field(default_factory=dict)  # by path

    def of(self, kind: str) -> list[Entry]:
        """In the order of arrival: files by name."""
        return sorted((one for one in self.entries.values() if one.kind == kind), key=lambda one: one.path)

    @property
    def digests(self) -> dict[str, str]:
        return {one.digest: one.path for one in self.entries.values()}


def read_manifest(folder: Path) -> Manifest | None:
    """None when nothing was taken in yet."""
    try:
        data = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise Failure(f"`{folder / NAME}` can't be read; remove the folder and ingest again") from None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Failure(f"`{folder / NAME}` has another schema than {SCHEMA}, which this dfc reads; ingest again")
    try:
        entries = {path: Entry(**{**one, "path": path, "pieces": tuple(
            Piece(tuple(piece["parts"]), piece["rows"], piece["first"], piece["last"]) for piece in one["pieces"])})
            for path, one in data["files"].items()}
        return Manifest(data["app"], data["sources"], entries)
    except (KeyError, TypeError, AttributeError):
        raise Failure(f"`{folder / NAME}` can't be read; remove the folder and ingest again") from None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    files = {path: {name: value for name, value in asdict(one).items() if name != "path"}
             for path, one in sorted(manifest.entries.items())}
    data = {"schema": SCHEMA, "app": manifest.app, "sources": manifest.sources, "files": files}
    beside = folder / f".{NAME}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, ensure_ascii=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(folder / NAME)


def require_program(manifest: Manifest, app: str, sources: dict[str, dict], folder: Path) -> None:
    """Traces are of one program, whose records have not changed since."""
    if manifest.app != app:
        raise Usage(f"`{folder}` has traces of `{manifest.app}`, and this program is `{app}`; take another folder")
    changed = [name for name in manifest.sources if sources.get(name) != manifest.sources[name]
               and manifest.of(name)]
    if changed:
        raise Usage(f"source `{changed[0]}` has other columns than when `{folder}` was made; ingest into a new folder")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One ingestion at a time; the lock goes with the process."""
    with open(folder / LOCK, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Failure(f"another dfc ingest writes to `{folder}`; wait for it") from None
        yield
