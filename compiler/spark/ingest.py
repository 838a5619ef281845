"""Event files and logs become typed Parquet, a folder a source, by date and hour of event time.

    look (which file is what, which are new) → divide (into blocks, with their first lines) → take (in the executors,
    into a staging folder) → move (into place) → the manifest, which makes it so
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from dfc.compiler.failure import Failure, Usage
from dfc.dsl import typed

from .inputs import DECISIONS, Input, input_files, recognized
from .logs import decision_rows, summary_rows
from .manifest import Entry, Manifest, Piece, locked, read_manifest, require_program, write_manifest
from .parts import Block, Taken, take_all
from .schema import SourceColumns, sources_of
from .session import in_partitions
from .shipping import ship_dfc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = 32 << 20  # bytes of a file that one task reads
QUARANTINE, LOGS, STAGING = "quarantine", "logs", ".staging"


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one call."""

    entries: tuple[Entry, ...]
    known: int  # files that had been taken in before
    reasons: Mapping[str, str]  # path → why its first bad row is none

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.entries)

    @property
    def rejected(self) -> int:
        return sum(one.rejected for one in self.entries)


@dataclass(frozen=True, slots=True)
class Looked:
    """A block of a file as the first pass saw it."""

    lines: int
    quotes: bool
    digest: bytes


def ingest(spark: SparkSession, program: typed.Program, words: Sequence[str], folder: Path,
           said: Sequence[tuple[str, str]] = (), quarantine: Path | None = None) -> Ingested:
    """`said`: sources that the user named, with patterns of file names. Nothing is changed when it fails."""
    sources = sources_of(program)
    unknown = [name for name, _ in said if name not in sources]
    if unknown:
        raise Usage(f"the program has no source `{unknown[0]}`; there is {', '.join(sources)}")
    inputs = [recognized(path, sources, said) for path in input_files(words)]
    ship_dfc(spark)
    described = {name: one.described() for name, one in sources.items()}
    with _folder(folder), locked(folder):
        manifest = read_manifest(folder) or Manifest(program.name, described)
        require_program(manifest, program.name, described, folder)
        _remove_leftovers(folder, manifest)
        new, known = _new_ones(spark, inputs, manifest)
        rejects = quarantine or folder / QUARANTINE
        with _staged(folder) as staging, _staged(rejects) as bad:
            work = Work(program.name, sources, folder, staging, rejects, bad)
            with _undone(work.moved):
                found = _taken_in(spark, new, work)
                entries = [entry for entry, _ in found]
                replaced = [manifest.entries[one.path] for one in entries if one.path in manifest.entries]
                manifest.entries |= {one.path: one for one in entries}
                manifest.sources = described
                write_manifest(folder, manifest)
            for old in replaced:
                _remove_parts(folder, old, manifest)
    return Ingested(tuple(entries), known, {entry.path: reason for entry, reason in found if reason})


@dataclass(frozen=True, slots=True)
class Work:
    """Where everything of one ingestion is."""

    app: str
    sources: Mapping[str, SourceColumns]
    folder: Path
    staging: Path
    rejects: Path
    staged_rejects: Path
    moved: list[Path] = field(default_factory=list)  # what is in place, and goes again when the rest fails

    def move(self, staged: Path, place: Path) -> str:
        """Its name within the folder, if it is in there."""
        place.parent.mkdir(parents=True, exist_ok=True)
        staged.replace(place)
        self.moved.append(place)
        return str(place.relative_to(self.folder) if place.is_relative_to(self.folder) else place)


# --- which are new ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class New:
    input: Input
    size: int
    mtime_ns: int
    digest: str
    looked: tuple[Looked, ...]


