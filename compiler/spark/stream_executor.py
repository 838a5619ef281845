"""What a stream runs inside the executors of Spark, beside `executor.py`: shipped with the job in the same way.

A micro-batch goes through two stages with state. One task a source reads what is new, in order, and gives every row its
place and the watermark before it; its state is how far the source has come. Rows go to slots by key. Each slot is an
instance of the program; its state is what that remembers, as bytes (dfrt/archive.h). Rows travel many in one value.
"""

from __future__ import annotations

import ctypes as c
import json
import os
import re
import tempfile
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

try:
    import dfc_executor as executor  # as it is shipped
except ImportError:
    from dfc.compiler.spark import executor

START = (0, executor.NONE, 0, executor.NONE)  # of a source: index, highest, delay, watermark
WATERMARK, REPORT, END = -1, -2, -3  # in place of an index: what a value says instead of having rows
PATTERN_SIGNS = re.compile(r"[?*\[\]{}\\]")
_PLACES = [("order", "ascending"), ("source", "ascending"), ("index", "ascending")]
_PUSHED = 1 << 16  # rows
_MOST_STATE = 1 << 30


def packed(batch: pa.RecordBatch | pa.Table) -> bytes:
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, batch.schema) as stream:
        stream.write(batch)
    return out.getvalue().to_pybytes()


def unpacked(data: bytes) -> pa.Table:
    with pa.ipc.open_stream(data) as stream:
        return stream.read_all()


# --- a source ---------------------------------------------------------------------------------------


class Reading:
    """What is new of one source, after `progress`. Gives (slot, index, value)."""

    def __init__(self, job: dict, source: int, progress: tuple[int, int, int, int]):
        self.job, self.source, self.progress = job, job["read"][source], progress
        self.number = source
        self.library = executor.library_of(job)

    def files(self, paths: list[str]) -> Iterator[tuple[int, int, bytes]]:
        for path in sorted(set(map(local_path, paths))):
            yield from self._range(f"{self.source['format']}:{path}")

    def lines(self, lines: list[str]) -> Iterator[tuple[int, int, bytes]]:
        """Read as a file is, so that every value is read and refused in the same way."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="dfc-lines-", delete=False) as file:
            file.writelines(f"{line}\n" for line in (*self.source["header"], *lines))
        try:
            yield from self._range(f"{self.source['format']}:{file.name}")
        finally:
            os.unlink(file.name)

    def watermarks(self) -> Iterator[tuple[int, int, bytes]]:
        """To all slots: also those without rows learn how far the source has come."""
        if self.progress[3] != executor.NONE:
            value = json.dumps([self.number, self.progress[3]]).encode()
            yield from ((slot, WATERMARK, value) for slot in range(self.job["slots"]))

    def _range(self, spec: str) -> Iterator[tuple[int, int, bytes]]:
        part = {"source": self.number, "spec": spec, "whole": True, "header": 0, "begin": 0, "end": 0,
                "slack": self.source["slack"], "progress": self.progress, "keys": self.source["keys"],
                "timed": self.source["timed"]}
        options, _kept = executor._options(self.job, part)
        columns, found = executor.Columns(), executor.Measure()
        handle = self.library.opened("range_open", c.byref(options))
        try:
            while self.library.call("range_rows", handle, c.byref(columns)) == executor.OK:
                if columns.count:
                    yield from self._by_slot(executor._row_batch(self.job, part, columns))
            self.library.call("range_measure", handle, c.byref(found))
            reports = self.library.table.range_reports(handle).decode(errors="replace").splitlines()
        finally:
            self.library.table.range_close(handle)
        self.progress = tuple(getattr(found.after, name) for name, _ in executor.Progress._fields_)
        if found.malformed:
            said = {"source": self.number, "reports": [line.split("\t", 1) for line in reports],
                    "malformed": found.malformed}
            yield 0, REPORT, json.dumps(said).encode()

    def _by_slot(self, batch: pa.RecordBatch) -> Iterator[tuple[int, int, bytes]]:
        slots = np.mod(batch.column("key").to_numpy(), self.job["slots"])
        first = batch.column("index")[0].as_py()
        for slot in np.unique(slots).tolist():
            yield slot, first, packed(batch.filter(pa.array(slots == slot)))


def local_path(text: str) -> str:
    """The path behind what Spark calls a file; nothing in it is encoded. A name with signs of a pattern makes Spark
    read what the pattern fits once more, so that such files are refused."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):/+", text)
    if scheme is not None and scheme[1] != "file":
        raise executor.TaskFailed(f"{text} is in no file system of this machine")
    path = text if scheme is None else f"/{text[scheme.end():]}"
    if PATTERN_SIGNS.search(path):
        raise executor.TaskFailed(f"'{path}': Spark takes a name with any of ?*[]{{}}\\ for a pattern; give the file "
                                  "another")
    return path


