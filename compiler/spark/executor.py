"""What runs inside the executors of Spark. It is shipped with the job as a file of its own and uses nothing of dfc:
only ctypes, numpy, pyarrow, and the program's generated library, which is shipped beside it.

A job is a dict of plain values that the driver makes (`engine.py`). Rows travel as bytes in Arrow columns; what they
mean knows the library alone (dfrt/cluster.h).
"""

from __future__ import annotations

import ctypes as c
import json
import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

OK, END = 0, 1  # dfrt_status
REPORT = -1  # stands for a sink in results that are lines about malformed rows
NONE, LAST = -(1 << 63), (1 << 63) - 1
ROWS = pa.schema([("order", pa.int64()), ("source", pa.int32()), ("index", pa.int64()), ("watermark", pa.int64()),
                  ("key", pa.int64()), ("row", pa.binary())])
RESULTS = pa.schema([("sink", pa.int32()), ("order", pa.int64()), ("source", pa.int32()), ("index", pa.int64()),
                     ("task", pa.int64()), ("seq", pa.int64()), ("row", pa.binary())])
CHUNKS = pa.schema([("sink", pa.int32()), ("rows", pa.binary())])
_KEYLESS_RUN = 13  # rows of a source without keys go to tasks in runs of 2**13
_MACHINES = {3: "x86", 40: "arm", 62: "x86-64", 183: "aarch64", 243: "riscv"}


class TaskFailed(Exception):
    """The message is the one line that the user reads."""


# --- the library ------------------------------------------------------------------------------------


class Columns(c.Structure):
    _fields_ = [("count", c.c_uint64), ("offsets", c.c_void_p), ("bytes", c.c_void_p), ("order", c.c_void_p),
                ("source", c.c_void_p), ("index", c.c_void_p), ("watermark", c.c_void_p), ("key", c.c_void_p)]


class Progress(c.Structure):
    _fields_ = [(name, c.c_int64) for name in ("index", "highest", "delay", "watermark")]


class RangeOptions(c.Structure):
    _fields_ = [("source", c.c_uint32), ("spec", c.c_char_p), ("whole", c.c_bool), ("header", c.c_uint64),
                ("begin", c.c_uint64), ("end", c.c_uint64), ("slack", c.c_int64), ("progress", Progress),
                ("keys", c.POINTER(c.c_char_p)), ("key_count", c.c_uint64), ("max_row", c.c_uint64),
                ("report_limit", c.c_uint64)]


class Measure(c.Structure):
    _fields_ = [("after", Progress), ("highest", c.c_int64), ("lowest", c.c_int64), ("delay", c.c_int64),
                ("malformed", c.c_uint64), ("lines", c.c_uint64), ("quotes", c.c_bool)]


_STATUS, _HANDLE, _OUT = c.c_int, c.c_void_p, c.POINTER(c.c_void_p)
_SIGNATURES = (
    ("range_open", _STATUS, (_OUT, _HANDLE, c.POINTER(RangeOptions), c.c_char_p)),
    ("range_measure", _STATUS, (_HANDLE, c.POINTER(Measure), c.c_char_p)),
    ("range_rows", _STATUS, (_HANDLE, c.POINTER(Columns), c.c_char_p)),
    ("range_reports", c.c_char_p, (_HANDLE,)),
    ("range_close", None, (_HANDLE,)),
    ("task_open", _STATUS, (_OUT, _HANDLE, c.c_char_p)),
    ("task_set_alternate", _STATUS, (_HANDLE, c.c_char_p, c.c_char_p)),
    ("task_push", _STATUS, (_HANDLE, c.POINTER(Columns), c.c_char_p)),
    ("task_add_file", _STATUS, (_HANDLE, c.c_uint32, c.c_char_p, c.c_uint64, c.c_uint64, c.c_char_p)),
    ("task_read", _STATUS, (_HANDLE, c.c_char_p)),
    ("task_reports", c.c_char_p, (_HANDLE,)),
    ("task_malformed", c.c_uint64, (_HANDLE, c.c_uint32)),
    ("task_end", _STATUS, (_HANDLE, c.c_char_p)),
    ("task_watermark", _STATUS, (_HANDLE, c.c_uint32, c.c_int64, c.c_char_p)),
    ("task_save", _STATUS, (_HANDLE, c.POINTER(c.c_void_p), c.POINTER(c.c_uint64), c.c_char_p)),
    ("task_load", _STATUS, (_HANDLE, c.c_char_p, c.c_uint64, c.c_char_p)),
    ("task_results", _STATUS, (_HANDLE, c.c_uint32, c.POINTER(Columns), c.c_char_p)),
    ("task_close", None, (_HANDLE,)),
    ("writer_open", _STATUS, (_OUT, _HANDLE, c.c_uint32, c.c_char_p, c.c_char_p)),
    ("writer_rows", _STATUS, (_HANDLE, c.POINTER(Columns), c.c_char_p)),
    ("writer_close", _STATUS, (_HANDLE, c.c_char_p)),
)


