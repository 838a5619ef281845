"""`dfc run --engine spark --stream`: files that appear, a checkpoint, a restart in the middle, the native result."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.build.embeddable import compile_embeddable, library_names  # noqa: E402
from dfc.compiler.failure import Failure  # noqa: E402
from dfc.compiler.spark import engine, stream  # noqa: E402
from dfc.compiler.spark.stream_outputs import StreamOutputs  # noqa: E402
from dfc.compiler.spark.words import Words  # noqa: E402

from tests.rows import difference, read_table  # noqa: E402

CASES = Path(__file__).parents[1] / "conformance" / "cases"


class Running:
    """A program that streams from the folder `new` into folders, with a checkpoint."""

    def __init__(self, spark, folder: Path, text: str, words: Words):
        self.spark, self.folder, self.words = spark, folder, words
        file = folder / "program.dfl"
        file.write_text(text)
        graph = pipeline.flow(pipeline.check(text, str(file), {}))
        bundle = pipeline.generate(text, str(file), {}, saves=True)
        built = compile_embeddable(bundle, "portable", sanitize=False)
        self.text = bundle.text(f"{bundle.app}.c")
        self.program = engine.Program(graph, bundle.interface, built / library_names(bundle.app)[1], False)

    def run(self, until: str, slots: int = 3) -> None:
        how = stream.Stream(self.text, self.folder / "checkpoint", until, slots=slots)
        with chdir(self.folder):
            stream.run_stream(self.program, self.words, self.spark, how)

    def rows(self, sink: str) -> list[tuple]:
        return [row for part in sorted((self.folder / sink).glob("batch-*.csv")) for row in read_table(part)[1]]


def parts(path: Path, count: int) -> list[str]:
    header, *lines = path.read_text().splitlines(keepends=True)
    size = -(-len(lines) // count)
    return [header + "".join(lines[at:at + size]) for at in range(0, len(lines), size)]


def started(spark, case: str, folder: Path) -> tuple[Running, list[str], list[tuple]]:
    source = CASES / case
    (data,) = (path for path in source.glob("*.csv") if not path.name.endswith(".expected.csv"))
    (folder / "new").mkdir()
    words = Words(sources={data.stem: "csv:new"}, sinks={"out": "csv:results"})
    running = Running(spark, folder, (source / "program.dfl").read_text(), words)
    return running, parts(data, 4), read_table(source / "out.expected.csv")[1]


@pytest.mark.parametrize("case", ["04_count_window", "07_word_count_scan",
                                  pytest.param("05_count_window_partial", marks=pytest.mark.slow)])
def test_a_case_restarted_in_the_middle(spark, case, tmp_path):
    running, data, expected = started(spark, case, tmp_path)
    for number in (0, 1):
        (tmp_path / "new" / f"{number}.csv").write_text(data[number])
    running.run(stream.EMPTY)
    before = running.rows("results")
    assert 0 < len(before) < len(expected)
    for number in (3, 2):  # the name decides, not the time
        (tmp_path / "new" / f"{number}.csv").write_text(data[number])
    running.run(stream.END)
    assert running.rows("results")[:len(before)] == before
    assert not difference(expected, running.rows("results"))


def test_a_case_that_is_cut_off_in_the_middle(spark, tmp_path, monkeypatch):
    """A micro-batch fails after it has written; it is done again, and every window is there once."""
    running, data, expected = started(spark, "02_tumbling_time", tmp_path)
    for number in (0, 1):
        (tmp_path / "new" / f"{number}.csv").write_text(data[number])
    running.run(stream.EMPTY)
    written = StreamOutputs.write

    def cut_off(self, batch, results):
        written(self, batch, results)
        raise OSError("the machine is gone")

    monkeypatch.setattr(StreamOutputs, "write", cut_off)
    (tmp_path / "new" / "2.csv").write_text(data[2])
    with pytest.raises(Failure) as failure:
        running.run(stream.EMPTY)
    assert "\n" not in str(failure.value)
    monkeypatch.undo()
    (tmp_path / "new" / "3.csv").write_text(data[3])
    running.run(stream.END)
    assert not difference(expected, running.rows("results"))
    assert not list((tmp_path / "results").glob(".*"))  # nothing half-written is left
    with pytest.raises(Failure, match="has ended"):
        running.run(stream.EMPTY)


def test_a_file_without_a_column_is_one_line(spark, tmp_path):
    running, _, _ = started(spark, "02_tumbling_time", tmp_path)
    (tmp_path / "new" / "0.csv").write_text("ts,device\n1,2\n")
    with pytest.raises(Failure, match="no column 'value'|column 'value'") as failure:
        running.run(stream.EMPTY)
    assert "\n" not in str(failure.value)


# --- the command ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,1024]"])
def test_the_command_is_killed_and_goes_on(tmp_path, master):
    """SIGKILL in the middle of a stream, then the same command to the end."""
    case = CASES / "03_sliding_time_disorder"
    shutil.copy(case / "program.dfl", tmp_path)
    (tmp_path / "new").mkdir()
    data = parts(case / "readings.csv", 6)
    command = [sys.executable, "-m", "dfc.compiler.cli", "run", "program.dfl", "--engine", "spark", "--stream",
               "--master", master, "--workers", "2"]
    words = ["--", "--source", "readings=csv:new", "--sink", "out=csv:results"]
    running = subprocess.Popen([*command, *words], cwd=tmp_path, start_new_session=True)
    try:
        for number in range(4):
            (tmp_path / f"{number}.part").write_text(data[number])
            os.rename(tmp_path / f"{number}.part", tmp_path / "new" / f"{number}.csv")
            if number < 3:
                _await(lambda count=number + 1: len(list((tmp_path / "results").glob("batch-*"))) >= count)
    finally:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    for number in (4, 5):
        (tmp_path / "new" / f"{number}.csv").write_text(data[number])
    answer = subprocess.run([*command, "--until", "end", *words], cwd=tmp_path, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")
    got = [row for part in sorted((tmp_path / "results").glob("batch-*.csv")) for row in read_table(part)[1]]
    assert not difference(read_table(case / "out.expected.csv")[1], got)


def _await(there) -> None:
    for _ in range(2400):
        if there():
            return
        time.sleep(0.1)
    raise AssertionError("it does not come")
