"""`dfc run --engine spark`: the program over its files on Spark. The generated library does the work in the executors;
this file says which rows go where, in which order, and writes what comes back.

1. Ranges of the files are measured: how many rows, how far event time comes (`ranges.py`).
2. They are read again. Each row gets its place in the order of arrival and the watermark before it, and goes to the
   task of its key (`placement.py`); a task runs the whole program on its rows, in order.
3. Results come back with the place of the row that released them, are sorted by it, and written (`outputs.py`).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dfc.compiler.failure import Failure
from dfc.dsl import typed

from ..artifacts.graph import Graph
from ..artifacts.interface import Interface
from ..codegen.connectors import connector_spec
from . import executor
from .outputs import Outputs, sinks_of
from .placement import KEYS, ONE, Placement, place
from .progress import shown_progress
from .ranges import RANGE_BYTES, Range, SourceInput, files_of, measured, stretches
from .session import first_line
from .shared_files import require_own_files
from .shipping import ship
from .words import Words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MODULE = "dfc_executor"
_ROWS = "order long, source int, index long, watermark long, key long, row binary"
_RESULTS = "sink int, order long, source int, index long, task long, seq long, row binary"
_CHUNKS = "sink int, rows binary"
_FAILED = re.compile(r"TaskFailed: (.*)")
# What -march=native may use, as /proc/cpuinfo calls it.
_FLAGS = re.compile(r"(avx\w*|bmi[12]|fma|f16c|movbe|popcnt|abm|sse4_[12a]|ssse3|aes|pclmulqdq|sha_ni|adx|vaes|gfni)\b")


@dataclass(frozen=True)
class Program:
    """A program that is built for the executors."""

    graph: Graph
    interface: Interface
    library: Path
    native: bool  # for the processor of this machine

    @property
    def function(self) -> str:
        return self.interface.function("cluster")


def run(program: Program, words: Words, spark: SparkSession, tasks: int | None = None,
        range_bytes: int = RANGE_BYTES) -> None:
    """Raises Failure with one line when the run can't go on; then no sink has been touched."""
    warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")  # about a pandas that is not used here
    found = place(program.graph)
    sinks, sources = sinks_of(program.graph, words.sinks), _sources(program.graph, found, words.sources)
    library = executor.Library(str(program.library), program.function)
    with Outputs(library, list(sinks), list(sinks.values())) as outputs, shipped(program, spark) as name, \
            shown_progress(spark):
        try:
            _Run(spark, _job(program, found, words, sources, name), sources, outputs, tasks, range_bytes).go(found)
        except Failure:
            raise
        except Exception as error:
            raise (KeyboardInterrupt() if was_interrupted(error) else failure_of(error)) from None
        outputs.done()


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: tidying up goes wrong, too, once the connection to the JVM is cut."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or was_interrupted(error.__context__))


def require_inputs(program: Program, words: Words) -> None:
    """Says what is missing, or has two uses, before Spark is started."""
    sources = _sources(program.graph, place(program.graph), words.sources)
    require_own_files(program.graph, {one.name: one.files for one in sources}, sinks_of(program.graph, words.sinks))


def failure_of(error: Exception) -> Exception:
    """What an executor said in one line, out of the many that Spark makes of it."""
    told = _FAILED.findall(str(error))
    if told:
        return Failure(told[-1].strip())
    module = type(error).__module__
    return Failure(f"Spark: {first_line(error)}") if module.startswith(("pyspark", "py4j")) else error


def _sources(graph: Graph, found: Placement, said: Mapping[str, str]) -> list[SourceInput]:
    steps = [step for step in graph.steps if isinstance(step.body, typed.Source)]
    return [_source(step, number, found, said) for number, step in enumerate(steps)]


def _source(step: typed.Step, number: int, found: Placement, said: Mapping[str, str]) -> SourceInput:
    files = files_of(step.name, said.get(step.name, connector_spec(step.body.connector)))
    slack = -1 if step.body.slack is None else step.body.slack
    return SourceInput(step.name, number, files, step.body.event_time is not None, slack, found.keys.get(step.name, ()),
                       step.body.slack_from)


def _job(program: Program, found: Placement, words: Words, sources: Sequence[SourceInput], library: str) -> dict:
    """What every task gets."""
    return {"library": library, "function": program.function, "cpu": cpu_flags() if program.native else [],
            "order": found.order, "alternates": words.alternates, "max_row": words.max_row,
            "report_limit": words.report_limit, "sources": len(sources), "sinks": len(program.interface.sinks),
            "files": [(source.number, spec) for source in sources for spec in source.files]}


