"""`dfc run --engine spark --stream`: files that appear, a checkpoint, a restart in the middle, the native result."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.build.embeddable import compile_embeddable, library_names  # noqa: E402
from dfc.compiler.failure import Failure, Usage  # noqa: E402
from dfc.compiler.spark import engine, stream  # noqa: E402
from dfc.compiler.spark.stream_outputs import StreamOutputs  # noqa: E402
from dfc.compiler.spark.words import Words, read_words  # noqa: E402

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


@pytest.mark.parametrize("case", ["02_tumbling_time", "04_count_window", "07_word_count_scan"])
def test_a_case_restarted_in_the_middle(spark, case, tmp_path, monkeypatch):
    """Two files, then a micro-batch that fails after it has written, then the rest and the end."""
    running, data, expected = started(spark, case, tmp_path)
    for number in (0, 1):
        (tmp_path / "new" / f"{number}.csv").write_text(data[number])
    running.run(stream.EMPTY)
    before = running.rows("results")
    assert len(before) < len(expected)
    (tmp_path / "new" / "2.csv").write_text(data[2])
    written = StreamOutputs.write

    def cut_off(self, batch, results):
        written(self, batch, results)
        raise OSError("the machine is gone")

    monkeypatch.setattr(StreamOutputs, "write", cut_off)
    with pytest.raises(Failure):
        running.run(stream.EMPTY)
    monkeypatch.undo()
    (tmp_path / "new" / "3.csv").write_text(data[3])
    running.run(stream.END)
    assert running.rows("results")[:len(before)] == before
    assert not difference(expected, running.rows("results"))
    assert not list((tmp_path / "results").glob(".*"))  # nothing half-written is left
    with pytest.raises(Failure, match="has ended"):
        running.run(stream.EMPTY)
