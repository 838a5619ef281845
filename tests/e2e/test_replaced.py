"""Sources and sinks replaced on the command line, files with awkward names, and texts with every kind of character."""

from __future__ import annotations

import csv
import io

import pytest

from tests.e2e.native import Native, compiled

PROGRAM = """\
app copy
record Row { id: i32, at: timestamp<us>, word: symbol, other: symbol, note: text<40>, x: f64, y: f32, ok: bool, n: u64 }
source rows: Row = csv("rows.csv") event time at
sink out = rows to csv("out.csv")
"""
WORDS = ["plain", "", "a,b", 'say "hi"', "two\nlines", "cr\rlf\r\n", "ünï—çødé 漢字 🎈", " spaces ", "'", "\\", "%s%n",
         "\t", "a\0b", '"', ",", "\n", "nan", "*/ ??/"]


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("copy"))


@pytest.fixture
def copy(built, tmp_path) -> Native:
    (tmp_path / "rows.csv").write_bytes(table().encode())
    return built.at(tmp_path)


def table() -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "at", "word", "other", "note", "x", "y", "ok", "n"))
    for i, word in enumerate(WORDS):
        note = word.replace("\0", "0")  # padded with zeros in binary: a text<N> can't carry them there
        ok = "true" if i % 2 else "false"
        writer.writerow((i - 5, i, word, WORDS[-i - 1], note, i / 7, i / 4, ok, 2**64 - 1 - i))
    return text.getvalue()


def rows(text: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.decode(), newline="")))


def test_csv_keeps_every_character(copy):
    answer = copy.run()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert rows((copy.folder / "out.csv").read_bytes()) == rows((copy.folder / "rows.csv").read_bytes())


@pytest.mark.parametrize("workers", [1, 3])
def test_binary_there_and_back(copy, workers):
    assert copy.run("--sink", "out=binary:rows.bin", "--workers", workers).returncode == 0
    size = 4 + 8 + 4 + 4 + 40 + 8 + 4 + 1 + 8
    assert (copy.folder / "rows.bin").stat().st_size == size * len(WORDS)
    assert rows((copy.folder / "rows.bin.symbols").read_bytes()) == [[word] for word in first_appearances()]
    answer = copy.run("--source", "rows=binary:rows.bin", "--workers", workers)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert rows((copy.folder / "out.csv").read_bytes()) == rows((copy.folder / "rows.csv").read_bytes())


def first_appearances() -> list[str]:
    return list(dict.fromkeys(word for i, one in enumerate(WORDS) for word in (one, WORDS[-i - 1])))


def test_binary_is_little_endian_and_packed(copy):
    copy.run("--sink", "out=binary:rows.bin")
    data = (copy.folder / "rows.bin").read_bytes()
    assert data[:4] == (-5).to_bytes(4, "little", signed=True)
    assert data[12:20] == (0).to_bytes(4, "little") + (1).to_bytes(4, "little")  # the first two symbols
    assert data[20:60] == b"plain".ljust(40, b"\0")


NAMES = ["with space.csv", "quo'te\".csv", "com,ma=x.csv", "new\nline.csv", "ünï.csv", "-dash.csv", "co:lon.csv",
         "$(touch x).csv", "per%cent%s.csv", "back\\slash.csv"]


