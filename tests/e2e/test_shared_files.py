"""One file with two uses: nothing that a program writes is what it reads, or writes elsewhere too."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.e2e.native import Native, compiled, one_line

PROGRAM = """\
app shared
record Row { name: symbol, n: i64 }
record Line { body: text<64> }
source rows: Row = csv("rows.csv")
source raw: Line = lines("raw.txt")
sink out = rows to csv("out.csv")
sink packed = rows to binary("packed.bin")
sink lines_out = raw to csv("lines.csv")
"""
ONE = """\
app one
record Row { ts: timestamp<ms>, n: i64 }
source rows: Row = csv("rows.csv") event time ts
sink out = rows to csv("out.csv")
"""
NAMES = {"rows.csv": "name,n\na,1\nx,y\nb,2\n", "raw.txt": "first\nsecond\n", "out.csv": "old\n", "rates": "1\n2\n",
         "control.json": "{}", "kept.raw": "kept\n", "script": "5 workers=1\n"}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def built_one(tmp_path_factory) -> Native:
    return compiled(ONE, tmp_path_factory.mktemp("one"))


@pytest.fixture
def shared(built, tmp_path) -> Native:
    for name, text in NAMES.items():
        (tmp_path / name).write_text(text)
    os.link(tmp_path / "rows.csv", tmp_path / "linked.csv")
    os.symlink("raw.txt", tmp_path / "link.txt")
    os.symlink("later.csv", tmp_path / "dangling")  # what it names is not there yet
    return built.at(tmp_path)


@pytest.mark.parametrize(("words", "said"), [
    (("--sink", "out=csv:rows.csv"), "sink 'out' would empty 'rows.csv', which source 'rows' reads"),
    (("--sink", "out=csv:linked.csv"), "sink 'out' would empty 'linked.csv', which source 'rows' reads"),
    (("--sink", "out=jsonl:both", "--sink", "lines_out=csv:./both"),
     "sink 'out' and sink 'lines_out' would both write to './both'"),
    (("--sink", "out=csv:dangling", "--sink", "lines_out=csv:later.csv"), "would both write to 'later.csv'"),
    (("--sink", "out=csv:packed.bin.symbols"),
     "sink 'out' and the symbols of sink 'packed' would both write to 'packed.bin.symbols'"),
    (("--source", "raw=lines:packed.bin.symbols"),
     "the symbols of sink 'packed' would empty 'packed.bin.symbols', which source 'raw' reads"),
    (("--source", "rows=binary:in.bin", "--sink", "out=csv:in.bin.symbols"),
     "sink 'out' would empty 'in.bin.symbols', which source 'rows' reads"),
    (("--source", "rows=generate:count=5,rates=rates", "--sink", "out=csv:rates"),
     "sink 'out' would empty 'rates', which source 'rows' reads"),
    (("--source", "rows=generate:weights=rates,count=5", "--stats=rates"), "--stats would empty 'rates'"),
    (("--malformed", "kept", "--source", "rows=csv:kept.raw"),
     "--malformed would empty 'kept.raw', which source 'rows' reads"),
    (("--malformed", "kept", "--sink", "out=csv:kept.rows"),
     "sink 'out' and --malformed would both write to 'kept.rows'"),
    (("--log", "rows.csv"), "--log would empty 'rows.csv', which source 'rows' reads"),
    (("--log", "out.csv"), "sink 'out' and --log would both write to 'out.csv'"),
    (("--stats=link.txt",), "--stats would empty 'link.txt', which source 'raw' reads"),
    (("--stats=x", "--log", "x"), "--log and --stats would both write to 'x'"),
    (("--latency-trace", "raw.txt"), "--latency-trace would empty 'raw.txt'"),
    (("--learned", "raw.txt"), "--learned would empty 'raw.txt'"),
    (("--learned", "x", "--sink", "out=csv:x"), "sink 'out' and --learned would both write to 'x'"),
    (("--rates", "rates", "--stats=rates"), "--stats would empty 'rates', which --rates reads"),
    (("--reconfigure", "script", "--stats=script"), "--stats would empty 'script', which --reconfigure reads")])
def test_two_uses_of_one_file(shared, words, said):
    code, line = one_line(shared.run(*words, stdin=subprocess.DEVNULL))
    assert code == 2 and said in line, line
    assert {name: (shared.folder / name).read_text() for name in NAMES} == NAMES
    assert {path.name for path in shared.folder.iterdir()} == {*NAMES, "linked.csv", "link.txt", "dangling"}


def test_the_configuration_is_not_the_log(shared):
    own = next(path for path in (shared.path.parent).rglob("control.json"))
    text = own.read_text().replace('"log": null', '"log": "raw.txt"')
    assert '"raw.txt"' in text
    (shared.folder / "control.json").write_text(text)
    code, line = one_line(shared.run("--control", "control.json", "--log", "control.json"))
    assert code == 2 and "--log would empty 'control.json', which --control reads" in line
    code, line = one_line(shared.run("--control", "control.json", "--socket", "s.sock"))
    assert code == 2 and "the log of the controller would empty 'raw.txt', which source 'raw' reads" in line
    assert (shared.folder / "raw.txt").read_text() == NAMES["raw.txt"]


def test_the_only_source_keeps_its_file(built_one, tmp_path):
    text = "ts,n\n0,1\nx,y\n10,2\n"
    (tmp_path / "rows.csv").write_text(text)
    code, line = one_line(built_one.at(tmp_path).run("--malformed", "rows.csv"))
    assert code == 2 and "--malformed would empty 'rows.csv', which source 'rows' reads" in line
    assert (tmp_path / "rows.csv").read_text() == text
    assert built_one.at(tmp_path).run("--malformed", "kept.csv", "--stats=stats.json").returncode == 0
    assert (tmp_path / "kept.csv").read_text() == "ts,n\nx,y\n"


def test_the_file_behind_standard_input(built_one, tmp_path):
    text = "ts,n\n0,1\n"
    (tmp_path / "rows.csv").write_text(text)
    with open(tmp_path / "rows.csv") as rows:
        words = ("--source", "rows=csv:-", "--malformed", "rows.csv")
        code, line = one_line(built_one.at(tmp_path).run(*words, stdin=rows))
    assert code == 2 and "--malformed would empty 'rows.csv', which source 'rows' reads" in line
    assert (tmp_path / "rows.csv").read_text() == text


def test_the_file_behind_standard_output(built_one, tmp_path):
    (tmp_path / "rows.csv").write_text("ts,n\n0,1\n")
    with open(tmp_path / "out.csv", "w") as out:
        answer = built_one.at(tmp_path).run("--sink", "out=csv:-", "--malformed", "out.csv",
                                            capture_output=False, stdout=out, stderr=subprocess.PIPE)
    code, line = one_line(answer)
    assert code == 2 and "sink 'out' and --malformed would both write to 'out.csv'" in line


@pytest.mark.parametrize(("words", "said"), [
    (("--source", "rows=csv:-", "--source", "raw=lines:-"),
     "source 'rows' and source 'raw' would both read standard input"),
    (("--source", "rows=csv:-", "--source", "raw=lines:/dev/stdin"), "would both read '/dev/stdin'"),
    (("--source", "rows=csv:pipe", "--source", "raw=lines:./pipe"), "would both read './pipe'"),
    (("--sink", "out=csv:-", "--sink", "lines_out=csv:-"),
     "sink 'out' and sink 'lines_out' would both write to standard output"),
    (("--sink", "out=csv:-", "--sink", "lines_out=csv:/dev/stdout"), "would both write to '/dev/stdout'"),
    (("--sink", "out=csv:pipe", "--sink", "lines_out=csv:pipe"), "would both write to 'pipe'")])
def test_what_cannot_be_shared(shared, words, said):
    """Two who read or write one pipe, in turns as they come, would tear its rows."""
    os.mkfifo(shared.folder / "pipe")
    code, line = one_line(shared.run(*words, input=""))
    assert code == 2 and said in line, line


def test_what_can_be_shared(shared):
    """A file is read twice, a device written twice."""
    (shared.folder / "rows.csv").write_text("name,n\na,1\n")
    words = ("--source", "raw=lines:rows.csv", "--sink", "out=csv:/dev/null", "--sink", "lines_out=csv:/dev/null")
    assert shared.run(*words).returncode == 0


# --- the interpreter ----------------------------------------------------------------------------------

HEAD = 'app app\nrecord Row { name: symbol, n: i64 }\nsource rows: Row = csv("rows.csv")\n'


@pytest.mark.parametrize(("sinks", "said"), [
    ('sink out = rows to csv("rows.csv")', "sink 'out' would empty 'rows.csv', which source 'rows' reads"),
    ('sink out = rows to csv("link.csv")', "sink 'out' would empty 'link.csv', which source 'rows' reads"),
    ('sink a = rows to csv("x.csv")\nsink b = rows to jsonl("./x.csv")',
     "sink 'a' and sink 'b' would both write to './x.csv'"),
    ('sink a = rows to csv("dangling")\nsink b = rows to jsonl("later.csv")',
     "sink 'a' and sink 'b' would both write to 'later.csv'"),
    ('sink a = rows to binary("x.bin")\nsink b = rows to csv("x.bin.symbols")',
     "the symbols of sink 'a' and sink 'b' would both write to 'x.bin.symbols'"),
    ('source more: Row = csv("x.bin.symbols")\nsink a = rows |> union more to binary("x.bin")',
     "the symbols of sink 'a' would empty 'x.bin.symbols', which source 'more' reads"),
    ('source made: Row = generate(count: 3, weights: "rates")\nsink a = rows |> union made to csv("rates")',
     "sink 'a' would empty 'rates', which source 'made' reads")])
def test_the_interpreter_refuses_the_same(dfc, tmp_path, sinks, said):
    (tmp_path / "app.dfl").write_text(f"{HEAD}{sinks}\n")
    (tmp_path / "rows.csv").write_text("name,n\na,1\n")
    (tmp_path / "rates").write_text("1\n2\n")
    os.symlink("rows.csv", tmp_path / "link.csv")
    os.symlink("later.csv", tmp_path / "dangling")
    before = {path.name for path in tmp_path.iterdir()}
    code, line = one_line(dfc("run", "app.dfl", "--interpret"))
    assert code == 2 and said in line, line
    assert (tmp_path / "rows.csv").read_text() == "name,n\na,1\n"
    assert {path.name for path in tmp_path.iterdir()} == before


def test_the_interpreter_and_the_file_behind_standard_input(dfc, tmp_path):
    (tmp_path / "app.dfl").write_text(HEAD.replace("rows.csv", "-") + 'sink out = rows to csv("rows.csv")\n')
    (tmp_path / "rows.csv").write_text("name,n\na,1\n")
    with open(tmp_path / "rows.csv") as rows:
        code, line = one_line(dfc("run", "app.dfl", "--interpret", stdin=rows))
    assert code == 2 and "sink 'out' would empty 'rows.csv', which source 'rows' reads" in line
    assert (tmp_path / "rows.csv").read_text() == "name,n\na,1\n"
