"""One run of a program: fed batch by batch, asked for results, drained."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import numpy as np

from ..artifacts.interface import Interface
from .columns import BadData, Intake
from .layout import record_dtype
from .library import AGAIN, END, OK, Library
from .rows import Rows, make_rows

Clock = tuple[int, int]  # processing time of the first tuple, and from one to the next, in nanoseconds
_NO_MORE = object()  # None may be among what a caller gives, and is refused like anything else that is no batch


class RunFailed(RuntimeError):
    """The run can't go on; the message is the program's own."""


class Stream:
    """A running instance. A context manager: leaving it frees everything. Calls from several threads take turns."""

    def __init__(self, library: Library, interface: Interface, intakes: Mapping[str, Intake], workers: int,
                 clock: Clock | None = None):
        self._library, self._interface, self._intakes = library, interface, intakes
        self._lock, self._ended = threading.RLock(), False
        ffi = library.ffi
        out, error = ffi.new("dfrt_embed **"), ffi.new("dfrt_error *")
        options = ffi.new(f"{interface.function('options')} *", {"workers": workers, "collect": True, **_given(clock)})
        if library.function("create")(out, options, error) != OK:
            raise RunFailed(ffi.string(error.text).decode(errors="replace"))
        self._instance = ffi.gc(out[0], library.function("destroy"))

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *failure) -> None:
        self.close()

    def close(self) -> None:
        """Drops what has not been drained. May be called twice."""
        with self._lock:
            if self._instance is not None:
                self._library.ffi.release(self._instance)
                self._instance = None

    def push(self, sources: Mapping[str, object] | None = None, /, **named: object) -> None:
        """Feeds a batch to each source named, one after the other; arrays, mappings of columns, Arrow."""
        for name, data in merged(sources, named).items():
            if name not in self._intakes:
                raise BadData(f"there is no source `{name}`; expected {', '.join(self._intakes)}")
            for batch in one_by_one(data):
                self._push(name, self._intakes[name].records(batch))

    def push_at(self, source: str, batch: object, watermarks: object) -> None:
        """Feeds a part of a longer stream: before each tuple the watermark of its source is at least the one given
        with it, in units of the event time. `batch` is an array, a mapping of columns or an Arrow record batch."""
        if source not in self._intakes:
            raise BadData(f"there is no source `{source}`; expected {', '.join(self._intakes)}")
        parts = [self._intakes[source].records(part) for part in one_by_one(batch)]
        given = np.ascontiguousarray(watermarks, dtype=np.int64)
        if given.shape != (sum(map(len, parts)),):
            raise BadData(f"source `{source}`: expected a watermark for each of {sum(map(len, parts))} tuples, "
                          f"got {len(given)}")
        for records in parts:
            self._push(source, records, given[:len(records)])
            given = given[len(records):]

    def _push(self, name: str, records: np.ndarray, watermarks: np.ndarray | None = None) -> None:
        ffi = self._library.ffi
        place = ffi.cast(f"const {self._intakes[name].port.struct} *", records.ctypes.data)
        with self._lock:
            if watermarks is None:
                self._require(self._library.function(f"push.{name}")(self._open(), place, len(records)))
            else:
                given = ffi.cast("const int64_t *", watermarks.ctypes.data)
                self._require(self._library.function(f"part.{name}")(self._open(), place, given, len(records)))

    def poll(self) -> dict[str, Rows]:
        """Hands on what was pushed, and answers what has come out since the last call."""
        with self._lock:
            self._require(self._library.function("poll")(self._open()))
            return self.take()

    def drain(self) -> dict[str, Rows]:
        """Ends the sources and answers all that is left."""
        with self._lock:
            self._require(self._library.function("drain")(self._open()))
            self._ended = True
            return self.take()

    def take(self) -> dict[str, Rows]:
        """What has come out since the last call."""
        with self._lock:
            return {sink.name: self._take(number) for number, sink in enumerate(self._interface.sinks)}

    def set_alternate(self, operator: str, alternate: str) -> None:
        """Takes effect at the operator's next result."""
        if self._library.function("set_alternate")(self._open(), operator.encode(), alternate.encode()) != OK:
            known = ", ".join(f"{step}: {' or '.join(names)}" for step, names in self._interface.alternates) or "none"
            raise BadData(f"there is no alternate `{alternate}` of `{operator}`; expected {known}")

    def counts(self, step: str) -> dict[str, int]:
        """After drain: how many tuples a step put out, refused as late, computed with a fault."""
        counts = self._library.ffi.new("dfrt_embed_counts *")
        with self._lock:
            self._require(self._library.function("count")(self._open(), step.encode(), counts))
        return {"out": counts.out, "late": counts.late, "faults": counts.faults}

    def feed(self, inputs: Mapping[str, Iterator[object]]) -> Iterator[None]:
        """Takes batches from the iterators in the order in which the program reads files. Yields when it needs more."""
        ffi, names = self._library.ffi, list(self._intakes)
        entries, kept = ffi.new("dfrt_embed_input[]", len(names)), [None] * len(names)
        while True:
            for at, name in enumerate(names):
                if entries[at].at == entries[at].count and not entries[at].ended:
                    kept[at] = self._next(name, inputs[name], entries[at])
            with self._lock:
                status = self._library.function("merge")(self._open(), entries)
                self._require(OK if status in (AGAIN, END) else status)
            if status == END:
                return
            yield

    def _next(self, name: str, batches: Iterator[object], entry) -> np.ndarray | None:
        """The next batch of a source, entered; None when there is none. The caller keeps it while it is used."""
        batch = next(batches, _NO_MORE)
        if batch is _NO_MORE:
            entry.ended = True
            return None
        records = self._intakes[name].records(batch)
        entry.records = self._library.ffi.cast("const void *", records.ctypes.data)
        entry.count, entry.at = len(records), 0
        return records

    def _take(self, number: int) -> Rows:
        ffi, sink = self._library.ffi, self._interface.sinks[number]
        dtype, count = record_dtype(sink, ffi), ffi.new("size_t *")
        room = self._library.function("take")(self._open(), number, count)
        if not count[0]:
            self._library.free(room)
            return make_rows(np.empty(0, dtype), self._library, sink.record)
        owned = ffi.gc(room, self._library.free)  # the array keeps the buffer, the buffer keeps this
        array = np.frombuffer(ffi.buffer(owned, count[0] * dtype.itemsize), dtype)
        return make_rows(array, self._library, sink.record)

    def _open(self):
        if self._instance is None:
            raise RunFailed("the stream has been closed")
        return self._instance

    def _require(self, status: int) -> None:
        if status != OK:
            text = self._library.function("error")(self._instance)
            raise RunFailed(self._library.ffi.string(text).decode(errors="replace"))


