"""`dfc generate`: files that programs read, the same tuples as the `generate` source makes, mistakes in one line."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.native import compiled
from tests.rows import file_difference

PROGRAM = """\
app traffic
record Tick {
  ts: timestamp<ms>, name: symbol, x: f64, f: f32, n: i32, wide: i64, on: bool, note: text<6>, d: duration<us>,
  at: timestamp<s>, v: f64[2], small: u16,
}
source ticks: Tick = generate(count: 3000, rate: 777/s, start: -500, keys: 300, zipf: 1.1, x: 100.0..200.0, n: -10..10,
                              wide: -4611686018427387904..4611686018427387904, seed: 5, disorder: 3ms)
  event time ts slack 1s
sink out = ticks to csv("out.csv")
"""


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    return compiled(PROGRAM, tmp_path_factory.mktemp("traffic"))


@pytest.fixture
def program(tmp_path) -> Path:
    (tmp_path / "program.dfl").write_text(PROGRAM)
    return tmp_path / "program.dfl"


@pytest.mark.parametrize(("ending", "kind"), [("csv", "csv"), ("jsonl", "jsonl"), ("bin", "binary")])
def test_the_file_holds_what_the_source_makes(dfc, native, program, tmp_path, ending, kind):
    answer = dfc("generate", program, "-o", f"ticks.{ending}")
    assert answer.returncode == 0, answer.stderr
    assert native.at(tmp_path).run().returncode == 0
    (tmp_path / "out.csv").rename(tmp_path / "made.csv")
    assert native.at(tmp_path).run("--source", f"ticks={kind}:ticks.{ending}").returncode == 0
    assert not file_difference(tmp_path / "made.csv", tmp_path / "out.csv")
    if ending == "csv":
        assert (tmp_path / "ticks.csv").read_bytes() == (tmp_path / "made.csv").read_bytes()


def rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_options_stand_above_the_program(dfc, program, tmp_path):
    (tmp_path / "weights.txt").write_text("1 3\n")
    words = ("--arrivals", "map:rate=1k,dispersion=30", "--seconds", "4s", "--count", "1M",
             "--keys", "weights:weights.txt", "--delay", "exponential:mean=20ms,share=0.3",
             "--set", "n=1..3", "--set", "v=5.0..6.0", "--start", "0")
    assert dfc("generate", program, "-o", "a.csv", *words, "--seed", "8").returncode == 0
    found = rows(tmp_path / "a.csv")
    assert 1500 < len(found) < 8000 and {row["n"] for row in found} == {"1", "2", "3"}
    assert all(5 <= float(row[name]) < 6 for row in found for name in ("v[0]", "v[1]"))
    times = [int(row["ts"]) for row in found]
    late = sum(later < earlier for earlier, later in zip(times, times[1:], strict=False))
    assert max(times) < 4000 and 0.1 < late / len(times) < 0.35
    named = Counter(row["name"] for row in found)
    assert set(named) == {"k0", "k1"} and 2 < named["k1"] / named["k0"] < 4.5
    assert dfc("generate", program, "-o", "b.csv", *words, "--seed", "8").returncode == 0
    assert dfc("generate", program, "-o", "c.csv", *words, "--seed", "9").returncode == 0
    same, other = (tmp_path / "b.csv").read_bytes(), (tmp_path / "c.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() == same != other


def test_rates_for_a_running_program(dfc, native, tmp_path):
    """A file of rates needs no program; the source that follows it makes as many tuples as it says."""
    words = ("--arrivals", "random_walk:rate=500,step=80,low=100", "--seconds", "6s", "--every", "500ms")
    assert dfc("generate", "-o", "walk.txt", *words).returncode == 0
    lines = [line.split() for line in (tmp_path / "walk.txt").read_text().splitlines()]
    assert [line[0] for line in lines[:3]] == ["0", "0.5", "1"] and len(lines) == 12
    spec = "ticks=generate:rates=walk.txt,keys=50,start=0"
    assert native.at(tmp_path).run("--source", spec).returncode == 0
    expected = sum(float(line[1]) * 0.5 for line in lines)
    assert len((tmp_path / "out.csv").read_text().splitlines()) - 1 == pytest.approx(expected, abs=12)


def test_standard_output(dfc, program):
    answer = dfc("generate", program, "-o", "-", "--format", "jsonl", "--count", "2")
    assert answer.stdout.count('{"ts":') == 2 and answer.stdout.endswith("}\n")


@pytest.mark.parametrize("words", [
    ("-o", "x.csv", "--arrivals", "often"), ("-o", "x.csv", "--keys", "zipf:count=5"), ("-o", "x.parquet"),
    ("-o", "x.csv", "--keys", "uniform:count=1M"), ("-o", "x.csv", "--set", "y=1..2"),
    ("-o", "x.csv", "--set", "n=2..1"), ("-o", "x.csv", "--set", "ts=1..2"), ("-o", "x.csv", "--set", "small=0..70000"),
    ("-o", "x.csv", "--count", "many"),
    ("-o", "x.csv", "--delay", "uniform"), ("-o", "x.csv", "--source", "other"), ("-o", "-", "--format", "binary"),
    ("-o", "x.txt", "--arrivals", "poisson:rate=5"), ("-o", "x.csv", "--arrivals", "rates:none.txt")], ids=" ".join)
def test_wrong_words(dfc, program, tmp_path, words):
    answer = dfc("generate", program, *words)
    assert answer.returncode in (2, 4) and len(answer.stderr.splitlines()) == 1, answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["program.dfl"]


def test_a_program_is_needed_and_an_end(dfc, tmp_path):
    assert dfc("generate", "-o", "x.csv").returncode == 2
    (tmp_path / "a.dfl").write_text('app a\nrecord R { ts: timestamp<ms> }\nsource r: R = csv("r.csv") event time ts\n'
                                    'sink o = r to csv("o.csv")\n')
    answer = dfc("generate", "a.dfl", "-o", "x.csv")
    assert answer.returncode == 2 and "--count" in answer.stderr


def test_a_folder_that_can_not_be_written(dfc, program, tmp_path):
    (tmp_path / "file").write_text("")
    answer = dfc("generate", program, "-o", "file/x.csv")
    assert answer.returncode == 4 and answer.stderr.startswith("dfc: can't write file/x.csv")
