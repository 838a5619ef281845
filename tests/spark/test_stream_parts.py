"""Streams in micro-batches give what the program gives in one piece: the stages with state, without Spark between them."""

from __future__ import annotations

import os
import random
import shutil
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
import pyarrow as pa  # noqa: E402
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.build.embeddable import compile_embeddable, library_names  # noqa: E402
from dfc.compiler.graph.runnable import NotRunnable  # noqa: E402
from dfc.compiler.spark import engine, executor, stream, stream_executor  # noqa: E402
from dfc.compiler.spark.placement import ONE, Placement, place  # noqa: E402
from dfc.compiler.spark.stream_outputs import StreamOutputs  # noqa: E402
from dfc.compiler.spark.stream_sources import stream_sources  # noqa: E402
from dfc.compiler.spark.words import Words  # noqa: E402
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


def cut(data: bytes, rng: random.Random) -> list[bytes]:
    """Some files that hold the rows of one, in order; quotes keep it whole."""
    header, *lines = data.splitlines(keepends=True) or [b""]
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
    with chdir(folder):
        steps = Steps(program, alternates, rng.randrange(1, 5))
        for number, part in enumerate(cut(data, rng)):
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
    try_programs(tmp_path, 6)


@pytest.mark.slow
def test_many_random_programs(tmp_path):
    assert try_programs(tmp_path, int(os.environ.get("DFC_SOAK_PROGRAMS", "150"))) > 5