def _given(clock: Clock | None) -> dict[str, object]:
    """The clock as options of the program."""
    if clock is None:
        return {}
    times = clock if isinstance(clock, tuple) and len(clock) == 2 else (None, None)
    start, step = times
    if not all(isinstance(time, int) and -2**63 <= time < 2**63 for time in times) or step < 0:
        raise BadData(f"clock: expected (start, step) in nanoseconds, with a step that is not negative, got {clock!r}")
    return {"given_clock": True, "clock_start": start, "clock_step": step}


def merged(sources: Mapping[str, object] | None, named: Mapping[str, object]) -> dict[str, object]:
    """Sources in a mapping, which may have any name, and those given as keywords."""
    if not isinstance(sources, Mapping | None):
        raise BadData(f"expected a mapping of sources, or each by its name, got {type(sources).__qualname__}")
    twice = [name for name in sources or {} if name in named]
    if twice:
        raise BadData(f"source `{twice[0]}` is given twice")
    return {**(sources or {}), **named}


def one_by_one(data: object) -> Iterator[object]:
    """Anything that `run` takes for a source, as batches."""
    from .arrow import batches, is_arrow

    if is_arrow(data):
        yield from batches(data)
    elif isinstance(data, np.ndarray | Mapping | str | bytes) or hasattr(data, "keys") or not hasattr(data, "__iter__"):
        yield data
    else:
        for part in data:
            yield from one_by_one(part)
