"""Streams in micro-batches give what the program gives in one piece: the stages with state, without Spark."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa  # noqa: E402
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.build.embeddable import compile_embeddable, library_names  # noqa: E402
from dfc.compiler.failure import Failure  # noqa: E402
from dfc.compiler.graph.runnable import NotRunnable  # noqa: E402
from dfc.compiler.spark import engine, executor, stream, stream_executor  # noqa: E402
from dfc.compiler.spark.checkpoint import open_checkpoint  # noqa: E402
from dfc.compiler.spark.placement import ONE, Placement, place  # noqa: E402
from dfc.compiler.spark.stream_outputs import StreamOutputs  # noqa: E402
from dfc.compiler.spark.stream_sources import stream_sources  # noqa: E402
from dfc.compiler.spark.words import Words, read_words  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402

from tests.differential.programs import Case, cases  # noqa: E402
from tests.rows import difference, read_table  # noqa: E402
from tests.spark.divided import Local  # noqa: E402

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
WHOLE = Placement(ONE, "to compare with")


def build(text: str) -> engine.Program:
    graph = pipeline.flow(pipeline.check(text, "program.dfl", {}))
    bundle = pipeline.generate(text, "program.dfl", {}, saves=True)
    folder = compile_embeddable(bundle, "portable", sanitize=False)
    return engine.Program(graph, bundle.interface, folder / library_names(bundle.app)[1], False)


class Steps:
    """A stream of a program with one source, a file a micro-batch; states are kept in dicts as Spark keeps them."""

    def __init__(self, program: engine.Program, alternates, slots: int):
        found, self.words = place(program.graph), Words(alternates=list(alternates))
        self.library = executor.Library(str(program.library), program.function)
        self.sources = stream_sources(program.graph, found, self.words)
        slots = 1 if found.mode == ONE else slots
        self.job = stream._job(program, found, self.words, self.sources, "", slots)
        self.names = [port.name for port in program.interface.sinks]
        self.progress, self.states, self.batch = None, {}, 0
        for module in (executor, stream_executor.executor):
            module.library_of = lambda job: self.library

    def take(self, path: str | None) -> None:
        """What is in a file; None: the end."""
        values: list[tuple[int, int, bytes]] = []
        if path is not None:
            self.progress = _all(stream_executor.read_source(self.job, 0, self.progress, [(0, 0, path)]), values)
        else:
            values = [(slot, stream_executor.END, b"") for slot in range(self.job["slots"])]
        results: list[tuple[int, bytes]] = []
        for slot in {slot for slot, _, _ in values}:
            mine = [(index, value) for at, index, value in values if at == slot]
            self.states[slot] = _all(stream_executor.run_slot(self.job, slot, self.states.get(slot), mine), results)
        found: dict[int, list] = {}
        for sink, value in results:
            if sink >= 0:
                found.setdefault(sink, []).append(stream_executor.unpacked(value))
        outputs = StreamOutputs(self.library, self.names, [f"csv:streamed_{name}" for name in self.names])
        outputs.prepare()
        outputs.write(self.batch, {sink: pa.concat_tables(tables) for sink, tables in found.items()})
        self.batch += 1

    def rows(self, sink: str) -> list[tuple]:
        return [row for part in sorted(Path(f"streamed_{sink}").glob("batch-*.csv")) for row in read_table(part)[1]]


def _all(values, into: list):
    while True:
        try:
            into.append(next(values))
        except StopIteration as done:
            return done.value


def cut(data: bytes, rng: random.Random, headed: bool) -> list[bytes]:
    """Some files that hold the rows of one, in order, each with its header if it has one; quotes keep it whole."""
    rows = data.splitlines(keepends=True)
    header, lines = (b"".join(rows[:1]), rows[1:]) if headed else (b"", rows)
    if b'"' in data or b"\r" in data:
        return [data]
    places = sorted(rng.randrange(len(lines) + 1) for _ in range(rng.randrange(4)))
    bounds = [0, *places, len(lines)]
    return [header + b"".join(lines[a:b]) for a, b in zip(bounds, bounds[1:], strict=False)]


def check(program: engine.Program, files: dict[str, bytes], folder: Path, alternates, rng: random.Random) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (name, data), = files.items()
    (folder / name).write_bytes(data)
    Local(program, folder, alternates).run(WHOLE)
    headed = program.graph.steps[0].body.connector.kind == "csv"
    with chdir(folder):
        steps = Steps(program, alternates, rng.randrange(1, 5))
        for number, part in enumerate(cut(data, rng, headed)):
            Path(f"part-{number:03d}").write_bytes(part)
            steps.take(str(folder / f"part-{number:03d}"))
        steps.take(None)
        for sink in steps.names:
            wrong = difference(read_table(folder / f"{sink}.csv")[1], steps.rows(sink))
            assert not wrong, f"sink {sink}: {wrong}"


def try_programs(folder: Path, count: int) -> int:
    built: dict[str, engine.Program | None] = {}
    tried = [0]

    @seed(SEED)
    @settings(max_examples=count, deadline=None, database=None, report_multiple_bugs=False,
              phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(cases())
    def try_one(case: Case) -> None:
        if case.text not in built:
            try:
                built[case.text] = build(case.text) if len(case.inputs[0]) == 1 else None
            except NotRunnable:
                built[case.text] = None
        for files, chosen in zip(case.inputs, case.choices, strict=True):
            if built[case.text] is not None:
                check(built[case.text], files, folder / "case", chosen, random.Random(SEED))
                tried[0] += 1

    try:
        try_one()
    except AssertionError as wrong:
        raise AssertionError(f"DFC_TEST_SEED={SEED}: {wrong}") from wrong
    return tried[0]


def test_some_random_programs(tmp_path):
    try_programs(tmp_path, 4)


@pytest.mark.slow
def test_many_random_programs(tmp_path):
    assert try_programs(tmp_path, int(os.environ.get("DFC_SOAK_PROGRAMS", "150"))) > 5


# --- lines, and what is refused ------------------------------------------------------------------------

SUMS = """\
app sums
record Item { key: symbol, v: i64[2] }
source items: Item = csv("items.csv")
stream all = items |> by key |> scan { key, n: count(), v: sum(v[1]) }
sink out = all to csv("out.csv")
"""


def test_lines_are_read_as_files_are(tmp_path):
    """In the order of position first and partition second; a line that is none is counted."""
    with chdir(tmp_path):
        program = build(SUMS)
        (tmp_path / "items.csv").write_text("")
        steps = Steps(program, (), 2)
        steps.sources = stream_sources(program.graph, place(program.graph),
                                       Words(sources={"items": "spark:socket"}, options={"items": {"host": "h"}}))
        steps.job = stream._job(program, place(program.graph), steps.words, steps.sources, "", 2)
        values: list = []
        lines = [(0, 1, "b,0,2"), (1, 0, "a,0,3"), (0, 0, "a,0,1"), (1, 1, "none")]
        progress = _all(stream_executor.read_source(steps.job, 0, None, lines), values)
    assert progress[0] == 3
    (said,) = (json.loads(value) for _, index, value in values if index == stream_executor.REPORT)
    assert said["malformed"] == 1 and said["reports"][0][0] == "5"
    rows = [row for _, index, value in values if index >= 0 for row in stream_executor.unpacked(value).to_pylist()]
    assert sorted((row["index"], row["row"][4:5]) for row in rows) == [(0, b"a"), (1, b"b"), (2, b"a")]


@pytest.mark.parametrize("words, why", [
    (["--source", "items=csv:-"], "can't be a stream"), (["--source", "items=tcp:h:1"], "can't be a stream"),
    (["--source", "items=csv:nowhere"], "cannot open 'nowhere'"), (["--option", "other.x=1"], "no source `other`"),
    (["--option", "items=1"], "is not SOURCE.KEY=VALUE"),
    (["--source", "items=spark:socket", "--option", "items.format=binary"], "`binary` is none"),
])
def test_what_is_no_stream_is_refused(tmp_path, words, why):
    (tmp_path / "items.csv").write_text("")
    graph = pipeline.flow(pipeline.check(SUMS, "program.dfl", {}))
    with chdir(tmp_path), pytest.raises(Failure, match=re.escape(why)):
        stream_sources(graph, place(graph), read_words(words))


def test_paths_that_spark_takes_for_patterns_are_refused(tmp_path):
    """It would read once more what they fit."""
    assert stream_executor.local_path("file:///data/day=1/a %20#ü.csv") == "/data/day=1/a %20#ü.csv"
    assert stream_executor.local_path("file:/data/a.csv") == stream_executor.local_path("/data/a.csv") == "/data/a.csv"
    for path in ("file:///data/a?b.csv", "/data/a[1].csv", "/data/a*.csv", "hdfs://h/data/a.csv"):
        with pytest.raises(stream_executor.executor.TaskFailed):
            stream_executor.local_path(path)
    (tmp_path / "data[1]").mkdir()
    graph = pipeline.flow(pipeline.check(SUMS, "program.dfl", {}))
    with pytest.raises(Failure, match="for a pattern"):
        stream_sources(graph, place(graph), Words(sources={"items": f"csv:{tmp_path / 'data[1]'}"}))


def test_a_sink_is_no_file(tmp_path):
    (tmp_path / "out.csv").write_text("")
    with pytest.raises(Failure, match="is a file; with --stream a sink is a folder"):
        StreamOutputs(None, ["out"], [f"csv:{tmp_path / 'out.csv'}"])


def test_a_checkpoint_is_of_one_program(tmp_path):
    first = open_checkpoint(tmp_path / "c", "one", 3)
    assert open_checkpoint(tmp_path / "c", "one", 5) == first
    with pytest.raises(Failure, match="of another program"):
        open_checkpoint(tmp_path / "c", "two", 3)
    first.mark_ended()
    with pytest.raises(Failure, match="has ended"):
        open_checkpoint(tmp_path / "c", "one", 3)
    (tmp_path / "c" / "dfc.json").write_text('{"version": 1}')
    with pytest.raises(Failure, match="is damaged"):
        open_checkpoint(tmp_path / "c", "one", 3)
    with pytest.raises(Failure, match="no checkpoint of dfc"):
        open_checkpoint(tmp_path, "one", 3)


def test_state_of_another_program_and_damaged_state(tmp_path):
    with chdir(tmp_path):
        (tmp_path / "items.csv").write_text("key,v[0],v[1]\na,0,1\n")
        steps = Steps(build(SUMS), (), 1)
        steps.take(str(tmp_path / "items.csv"))
        state = steps.states[0]
        wrong = {"are no saved state": b"x" * 50, "is damaged": state[:-1] + b"?",
                 "is of version": state[:8] + b"9" + state[9:],
                 "of another program": state[:16] + b"12345678" + state[24:]}
        for why, data in wrong.items():
            with pytest.raises(stream_executor.executor.TaskFailed, match=why):
                stream_executor.SavedTask(steps.job, 0, data)
        with pytest.raises(stream_executor.executor.TaskFailed, match="has ended"):
            _all(stream_executor.run_slot(steps.job, 0, b"", []), [])