@pytest.mark.parametrize("name", NAMES)
def test_paths_of_any_kind(copy, name):
    (copy.folder / name).write_bytes((copy.folder / "rows.csv").read_bytes())
    answer = copy.run("--source", f"rows=csv:{name}", "--sink", f"out=csv:to {name}", "--malformed", f"bad {name}")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert rows((copy.folder / f"to {name}").read_bytes()) == rows((copy.folder / "rows.csv").read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_errors_about_them_are_one_line(copy, name):
    answer = copy.run("--source", f"rows=csv:no such {name}")
    assert answer.returncode == 4 and len(answer.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_they_may_stand_in_the_program(tmp_path, name, dfc):
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    text = f'app a\nrecord R {{ n: i64 }}\nsource s: R = csv("{escaped}")\nsink o = s to csv("out {escaped}")\n'
    (tmp_path / "a.dfl").write_text(text)
    (tmp_path / name).write_text("n\n7\n")
    answer = dfc("run", "a.dfl")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / f"out {name}").read_text() == "n\n7\n"


def test_standard_input_and_output(copy):
    answer = copy.run("--source", "rows=csv:-", "--sink", "out=csv:-", input=table().replace("\r", ""))
    assert answer.returncode == 0 and answer.stdout.count("\n") > len(WORDS)


def test_discard_counts(copy):
    answer = copy.run("--sink", "out=discard:", "--stats")
    assert answer.returncode == 0 and f'"out":{len(WORDS)}' in answer.stderr
    assert not (copy.folder / "out.csv").exists()


def test_generated_tuples(copy):
    """The same seed gives the same tuples, with any number of workers; another seed gives others."""
    def generated(words: str, *more: str) -> list[list[str]]:
        assert copy.run("--source", f"rows=generate:{words}", "--sink", "out=csv:gen.csv", *more).returncode == 0
        return rows((copy.folder / "gen.csv").read_bytes())[1:]

    plain = generated("count=2k,keys=5,seed=3,id=-2..2,x=1.5..2.5")
    assert plain == generated("count=2k,keys=5,seed=3,id=-2..2,x=1.5..2.5", "--workers", "3")
    assert plain != generated("count=2k,keys=5,seed=4,id=-2..2,x=1.5..2.5")
    assert len(plain) == 2000 and {row[0] for row in plain} == {"-2", "-1", "0", "1", "2"}
    assert {row[2] for row in plain} == {f"k{i}" for i in range(5)} and all(1.5 <= float(row[5]) < 2.5 for row in plain)
    assert [int(row[1]) for row in plain[:3]] == [1_700_000_000_000_000 + i for i in range(3)]
    slow = generated("count=10,rate=10/s,start=0")
    assert [int(row[1]) for row in slow] == [i * 100_000 for i in range(10)]


def test_generated_skew_and_disorder(copy):
    words = "count=20k,keys=50,zipf=1.5,disorder=1ms,rate=1M,start=1000000"
    answer = copy.run("--source", f"rows=generate:{words}", "--sink", "out=csv:gen.csv", "--stats")
    assert answer.returncode == 0
    kept = rows((copy.folder / "gen.csv").read_bytes())[1:]
    counts = [sum(row[2] == f"k{i}" for row in kept) for i in (0, 10, 40)]
    assert counts[0] > 4 * counts[1] > 4 * counts[2]
    assert f'"in":20000,"out":{len(kept)},"late":{20000 - len(kept)}' in answer.stderr and len(kept) < 20000


def test_a_second_sink_of_lines(tmp_path):
    text = ("app words\nuse std.text\nrecord Line { line: text<200> }\nrecord Word { word: symbol }\n"
            "source text: Line = lines(\"in.txt\")\n"
            "sink counts = text |> flatmap split(line, \" \") -> Word |> by word |> scan { word, n: count() }"
            " to csv(\"-\")\n")
    program = compiled(text, tmp_path)
    answer = program.run("--source", "text=lines:-", input="a b a\n\nb,c \"d\"\n")
    assert answer.returncode == 0
    assert answer.stdout == 'word,n\na,1\nb,1\na,2\n,1\n"b,c",1\n"""d""",1\n'


@pytest.mark.parametrize("damage", ["cut", "symbols missing", "symbol out of range", "not UTF-8"])
def test_damaged_binary(copy, damage):
    copy.run("--sink", "out=binary:rows.bin")
    data, symbols = copy.folder / "rows.bin", copy.folder / "rows.bin.symbols"
    if damage == "cut":
        data.write_bytes(data.read_bytes()[:-3])
    elif damage == "symbols missing":
        symbols.unlink()
    elif damage == "symbol out of range":
        data.write_bytes(data.read_bytes()[:12] + b"\xff\xff\0\0" + data.read_bytes()[16:])
    else:
        data.write_bytes(data.read_bytes()[:20] + b"\xff" + data.read_bytes()[21:])
    answer = copy.run("--source", "rows=binary:rows.bin")
    if damage == "symbols missing":
        assert answer.returncode == 4 and "rows.bin.symbols" in answer.stderr
    else:
        assert answer.returncode == 0 and "1 malformed row in all" in answer.stderr
        assert len(rows((copy.folder / "out.csv").read_bytes())) == len(WORDS)