def _new_ones(spark: SparkSession, inputs: Iterable[Input], manifest: Manifest) -> tuple[list[New], int]:
    """Size and time tell most of what is known, the content the rest."""
    doubtful, known = [], 0
    for one in inputs:
        status, entry = one.path.stat(), manifest.entries.get(str(one.path))
        if entry and (entry.size, entry.mtime_ns, entry.kind) == (status.st_size, status.st_mtime_ns, one.kind):
            known += 1
        else:
            doubtful.append((one, status.st_size, status.st_mtime_ns))
    digests, new = manifest.digests, []
    for (one, size, time), looked in zip(doubtful, _look(spark, doubtful), strict=True):
        digest = hashlib.blake2b(b"".join(part.digest for part in looked), digest_size=16).hexdigest()
        if digest in digests:
            known += 1
            continue
        digests[digest] = str(one.path)
        new.append(New(one, size, time, digest, tuple(looked)))
    return new, known


def _look(spark: SparkSession, files: Sequence[tuple[Input, int, int]]) -> list[list[Looked]]:
    """Lines, quotes and digest of every block of every file."""
    pieces = [(number, str(one.path), begin, BLOCK) for number, (one, size, _) in enumerate(files)
              for begin in range(0, max(size, 1), BLOCK)]
    found: list[list[Looked]] = [[] for _ in files]
    for (number, *_), one in zip(pieces, in_partitions(spark, pieces, len(pieces), _look_at_all), strict=True):
        if isinstance(one, str):
            raise Failure(one)
        found[number].append(one)
    return found


def _look_at_all(pieces: Iterable[tuple[int, str, int, int]]) -> Iterable[Looked | str]:
    return map(_look_at, pieces)


def _look_at(piece: tuple[int, str, int, int]) -> Looked | str:
    _, path, begin, size = piece
    try:
        with open(path, "rb") as file:
            file.seek(begin)
            data = file.read(size)
    except OSError as error:
        return f"can't read `{path}`: {error.strerror}"
    return Looked(data.count(b"\n"), b'"' in data, hashlib.blake2b(data, digest_size=16).digest())


# --- blocks -----------------------------------------------------------------------------------------


def _blocks_of(new: New, work: Work, number: int) -> list[Block]:
    """A file with quotes, and Parquet, is one piece of work; others are cut behind newlines."""
    one = new.input
    place = work.staging / one.kind / new.digest
    base = Block(number, str(one.path), one.form, one.begin, new.size, one.line, True, one.names,
                 work.sources[one.kind], str(place), str(work.staged_rejects))
    if one.form == "parquet" or (one.form == "csv" and any(part.quotes for part in new.looked)):
        return [base]
    blocks, line, begin = [], one.line, one.begin
    with one.path.open("rb") as file:
        for end in range(BLOCK, new.size + BLOCK, BLOCK):
            cut = _behind_newline(file, min(end, new.size), new.size)
            if cut > begin:
                blocks.append(replace(base, number=number + len(blocks), begin=begin, end=cut, line=line, whole=False))
                line += _lines_before(file, new, cut) - _lines_before(file, new, begin)
                begin = cut
    return blocks


def _behind_newline(file, at: int, size: int) -> int:
    file.seek(at)
    while at < size:
        data = file.read(1 << 16)
        found = data.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(data)
    return size


def _lines_before(file, new: New, at: int) -> int:
    """Newlines before a byte: those of whole blocks were counted."""
    whole = at // BLOCK
    file.seek(whole * BLOCK)
    return sum(one.lines for one in new.looked[:whole]) + file.read(at - whole * BLOCK).count(b"\n")


# --- taking in --------------------------------------------------------------------------------------


def _taken_in(spark: SparkSession, new: Sequence[New], work: Work) -> list[tuple[Entry, str | None]]:
    """All files, with the reason of the first bad row of each. Their parts are in place when it returns."""
    blocks: list[Block] = []
    of_file: dict[int, list[int]] = {}
    for place, one in enumerate(new):
        if one.input.form != "log":
            mine = _blocks_of(one, work, len(blocks))
            of_file[place] = [block.number for block in mine]
            blocks += mine
    taken = in_partitions(spark, blocks, len(blocks), take_all)
    for one in (one for all_ in taken for one in all_):
        if one.error:
            raise Failure(f"{one.error}; nothing was taken in")
    try:
        return [_log_entry(one, work) if place not in of_file else
                _entry(one, [part for number in of_file[place] for part in taken[number]], work)
                for place, one in enumerate(new)]
    except OSError as error:
        place = error.filename or work.folder
        raise Failure(f"can't write `{place}`: {error.strerror}; nothing was taken in") from None


