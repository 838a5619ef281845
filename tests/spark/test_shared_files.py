"""One file with two uses is refused before Spark is started, in the words of the native program."""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler import pipeline  # noqa: E402
from dfc.compiler.failure import Usage  # noqa: E402
from dfc.compiler.spark import engine, stream  # noqa: E402
from dfc.compiler.spark.words import Words  # noqa: E402

PROGRAM = """\
app shared
record Row { name: symbol, n: i64 }
source rows: Row = csv("new/rows.csv")
sink out = rows to csv("out.csv")
sink packed = rows to binary("packed.bin")
sink plain = rows |> map { n } to binary("plain.bin")
"""


@pytest.fixture
def program(tmp_path) -> engine.Program:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "rows.csv").write_text("name,n\na,1\n")
    (tmp_path / "same").symlink_to("new")
    os.link(tmp_path / "new" / "rows.csv", tmp_path / "linked.csv")
    graph = pipeline.flow(pipeline.check(PROGRAM, "program.dfl", {}))
    return engine.Program(graph, None, Path(), False)


@pytest.mark.parametrize(("words", "said"), [
    (Words(sinks={"out": "csv:linked.csv"}), "sink 'out' would empty 'linked.csv', which source 'rows' reads"),
    (Words(sources={"rows": "csv:new"}, sinks={"out": "jsonl:new/rows.csv"}),
     "sink 'out' would empty 'new/rows.csv', which source 'rows' reads"),
    (Words(sinks={"out": "csv:./packed.bin"}), "sink 'out' and sink 'packed' would both write to 'packed.bin'"),
    (Words(sinks={"out": "csv:packed.bin.symbols"}),
     "sink 'out' and the symbols of sink 'packed' would both write to 'packed.bin.symbols'"),
    (Words(sources={"rows": "binary:linked.csv"}, sinks={"out": "csv:linked.csv.symbols"}),
     "sink 'out' would empty 'linked.csv.symbols', which source 'rows' reads"),
    (Words(sources={"rows": "generate:count=9,weights=linked.csv"}, sinks={"out": "csv:new/rows.csv"}),
     "sink 'out' would empty 'new/rows.csv', which source 'rows' reads"),
    (Words(sinks={"out": "csv:-", "packed": "jsonl:-"}),
     "sink 'out' and sink 'packed' would both write to standard output"),
])
def test_a_file_that_is_written_has_no_other_use(program, tmp_path, words, said):
    with chdir(tmp_path), pytest.raises(Usage) as refused:
        engine.require_inputs(program, words)
    assert said in str(refused.value)
    assert (tmp_path / "linked.csv").read_text() == "name,n\na,1\n"


@pytest.mark.parametrize(("words", "said"), [
    (Words(sources={"rows": "csv:new"}, sinks={"out": "csv:./new"}),
     "sink 'out' would write into './new', which source 'rows' reads"),
    (Words(sources={"rows": "csv:new/*"}, sinks={"out": "csv:new"}), "sink 'out' would write into 'new', which source"),
    (Words(sources={"rows": "csv:new/*"}, sinks={"out": "csv:new/out"}),
     "sink 'out' would write into 'new/out', which source 'rows' reads"),
    (Words(sources={"rows": "csv:*/b*.csv"}, sinks={"out": "csv:new"}), "sink 'out' would write into 'new'"),
    (Words(sources={"rows": "csv:new/{a,b}*"}, sinks={"out": "csv:new/b"}), "sink 'out' would write into 'new/b'"),
    (Words(sources={"rows": "csv:same/*"}, sinks={"out": "csv:new/out"}), "sink 'out' would write into 'new/out'"),
    (Words(sources={"rows": "csv:new"}, sinks={"out": "csv:results", "packed": "binary:results"}),
     "sink 'out' and sink 'packed' would both write to 'results'"),
    (Words(sources={"rows": "csv:new"}, sinks={"out": "csv:far/results", "packed": "binary:./far//results"}),
     "sink 'out' and sink 'packed' would both write to './far//results'"),
    (Words(sources={"rows": "csv:new"}, sinks={"out": "csv:-", "packed": "jsonl:-"}),
     "sink 'out' and sink 'packed' would both write to standard output"),
])
def test_a_stream_has_a_folder_for_each_sink(program, tmp_path, words, said):
    with chdir(tmp_path), pytest.raises(Usage) as refused:
        stream.require_stream_inputs(program, words)
    assert said in str(refused.value)


def test_files_of_their_own_are_good(program, tmp_path):
    generated = Words(sources={"rows": "generate:count=5"},
                      sinks={"out": "csv:new/rows.csv", "packed": "binary:plain.bin.symbols"})
    with chdir(tmp_path):
        engine.require_inputs(program, Words())
        engine.require_inputs(program, generated)
        for source, sink in (("new", "o"), ("new/rows.csv", "new"), ("new/q-*.csv", "new"), ("new/*.csv", "new/x/y")):
            apart = Words(sources={"rows": f"csv:{source}"}, sinks={"out": f"csv:{sink}", "packed": "binary:p"})
            stream.require_stream_inputs(program, apart)