class Cluster(c.Structure):
    _fields_ = [("version", c.c_uint32),
                *((name, c.CFUNCTYPE(result, *words)) for name, result, words in _SIGNATURES)]


class Library:
    """The functions of dfrt/cluster.h; those that can fail raise TaskFailed."""

    def __init__(self, path: str, function: str):
        self.loaded = c.CDLL(path)
        program, functions = c.c_void_p(), c.POINTER(Cluster)()
        getattr(self.loaded, function)(c.byref(program), c.byref(functions))
        self.program, self.table, self.error = program, functions.contents, c.create_string_buffer(512)

    def call(self, name: str, *words: object) -> int:
        """OK or END; anything else is a failure with its line."""
        status = getattr(self.table, name)(*words, self.error)
        if status not in (OK, END):
            raise TaskFailed(self.error.value.decode(errors="replace"))
        return status

    def opened(self, name: str, *words: object) -> c.c_void_p:
        handle = c.c_void_p()
        self.call(name, c.byref(handle), self.program, *words)
        return handle


_open: dict[str, Library] = {}


def library_of(job: dict) -> Library:
    """Opened once in a process; one that was built for another machine is refused before it can crash."""
    path = _shipped(job["library"])
    if path not in _open:
        require_fitting(path, job["cpu"])
        _open[path] = Library(path, job["function"])
    return _open[path]


def _shipped(name: str) -> str:
    from pyspark import SparkFiles

    return SparkFiles.get(name)


def require_fitting(path: str, cpu: list[str], own: str = "/proc/self/exe", about: str = "/proc/cpuinfo") -> None:
    """Raises TaskFailed unless the library is for this machine and its processor has all the library may use."""
    built, here = _machine(path), _machine(own)
    if built != here:
        raise TaskFailed(f"the program was built for {built}, but an executor is {here}: run dfc on a machine of the "
                         "executors' kind")
    if cpu:
        with open(about, encoding="ascii", errors="replace") as file:
            has = set(file.read().split())
        missing = [flag for flag in cpu if flag not in has]
        if missing:
            raise TaskFailed(f"the program was built for a processor with {missing[0]}, which an executor's does not "
                             "have: run dfc with --target portable")