def _entry(new: New, taken: Sequence[Taken], work: Work) -> tuple[Entry, str | None]:
    kind = new.input.kind
    staged, target = work.staging / kind / new.digest, work.folder / kind
    pieces = []
    for one in taken:
        parts = []
        for part in one.parts:
            inside = Path(part.path)
            parts.append(work.move(staged / inside, target / inside.parent / f"{new.digest}-{inside.name}"))
        if one.rows:
            pieces.append(Piece(tuple(parts), one.rows, one.first, one.last))
    whole = _put_together([one.rejects for one in taken if one.rejects])
    rejects = whole and work.move(whole, work.rejects / kind / f"{new.digest}.jsonl")
    entry = Entry(str(new.input.path), new.size, new.mtime_ns, new.digest, kind, new.input.form, tuple(pieces),
                  sum(one.rejected for one in taken), rejects)
    return entry, next((one.reason for one in taken if one.reason), None)


def _put_together(files: Sequence[str]) -> Path | None:
    """One file of bad rows for each file."""
    if not files:
        return None
    whole = Path(files[0]).with_suffix(".whole")
    with whole.open("wb") as file:
        for one in files:
            with open(one, "rb") as part:
                shutil.copyfileobj(part, file)
        file.flush()
        os.fsync(file.fileno())
    return whole


def _log_entry(new: New, work: Work) -> tuple[Entry, str | None]:
    one = new.input
    rows = decision_rows if one.kind == DECISIONS else summary_rows
    table, unread = rows(one.path, work.app)
    staged = work.staging / f"{new.digest}.parquet"
    pq.write_table(table, staged)
    piece = Piece((work.move(staged, work.folder / LOGS / staged.name),), table.num_rows, None, None)
    return (Entry(str(one.path), new.size, new.mtime_ns, new.digest, one.kind, "log", (piece,), unread),
            "lines that are cut off or no part of a log" if unread else None)


# --- the folder -------------------------------------------------------------------------------------


@contextmanager
def _folder(folder: Path):
    """Made when it is not there, and taken away again when nothing came into it."""
    fresh = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"can't write `{folder}`: {error.strerror}") from None
    try:
        yield
    except BaseException:
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _staged(folder: Path):
    """A place beside what is whole, on the same disk; gone afterwards."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix=f"{STAGING}-", dir=folder))
    except OSError as error:
        raise Failure(f"can't write `{folder}`: {error.strerror}; nothing was taken in") from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        if not any(folder.iterdir()):
            folder.rmdir()


@contextmanager
def _undone(moved: Sequence[Path]):
    """What was moved into place goes again when the manifest will not name it."""
    try:
        yield
    except BaseException:
        for place in moved:
            place.unlink(missing_ok=True)
        raise


def _remove_leftovers(folder: Path, manifest: Manifest) -> None:
    """What an interrupted ingestion left: staging folders, and parts that the manifest does not name."""
    for place in [*folder.glob(f"{STAGING}-*"), *(folder / QUARANTINE).glob(f"{STAGING}-*")]:
        shutil.rmtree(place, ignore_errors=True)
    named = {part for entry in manifest.entries.values() for part in entry.parts}
    for name in [*manifest.sources, LOGS]:
        for part in (folder / name).rglob("*.parquet"):
            if str(part.relative_to(folder)) not in named:
                part.unlink(missing_ok=True)


def _remove_parts(folder: Path, old: Entry, manifest: Manifest) -> None:
    named = {part for entry in manifest.entries.values() for part in entry.parts}
    for part in old.parts:
        if part not in named:
            (folder / part).unlink(missing_ok=True)
    if old.rejects and old.rejects not in {entry.rejects for entry in manifest.entries.values()}:
        (folder / old.rejects).unlink(missing_ok=True)
