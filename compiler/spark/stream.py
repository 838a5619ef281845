"""`dfc run --engine spark --stream`: the program over input that goes on, as a query of Spark's Structured Streaming.

1. What is new of every source comes as names of files, or as lines of any source that Spark has (`--source
   quotes=spark:kafka`).
2. One task a source reads it, in order; rows get their places and watermarks and go to slots by key. How far a source
   has come is state of Spark's state store.
3. Every slot is an instance of the program. What it remembers is state of the state store, too, as bytes.
4. The results of a micro-batch are sorted, and written as files of their own (`stream_outputs.py`).

Spark's checkpoint has the offsets of the input and the state after each micro-batch, so that a stream that was stopped,
or killed, goes on as if nothing had been (`checkpoint.py`). What runs in the executors is `stream_executor.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dfc.compiler.failure import Failure
from dfc.dsl import typed

from ..artifacts.graph import Graph
from . import executor, stream_executor
from .checkpoint import Checkpoint, open_checkpoint, program_of
from .engine import Program, cpu_flags, failure_of, shipped, was_interrupted
from .outputs import sinks_of
from .placement import ONE, Placement, place
from .shared_files import require_own_folders
from .stream_outputs import StreamOutputs
from .stream_sources import StreamSource, stream_sources
from .words import Words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

_MODULE = "dfc_stream_executor"
_PROGRESS = "index long, highest long, delay long, watermark long"
_VALUES = "slot int, first long, value binary"
_RESULTS = "sink int, value binary"
_POLL_SECONDS = 0.5
STOPPED, EMPTY, END = "stopped", "empty", "end"
_STORE = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@dataclass(frozen=True)
class Stream:
    """How long a stream runs, and where it goes on from. `text` is the generated C: saved state is of exactly that."""

    text: str
    checkpoint: Path
    until: str = STOPPED
    interval: float = 0.0  # seconds between two micro-batches; 0: as soon as there is something
    slots: int | None = None


def require_stream_inputs(program: Program, words: Words) -> None:
    """Says what is missing, or has two uses, before Spark is started."""
    sources = stream_sources(program.graph, place(program.graph), words)
    require_own_folders({one.name: one.path for one in sources if one.path}, sinks_of(program.graph, words.sinks))


def run_stream(program: Program, words: Words, spark: SparkSession, stream: Stream) -> None:
    """Raises Failure with one line when it can't go on; the checkpoint and the files that are there stay."""
    found = place(program.graph)
    sources = stream_sources(program.graph, found, words)
    sinks = sinks_of(program.graph, words.sinks)
    library = executor.Library(str(program.library), program.function)
    outputs = StreamOutputs(library, list(sinks), list(sinks.values()))
    kept = open_checkpoint(stream.checkpoint.absolute(), program_of(stream.text, words.alternates),
                           _slots(found, stream, spark))
    outputs.prepare()
    with shipped(program, spark, {_MODULE: stream_executor.__file__}) as name, _settings(spark, kept):
        job = _job(program, found, words, sources, name, kept.slots)
        try:
            _Query(spark, job, sources, kept, outputs, stream).go()
        except Failure:
            raise
        except Exception as error:
            raise (KeyboardInterrupt() if was_interrupted(error) else failure_of(error)) from None


def _slots(found: Placement, stream: Stream, spark: SparkSession) -> int:
    if found.mode == ONE:
        return 1
    return stream.slots or min(max(4 * spark.sparkContext.defaultParallelism, 4), 256)


@contextmanager
def _settings(spark: SparkSession, kept: Checkpoint):
    """Of the session while the query runs; the number of partitions stays that of the checkpoint's first run."""
    wanted = {"spark.sql.streaming.stateStore.providerClass": _STORE,
              "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
              "spark.sql.shuffle.partitions": str(min(kept.slots, spark.sparkContext.defaultParallelism))}
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def _job(program: Program, found: Placement, words: Words, sources: Sequence[StreamSource], library: str,
         slots: int) -> dict:
    """What every task gets, as that of `engine.py`; `read` says how each source is read."""
    return {"library": library, "function": program.function, "cpu": cpu_flags() if program.native else [],
            "order": _order(program.graph, found), "alternates": words.alternates, "max_row": words.max_row,
            "report_limit": words.report_limit, "sources": len(sources), "sinks": len(program.interface.sinks),
            "slots": slots, "read": [source.as_data() for source in sources]}


def _order(graph: Graph, found: Placement) -> str:
    """How rows of several sources follow each other within a micro-batch."""
    if found.mode != ONE:
        return found.order
    timed = [step.body.event_time is not None for step in graph.steps if isinstance(step.body, typed.Source)]
    return "watermark" if all(timed) and len(timed) > 1 else "index"


