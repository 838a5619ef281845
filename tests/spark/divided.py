"""Programs divided as the engine divides them, but in this process: what Spark does between the tasks (send by key,
sort) is done here with lists, so that many programs can be tried."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pyarrow as pa
from dfc.compiler import pipeline
from dfc.compiler.build.embeddable import compile_embeddable, library_names
from dfc.compiler.spark import engine, executor
from dfc.compiler.spark.outputs import Outputs
from dfc.compiler.spark.placement import KEYS, ONE, Placement, place
from dfc.compiler.spark.ranges import measured, stretches
from dfc.compiler.spark.words import Words

PLACE = ("sink", "order", "source", "index", "task", "seq")


def build(text: str) -> engine.Program:
    graph = pipeline.flow(pipeline.check(text, "program.dfl", {}))
    bundle = pipeline.generate(text, "program.dfl", {}, embed=True)
    folder = compile_embeddable(bundle, "portable", sanitize=False)
    return engine.Program(graph, bundle.interface, folder / library_names(bundle.app)[1], False)


class Local:
    """One run. Files are read and written in `folder`."""

    def __init__(self, program: engine.Program, folder: Path, alternates=(), range_bytes: int = 200, tasks: int = 3):
        self.program, self.folder, self.range_bytes, self.tasks = program, folder, range_bytes, tasks
        self.words = Words(alternates=list(alternates))
        self.malformed: dict[str, int] = {}

    def run(self, found: Placement | None = None) -> Placement:
        found = found or place(self.program.graph)
        with chdir(self.folder):
            self.sources = engine._sources(self.program.graph, found, {})
            self.job = engine._job(self.program, found, self.words, self.sources, "")
            library = executor.Library(str(self.program.library), self.program.function)
            executor.library_of = lambda job: library
            names = [port.name for port in self.program.interface.sinks]
            with Outputs(library, names, [f"csv:{name}.csv" for name in names]) as outputs:
                for row in sorted(self._results(found), key=lambda row: [row[name] for name in PLACE]):
                    outputs.write(row["sink"], pa.RecordBatch.from_pylist([{"row": row["row"]}],
                                                                          pa.schema([("row", pa.binary())])))
                outputs.done()
        return found

    def _results(self, found: Placement) -> list[dict]:
        if found.mode == ONE:
            return [row for batch in executor.run_files(self.job) for row in batch.to_pylist()
                    if row["sink"] != executor.REPORT]
        self.ranges = [one for source in self.sources for one in measured(source, self._measure, self.range_bytes)]
        if found.mode == KEYS:
            return self._by_key()
        if found.overlap is not None:
            return [row for number, one in enumerate(stretches(self.ranges, self.tasks, found.overlap))
                    for row in _numbered(executor.run_stretch(self.job, one), number)]
        return [row for number, one in enumerate(self.ranges)
                for row in _numbered(executor.run_range(self.job, one.as_data()), number)]

    def _measure(self, ranges) -> list[dict]:
        return [executor.measure(self.job, one.as_data()) for one in ranges]

    def _by_key(self) -> list[dict]:
        tasks: list[list[dict]] = [[] for _ in range(self.tasks)]
        for one in self.ranges:
            for batch in executor.rows(self.job, one.as_data()):
                for row in batch.to_pylist():
                    tasks[row["key"] % self.tasks].append(row)
        found = []
        for number, rows in enumerate(tasks):
            rows.sort(key=lambda row: (row["order"], row["source"], row["index"]))
            found += _numbered(executor.run_rows(self.job, _batches(rows)), number)
        return found


def _batches(rows: list[dict]) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(rows), 50):
        whole = pa.RecordBatch.from_pylist(rows[:at + 50], executor.ROWS)
        yield whole.slice(at)  # the addresses of its columns are not those of its buffers


def _numbered(batches: Iterator[pa.RecordBatch], task: int) -> list[dict]:
    return [{**row, "task": task} for batch in batches for row in batch.to_pylist()]
