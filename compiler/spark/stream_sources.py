"""The sources of a stream: files that appear in a folder, or lines of any source that Spark has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dfc.compiler.failure import Failure, Usage
from dfc.dsl import typed

from ..artifacts.graph import Graph
from ..codegen.c_types import elements_of
from ..codegen.connectors import connector_spec
from .placement import Placement
from .stream_executor import PATTERN_SIGNS
from .words import Words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILE = "path string, modificationTime timestamp, length long, content binary"
_ANY_AGE = "36500d"  # Spark's own rule passes over files that are a week older than the newest one, and says nothing
_NEW = "source int, place long, part int, text string"
_FILES, _LINES = ("csv", "jsonl", "lines", "binary"), ("csv", "jsonl", "lines")


@dataclass(frozen=True)
class StreamSource:
    """`kind` is how rows are written. `path` is where files appear; without it the lines come from Spark's `reader`, as
    the SQL expression `line` makes them of its columns."""

    name: str
    number: int
    kind: str
    timed: bool
    slack: int  # -1 is auto
    keys: tuple[str, ...]
    header: tuple[str, ...]
    path: str = ""
    reader: str = ""
    line: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    def as_data(self) -> dict:
        """What the executors get."""
        return {"format": self.kind, "files": bool(self.path), "slack": self.slack, "keys": list(self.keys),
                "timed": self.timed, "header": list(self.header)}

    def new(self, spark: SparkSession, module: str) -> DataFrame:
        """What comes, as rows (source, place, part, text): names of files, or lines."""
        if self.path:
            options = {"maxFileAge": _ANY_AGE, **self.options}
            files = spark.readStream.format("binaryFile").schema(_FILE).options(**options).load(self.path)
            return files.selectExpr(f"{self.number} AS source", "CAST(0 AS LONG) AS place", "0 AS part", "path AS text")
        number = self.number

        def work(batches):
            import importlib

            return importlib.import_module(module).numbered(batches, number)

        lines = spark.readStream.format(self.reader).options(**self.options).load()
        return lines.selectExpr(f"{self.line} AS text").where("text IS NOT NULL").mapInArrow(work, _NEW)


def stream_sources(graph: Graph, found: Placement, words: Words) -> list[StreamSource]:
    """Raises Usage or Failure for what can't be a stream."""
    steps = [step for step in graph.steps if isinstance(step.body, typed.Source)]
    for name in words.options:
        if name not in [step.name for step in steps]:
            raise Usage(f"--option: the program has no source `{name}`")
    return [_source(step, number, found, words) for number, step in enumerate(steps)]


def _source(step: typed.Step, number: int, found: Placement, words: Words) -> StreamSource:
    spec = words.sources.get(step.name, connector_spec(step.body.connector))
    options = dict(words.options.get(step.name, {}))
    kind, _, rest = spec.partition(":")
    slack = -1 if step.body.slack is None else step.body.slack
    about = (step.body.event_time is not None, slack, found.keys.get(step.name, ()))
    if kind == "spark" and rest:
        form = options.pop("format", "csv")
        if form not in _LINES:
            raise Usage(f"--option {step.name}.format: `{form}` is none; there is {', '.join(_LINES)}")
        header = (",".join(_columns(step)),) if form == "csv" else ()
        return StreamSource(step.name, number, form, *about, header, reader=rest,
                            line=options.pop("line", "CAST(value AS STRING)"), options=options)
    if kind not in _FILES or rest in ("", "-"):
        raise Usage(f"source `{step.name}` ({spec}) can't be a stream on Spark: give it a folder (--source "
                    f"{step.name}=csv:DIR) or a source of Spark (--source {step.name}=spark:kafka)")
    path = Path(rest).absolute()
    if not path.exists() and not any(sign in rest for sign in "*?["):
        raise Failure(f"cannot open '{rest}': No such file or directory")
    if path.exists() and PATTERN_SIGNS.search(str(path)):
        raise Failure(f"source `{step.name}`: Spark takes '{path}' for a pattern; give it another name")
    return StreamSource(step.name, number, kind, *about, (), path=str(path), options=options)


def _columns(step: typed.Step) -> list[str]:
    """The record's fields as a CSV file has them; an array is a column an element."""
    return [title for one in step.record.fields for title, _ in elements_of(one.type, one.name)]