@dataclass
class _Query:
    spark: SparkSession
    job: dict
    sources: list[StreamSource]
    kept: Checkpoint
    outputs: StreamOutputs
    stream: Stream
    told: int = 0  # lines about malformed rows

    def go(self) -> None:
        """The end must be heard after all input. Files without a limit are all taken in one micro-batch, and the end
        with them."""
        ends = self.stream.until == END
        if not ends or any(source.options or not source.path for source in self.sources):
            self._run()
        if ends:
            self.kept.say_end()
            self._run()
            self.kept.mark_ended()

    def _run(self) -> None:
        trigger = {"availableNow": True} if self.stream.until != STOPPED else \
            {"processingTime": f"{self.stream.interval} seconds"}
        writer = self._results().writeStream.outputMode("append").option("checkpointLocation", self.kept.spark)
        query = writer.foreachBatch(self._write).trigger(**trigger).start()
        try:
            while not query.awaitTermination(_POLL_SECONDS):
                pass
        except KeyboardInterrupt:
            self._stop(query)
            raise
        finally:
            if query.isActive:
                query.stop()

    def _stop(self, query: StreamingQuery) -> None:
        """A micro-batch that is cut off is done again when the stream goes on."""
        query.stop()
        print(f"stopped; with --checkpoint {self.stream.checkpoint} it goes on from here", file=sys.stderr)

    # --- the query ----------------------------------------------------------------------------------

    def _results(self) -> DataFrame:
        new = [source.new(self.spark, _MODULE) for source in self.sources]
        for more in new[1:]:
            new[0] = new[0].unionByName(more)
        values = new[0].groupBy("source").transformWithState(_reader(self.job), _VALUES, "append", "none")
        values = values.unionByName(self._ends())
        return values.groupBy("slot").transformWithState(_slot(self.job), _RESULTS, "append", "none")

    def _ends(self) -> DataFrame:
        told = self.spark.readStream.format("text").schema("value string").load(str(self.kept.control))
        return told.selectExpr(f"explode(sequence(0, {self.kept.slots - 1})) AS slot",
                               f"CAST({stream_executor.END} AS LONG) AS first", "CAST('' AS BINARY) AS value")

    # --- results ------------------------------------------------------------------------------------

    def _write(self, results: DataFrame, batch: int) -> None:
        """Called for every micro-batch; for one that was cut off, again, with the same results."""
        import pyarrow as pa

        found: dict[int, list] = {}
        for row in results.collect():  # once: the program runs when it is asked for
            if row.sink == executor.REPORT:
                self._report(json.loads(bytes(row.value)))
            else:
                found.setdefault(row.sink, []).append(stream_executor.unpacked(bytes(row.value)))
        if found:
            self.outputs.write(batch, {sink: pa.concat_tables(tables) for sink, tables in found.items()})

    def _report(self, said: dict) -> None:
        name = self.sources[said["source"]].name
        for number, why in said["reports"]:
            if self.told < self.job["report_limit"]:
                self.told += 1
                print(f"{name}: line {number}: {why}", file=sys.stderr)
        print(f"{name}: {said['malformed']} malformed row{'s' if said['malformed'] > 1 else ''}", file=sys.stderr)


# The classes below go to executors by value, as the functions of `engine.py` do.


def _reader(job: dict):
    from pyspark.sql.streaming import StatefulProcessor

    module, form = _MODULE, _PROGRESS

    class Reader(StatefulProcessor):
        """Reads what is new of a source; its state is how far that has come."""

        def init(self, handle):
            self.progress = handle.getValueState("progress", form)

        def handleInputRows(self, key, rows, timerValues):
            import importlib

            from pyspark.sql import Row

            before = tuple(self.progress.get()) if self.progress.exists() else None
            new = [(row.place, row.part, row.text) for row in rows]
            values = importlib.import_module(module).read_source(job, key[0], before, new)
            while True:
                try:
                    slot, index, value = next(values)
                except StopIteration as done:
                    self.progress.update(done.value)
                    return
                yield Row(slot=slot, first=index, value=value)

        def close(self):
            pass

    return Reader()


def _slot(job: dict):
    from pyspark.sql.streaming import StatefulProcessor

    module = _MODULE

    class Slot(StatefulProcessor):
        """Runs the program over the rows of some keys; its state is all that the program remembers."""

        def init(self, handle):
            self.state = handle.getValueState("state", "bytes binary")

        def handleInputRows(self, key, rows, timerValues):
            import importlib

            from pyspark.sql import Row

            before = bytes(self.state.get()[0]) if self.state.exists() else None
            new = [(row.first, bytes(row.value)) for row in rows]
            results = importlib.import_module(module).run_slot(job, key[0], before, new)
            while True:
                try:
                    sink, value = next(results)
                except StopIteration as done:
                    self.state.update((done.value,))
                    return
                yield Row(sink=sink, value=value)

        def close(self):
            pass

    return Slot()