def _machine(path: str) -> str:
    """The architecture of an ELF file, and how wide it is."""
    with open(path, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF":
        raise TaskFailed(f"{path} is no library of this kind of machine")
    number = struct.unpack("<H" if head[5] == 1 else ">H", head[18:20])[0]
    return f"{_MACHINES.get(number, f'machine {number}')} ({32 * head[4]} bit)"


# --- Arrow ------------------------------------------------------------------------------------------


def _numbers(address: int | None, count: int, type_: pa.DataType) -> pa.Array:
    data = c.string_at(address, count * type_.bit_width // 8) if count else b""
    return pa.Array.from_buffers(type_, count, [None, pa.py_buffer(data)])


def _bytes(columns: Columns) -> pa.Array:
    count = columns.count
    if not count:
        return pa.array([], pa.binary())
    offsets = c.string_at(columns.offsets, 4 * (count + 1))
    size = struct.unpack("=i", offsets[-4:])[0]
    data = c.string_at(columns.bytes, size) if size else b""
    return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _address(array: pa.Array, buffer: int = 1) -> int:
    found = array.buffers()[buffer]
    width = 32 if pa.types.is_binary(array.type) else array.type.bit_width
    return (found.address if found is not None else 0) + (array.offset * width // 8 if buffer == 1 else 0)


def columns_of(batch: pa.RecordBatch | pa.Table) -> tuple[Columns, list]:
    """A batch as C reads it, and what must live as long."""
    columns, kept = Columns(count=batch.num_rows), []
    for name in ("order", "source", "index", "watermark", "key", "row"):
        if name not in batch.schema.names:
            continue
        array = batch.column(batch.schema.names.index(name))
        if name == "row":
            array = array if array.type == pa.binary() else array.cast(pa.binary())
            columns.offsets, columns.bytes = _address(array), _address(array, 2)
        else:
            setattr(columns, name, _address(array))
        kept.append(array)
    return columns, kept


# --- ranges -----------------------------------------------------------------------------------------


def _options(job: dict, part: dict) -> tuple[RangeOptions, list]:
    keys = [name.encode() for name in part["keys"]]
    held = (c.c_char_p * (len(keys) + 1))(*keys)
    options = RangeOptions(part["source"], part["spec"].encode(), part["whole"], part["header"], part["begin"],
                           part["end"], part["slack"], Progress(*part["progress"]), held, len(keys), job["max_row"],
                           job["report_limit"])
    return options, [keys, held]


def measure(job: dict, part: dict) -> dict:
    """What the driver must know of a range before the rows after it can have their watermarks."""
    library, found = library_of(job), Measure()
    options, _kept = _options(job, part)
    handle = library.opened("range_open", c.byref(options))
    try:
        library.call("range_measure", handle, c.byref(found))
        reports = library.table.range_reports(handle).decode(errors="replace").splitlines()
    finally:
        library.table.range_close(handle)
    after = [getattr(found.after, name) for name, _ in Progress._fields_]
    return {"after": after, "reports": [line.split("\t", 1) for line in reports],
            **{name: getattr(found, name) for name in ("highest", "lowest", "delay", "malformed", "lines", "quotes")}}


def rows(job: dict, part: dict) -> Iterator[pa.RecordBatch]:
    """The rows of a range, each with its place, its watermark and its key."""
    library, columns = library_of(job), Columns()
    options, _kept = _options(job, part)
    handle = library.opened("range_open", c.byref(options))
    try:
        while library.call("range_rows", handle, c.byref(columns)) == OK:
            if columns.count:
                yield _row_batch(job, part, columns)
    finally:
        library.table.range_close(handle)


def _row_batch(job: dict, part: dict, columns: Columns) -> pa.RecordBatch:
    count, whole = columns.count, pa.int64()
    index, watermark = _numbers(columns.index, count, whole), _numbers(columns.watermark, count, whole)
    key = _numbers(columns.key, count, whole) if part["keys"] else pc.shift_right(index, _KEYLESS_RUN)
    order = {"watermark": lambda: watermark, "index": lambda: index,
             "turn": lambda: pc.add(pc.multiply(index, 2), int(part["timed"]))}[job["order"]]()
    source = _numbers(columns.source, count, pa.int32())
    return pa.RecordBatch.from_arrays([order, source, index, watermark, key, _bytes(columns)], schema=ROWS)


# --- tasks ------------------------------------------------------------------------------------------


class Task:
    """An instance of the program, and its results as batches."""

    def __init__(self, job: dict):
        self.job, self.library, self.number, self.seq = job, library_of(job), _task_number(), 0
        self.handle = self.library.opened("task_open")
        for operator, alternate in job["alternates"]:
            if self.library.table.task_set_alternate(self.handle, operator.encode(), alternate.encode()) != OK:
                raise TaskFailed(f"there is no alternate '{alternate}' of '{operator}'")

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *failure: object) -> None:
        self.library.table.task_close(self.handle)

    def push(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        columns, _kept = columns_of(batch)
        self.library.call("task_push", self.handle, c.byref(columns))
        yield from self.results()

    def end(self) -> Iterator[pa.RecordBatch]:
        self.library.call("task_end", self.handle)
        yield from self.results()

    def read_files(self) -> Iterator[pa.RecordBatch]:
        """All sources to their ends, in the order in which the program itself reads them."""
        for source, spec in self.job["files"]:
            self.library.call("task_add_file", self.handle, source, spec.encode(), self.job["max_row"],
                              self.job["report_limit"])
        status = OK
        while status == OK:
            status = self.library.call("task_read", self.handle)
            yield from self.results()
        yield from self.end()
        yield self._report()

    def results(self) -> Iterator[pa.RecordBatch]:
        columns = Columns()
        for sink in range(self.job["sinks"]):
            self.library.call("task_results", self.handle, sink, c.byref(columns))
            if columns.count:
                yield self._result_batch(sink, columns)

    def _result_batch(self, sink: int, columns: Columns) -> pa.RecordBatch:
        count, whole = columns.count, pa.int64()
        first, self.seq = self.seq, self.seq + count
        return pa.RecordBatch.from_arrays([
            pa.array(np.full(count, sink, np.int32)), _numbers(columns.order, count, whole),
            _numbers(columns.source, count, pa.int32()), _numbers(columns.index, count, whole),
            pa.array(np.full(count, self.number, np.int64)), pa.array(np.arange(first, first + count, dtype=np.int64)),
            _bytes(columns),
        ], schema=RESULTS)

    def _report(self) -> pa.RecordBatch:
        lines = self.library.table.task_reports(self.handle).decode(errors="replace").splitlines()
        counts = [self.library.table.task_malformed(self.handle, source) for source in range(self.job["sources"])]
        text = json.dumps({"reports": [line.split("\t", 2) for line in lines], "malformed": counts}).encode()
        return pa.RecordBatch.from_pylist([{"sink": REPORT, "order": LAST, "source": 0, "index": 0, "task": self.number,
                                            "seq": self.seq, "row": text}], schema=RESULTS)


def _task_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.partitionId() if context is not None else 0


def run_rows(job: dict, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The program over rows in order. Without rows there is nothing to do: their windows are elsewhere."""
    with Task(job) as task:
        for batch in batches:
            yield from task.push(batch)
        yield from task.end()


def run_range(job: dict, part: dict) -> Iterator[pa.RecordBatch]:
    return run_rows(job, rows(job, part))


def run_stretch(job: dict, stretch: dict) -> Iterator[pa.RecordBatch]:
    """The program over rows of which the first only fill its windows: what they release is another stretch's, and so is
    what the end releases, but for the last one."""
    given = (_from(batch, stretch["start"]) for part in stretch["parts"] for batch in rows(job, part))
    for results in run_rows(job, given):
        index = results.column("index")
        own = pc.greater_equal(index, stretch["begin"])
        if not stretch["last"]:
            own = pc.and_(own, pc.less(index, LAST))
        kept = results.filter(own)
        if kept.num_rows:
            yield kept


def _from(batch: pa.RecordBatch, start: int) -> pa.RecordBatch:
    first = batch.column("index")[0].as_py()
    return batch.slice(min(max(0, start - first), batch.num_rows))


def run_files(job: dict) -> Iterator[pa.RecordBatch]:
    with Task(job) as task:
        yield from task.read_files()


def chunks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Results of one sink after the other, many rows in one value, so that the driver has little to unpack."""
    for batch in batches:
        for sink in pc.unique(batch.column(0)).to_pylist():
            mine = batch.filter(pc.equal(batch.column(0), sink)).select(["row"])
            out = pa.BufferOutputStream()
            with pa.ipc.new_stream(out, mine.schema) as stream:
                stream.write_batch(mine)
            yield pa.RecordBatch.from_arrays([pa.array([sink], pa.int32()), pa.array([out.getvalue().to_pybytes()],
                                                                                     pa.binary())], schema=CHUNKS)