def cpu_flags() -> list[str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return sorted(flag for flag in (flags[1].split() if flags else ()) if _FLAGS.fullmatch(flag))


class shipped:
    """The library and the modules go to every executor, under names that no other program of the session has."""

    def __init__(self, program: Program, spark: SparkSession, more: Mapping[str, str] | None = None):
        self.program, self.spark = program, spark
        self.modules = {_MODULE: executor.__file__, **(more or {})}  # names there, and the files they are here

    def __enter__(self) -> str:
        name = f"{hashlib.sha256(self.program.library.read_bytes()).hexdigest()[:16]}.so"
        ship(self.spark, name, partial(shutil.copyfile, self.program.library))
        for module, file in self.modules.items():
            ship(self.spark, f"{module}.py", partial(shutil.copyfile, file), python=True)
        return name

    def __exit__(self, *failure: object) -> None:
        """What was shipped stays as long as the session."""


@dataclass
class _Run:
    spark: SparkSession
    job: dict
    sources: list[SourceInput]
    outputs: Outputs
    tasks: int | None
    range_bytes: int

    def go(self, found: Placement) -> None:
        if found.mode == ONE:
            self._write(self._one_task())
            return
        ranges = [one for source in self.sources for one in measured(source, self._measure, self.range_bytes)]
        for source in self.sources:
            self._report([one for one in ranges if one.source is source])
        tasks = self.tasks or self._tasks(len(ranges))
        self._write_sorted(self._divided(found, ranges, tasks), tasks)

    def _divided(self, found: Placement, ranges: list[Range], tasks: int) -> DataFrame:
        if found.mode == KEYS:
            return self._by_key(ranges, tasks)
        if found.overlap is None:
            return self._mapped([one.as_data() for one in ranges], "run_range", _RESULTS)
        count = self.tasks or self.spark.sparkContext.defaultParallelism  # few: each reads some ranges of its neighbour
        return self._mapped(stretches(ranges, count, found.overlap), "run_stretch", _RESULTS)

    def _tasks(self, ranges: int) -> int:
        return max(2, min(4 * self.spark.sparkContext.defaultParallelism, 2 * ranges))

    # The functions that go to executors are defined inside methods, so that they travel by value: the executors can
    # import the shipped module, but nothing of dfc.

    def _measure(self, ranges: list[Range]) -> list[dict]:
        job, module, context = self.job, _MODULE, self.spark.sparkContext

        def measure(part: dict) -> dict:
            import importlib

            return importlib.import_module(module).measure(job, part)

        if not ranges:
            return []
        return context.parallelize([one.as_data() for one in ranges], len(ranges)).map(measure).collect()

    def _parts(self, parts: list[dict]) -> DataFrame:
        """A row a part, each in a partition of its own."""
        texts = [(json.dumps(one),) for one in parts]
        return self.spark.createDataFrame(self.spark.sparkContext.parallelize(texts, max(1, len(texts))), "part string")

    def _mapped(self, parts: list[dict], function: str, schema: str) -> DataFrame:
        job, module = self.job, _MODULE

        def work(batches):
            import importlib
            import json

            shipped = importlib.import_module(module)
            for batch in batches:
                for text in batch.column(0).to_pylist():
                    yield from getattr(shipped, function)(job, json.loads(text))

        return self._parts(parts).mapInArrow(work, schema)

    def _by_key(self, ranges: list[Range], tasks: int) -> DataFrame:
        job, module = self.job, _MODULE

        def work(batches):
            import importlib

            return importlib.import_module(module).run_rows(job, batches)

        rows = self._mapped([one.as_data() for one in ranges], "rows", _ROWS).repartition(tasks, "key")
        return rows.sortWithinPartitions("order", "source", "index").mapInArrow(work, _RESULTS)

    def _one_task(self) -> DataFrame:
        job, module = self.job, _MODULE

        def work(batches):
            import importlib

            for _ in batches:
                yield from importlib.import_module(module).run_files(job)

        one = self.spark.createDataFrame(self.spark.sparkContext.parallelize([("",)], 1), "part string")
        return one.mapInArrow(work, _RESULTS)

    # --- results ------------------------------------------------------------------------------------

    def _write_sorted(self, results: DataFrame, tasks: int) -> None:
        """Sorting looks at the results twice: they are kept, so that the program runs once."""
        from pyspark import StorageLevel

        kept = results.persist(StorageLevel.DISK_ONLY)
        before = self.spark.conf.get("spark.sql.shuffle.partitions")
        self.spark.conf.set("spark.sql.shuffle.partitions", str(tasks))
        try:
            self._write(kept.orderBy("sink", "order", "source", "index", "task", "seq"))
        finally:
            self.spark.conf.set("spark.sql.shuffle.partitions", before)
            kept.unpersist()

    def _write(self, results: DataFrame) -> None:
        for sink, rows in self._chunks(results):
            if sink == executor.REPORT:
                self._report_of_task(json.loads(rows.column("row")[0].as_py()))
            else:
                for batch in rows.to_batches():
                    self.outputs.write(sink, batch)

    def _chunks(self, results: DataFrame) -> Iterator[tuple[int, object]]:
        import pyarrow as pa

        module = _MODULE

        def work(batches):
            import importlib

            return importlib.import_module(module).chunks(batches)

        for row in results.mapInArrow(work, _CHUNKS).toLocalIterator(prefetchPartitions=True):
            with pa.ipc.open_stream(row.rows) as stream:
                yield row.sink, stream.read_all()

    def _report(self, ranges: list[Range]) -> None:
        """About malformed rows, in the words of the program itself."""
        lines = [(one.line(int(number)), why) for one in ranges for number, why in one.measured["reports"]]
        if ranges:
            self._say(ranges[0].source, lines, sum(one.measured["malformed"] for one in ranges))

    def _report_of_task(self, found: dict) -> None:
        for source in self.sources:
            lines = [(int(number), why) for name, number, why in found["reports"] if name == source.name]
            self._say(source, lines, found["malformed"][source.number])

    def _say(self, source: SourceInput, lines: list[tuple[int, str]], total: int) -> None:
        limit = self.job["report_limit"]
        unit = "record" if source.files[0].startswith("binary:") else "line"
        said = [f"{source.name}: {unit} {number}: {why}" for number, why in lines[:limit]]
        said += [f"{source.name}: further malformed rows are only counted"] if 0 < limit < total else []
        said += [f"{source.name}: {total} malformed row{'s' if total > 1 else ''} in all"] if total else []
        for line in said:
            print(line, file=sys.stderr)