def numbered(batches: Iterator[pa.RecordBatch], source: int) -> Iterator[pa.RecordBatch]:
    """Lines with their places: by position in their partition first, then by partition, so that sources which deal
    their rows out to partitions in turn keep their order."""
    from pyspark import TaskContext

    part, place = TaskContext.get().partitionId(), 0
    for batch in batches:
        count = batch.num_rows
        yield pa.RecordBatch.from_arrays(
            [pa.array(np.full(count, source, np.int32)), pa.array(np.arange(place, place + count, dtype=np.int64)),
             pa.array(np.full(count, part, np.int32)), batch.column(0).cast(pa.string())],
            names=["source", "place", "part", "text"])
        place += count


def read_source(job: dict, source: int, progress: tuple | None, items: list[tuple[int, int, str]]):
    """`items` are (place, part, text). Gives the values for the slots, and in the end the progress after them."""
    reading = Reading(job, source, progress or START)
    texts = [text for _, _, text in sorted(items)]
    yield from reading.files(texts) if job["read"][source]["files"] else reading.lines(texts)
    yield from reading.watermarks()
    return reading.progress


# --- a slot -----------------------------------------------------------------------------------------


class SavedTask(executor.Task):
    """A task that goes on from bytes and becomes bytes again."""

    def __init__(self, job: dict, slot: int, state: bytes | None):
        super().__init__(job)
        self.number = slot
        if state is not None:
            try:
                self.library.call("task_load", self.handle, state, len(state))
            except executor.TaskFailed:
                self.library.table.task_close(self.handle)
                raise

    def watermark(self, source: int, time: int) -> Iterator[pa.RecordBatch]:
        self.library.call("task_watermark", self.handle, source, time)
        yield from self.results()

    def save(self) -> bytes:
        data, size = c.c_void_p(), c.c_uint64()
        self.library.call("task_save", self.handle, c.byref(data), c.byref(size))
        if size.value > _MOST_STATE:
            raise executor.TaskFailed(f"the state of a slot is {size.value >> 20} MiB, and Spark takes 1024: begin the "
                                      "stream with more slots (--workers)")
        return c.string_at(data, size.value)


def run_slot(job: dict, slot: int, state: bytes | None, items: list[tuple[int, bytes]]):
    """`items` are (index, value) as `read_source` gives them. Gives (sink, value) of the results; answers the state
    after them, b'' when the stream has ended."""
    if state == b"":
        raise executor.TaskFailed("the stream of this checkpoint has ended: take another --checkpoint")
    yield from ((executor.REPORT, value) for index, value in items if index == REPORT)
    with SavedTask(job, slot, state) as task:
        for batch in _slot_results(task, items):
            yield batch.column("sink")[0].as_py(), packed(batch)  # all of them are of one sink
        return b"" if any(index == END for index, _ in items) else task.save()


def _slot_results(task: SavedTask, items: list[tuple[int, bytes]]) -> Iterator[pa.RecordBatch]:
    parts = [unpacked(value) for index, value in items if index >= 0]
    if parts:
        rows = pa.concat_tables(parts).sort_by(_PLACES).combine_chunks()
        for batch in rows.to_batches(_PUSHED):
            yield from task.push(batch)
    for index, value in items:
        if index == WATERMARK:
            yield from task.watermark(*json.loads(value))
    if any(index == END for index, _ in items):
        yield from task.end()
