"""`dfc run --engine spark` gives what the native program gives: every conformance case, in one session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
from dfc.compiler.failure import Failure, Usage  # noqa: E402
from dfc.compiler.spark import engine  # noqa: E402
from dfc.compiler.spark.words import Words  # noqa: E402

from tests.rows import file_difference, read_table  # noqa: E402
from tests.spark.divided import build  # noqa: E402

CASES = sorted((Path(__file__).parents[1] / "conformance" / "cases").glob("*/program.dfl"))


def run(spark, folder: Path, text: str, words: Words | None = None, **options) -> None:
    with chdir(folder):
        engine.run(build(text), words or Words(), spark, **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_case(spark, case: Path, tmp_path: Path):
    work = tmp_path / "case"
    shutil.copytree(case.parent, work)
    run(spark, work, case.read_text(), range_bytes=8000)
    for expected in sorted(work.glob("*.expected.csv")):
        wrong = file_difference(expected, work / expected.name.replace(".expected.csv", ".csv"))
        assert not wrong
    assert not list(work.glob(".*"))  # nothing half-written is left


# --- one program with everything in it ---------------------------------------------------------------

EVENTS = """\
app events
record Event { ts: timestamp<ms>, user: symbol, note: text<12>, amount: i32 }
source events: Event = jsonl("events.jsonl") event time ts slack auto late to tardy
stream runs = events |> by user |> scan { user, note, n: count(), total: sum(amount) }
sink out = runs to csv("out.csv")
sink late = tardy to jsonl("late.jsonl")
sink packed = runs to binary("packed.bin")
"""
NATIVE = EVENTS.replace('"out.csv"', '"n.csv"').replace('"late.jsonl"', '"n.jsonl"').replace('"packed.bin"', '"n.bin"')


def write_events(folder: Path, count: int = 400) -> None:
    lines = []
    for number in range(count):
        event = {"ts": number * 10 - 35 * (number % 7 == 3), "user": f"ü{number % 5}", "note": f"n\n{number}",
                 "amount": number}
        lines.append(json.dumps(event) if number % 50 else '{"ts": "never"}')
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_every_format_is_written_as_the_program_writes_it(spark, tmp_path, dfc, capfd):
    """Results that tuples release come in the same total order, so that the files have the same bytes."""
    write_events(tmp_path)
    (tmp_path / "native.dfl").write_text(NATIVE)
    answer = dfc("run", "native.dfl")
    assert answer.returncode == 0, answer.stderr
    capfd.readouterr()
    run(spark, tmp_path, EVENTS, range_bytes=3000)
    for mine, native in (("out.csv", "n.csv"), ("late.jsonl", "n.jsonl"), ("packed.bin", "n.bin"),
                         ("packed.bin.symbols", "n.bin.symbols")):
        assert (tmp_path / mine).read_bytes() == (tmp_path / native).read_bytes(), mine
    assert len((tmp_path / "late.jsonl").read_text().splitlines()) > 0
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("events:")]
    assert said == [line for line in answer.stderr.splitlines() if line.startswith("events:")] and len(said) > 8


SUMS = """\
app sums
record Item { key: i64, v: i64 }
source items: Item = csv("items.csv")
stream all = items |> by key |> scan { key, n: count(), v: sum(v) }
sink out = all to csv("out.csv")
"""


def test_quotes_keep_a_file_in_one_piece(spark, tmp_path):
    rows = [f'{number % 3},"{number}"\n' if number % 2 else f"{number % 3},{number}\n" for number in range(300)]
    (tmp_path / "items.csv").write_text("key,v\n" + "".join(rows))
    run(spark, tmp_path, SUMS, range_bytes=500)
    header, got = read_table(tmp_path / "out.csv")
    assert header == ("key", "n", "v") and len(got) == 300 and got[299] == ("2", "100", str(sum(range(2, 300, 3))))


def test_no_rows_leave_a_header(spark, tmp_path):
    (tmp_path / "items.csv").write_text("key,v\n")
    run(spark, tmp_path, SUMS)
    assert (tmp_path / "out.csv").read_text() == "key,n,v\n"


def test_a_folder_is_read_by_name(spark, tmp_path):
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "b.csv").write_text("key,v\n1,2\n1,3\n")
    (tmp_path / "items" / "a.csv").write_text("v,key\n1,1\n")
    run(spark, tmp_path, SUMS, Words(sources={"items": "csv:items"}))
    assert read_table(tmp_path / "out.csv")[1] == [("1", "1", "1"), ("1", "2", "3"), ("1", "3", "6")]


# --- what goes wrong ---------------------------------------------------------------------------------


def test_a_failed_run_leaves_no_output(spark, tmp_path):
    (tmp_path / "items.csv").write_text("key,w\n1,2\n")
    (tmp_path / "out.csv").write_text("old\n")
    with pytest.raises(Failure, match="no column 'v'|column 'v'") as failure:
        run(spark, tmp_path, SUMS)
    assert "\n" not in str(failure.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["items.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old\n"


def test_a_missing_file(spark, tmp_path):
    with pytest.raises(Failure, match="cannot open 'items.csv': No such file"):
        run(spark, tmp_path, SUMS)


@pytest.mark.parametrize("spec", ["csv:-", "tcp:localhost:9000"])
def test_what_is_no_file_is_refused(spark, tmp_path, spec):
    with pytest.raises(Usage, match="is no file"):
        run(spark, tmp_path, SUMS, Words(sources={"items": spec}))


# --- separate processes, and the command ----------------------------------------------------------------


@pytest.mark.slow
def test_a_local_cluster_without_dfc(tmp_path):
    """Executors that are processes of their own, whose Python has no dfc: all they need comes with the job."""
    python = tmp_path / "python"
    packages = os.pathsep.join(path for path in sys.path if path.endswith("site-packages"))
    bare = os.path.realpath(sys.executable)
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec {bare} "$@"\n')
    python.chmod(0o755)
    answer = subprocess.run([sys.executable, "-m", "tests.spark.on_cluster", str(tmp_path)], capture_output=True,
                            text=True, cwd=Path(__file__).parents[2], env={**os.environ, "PYSPARK_PYTHON": str(python)})
    assert answer.returncode == 0, answer.stderr
    names = [case.parent.name for case in CASES]
    assert answer.stdout.splitlines() == ["no dfc", *names, "ingest", "profile", "deploy"]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.parent.name)
def test_the_command(case: Path, tmp_path: Path, dfc):
    work = tmp_path / "case"
    shutil.copytree(case.parent, work)
    answer = dfc("run", "--engine", "spark", "program.dfl", cwd=work)
    assert (answer.returncode, answer.stderr) == (0, "")
    for expected in sorted(work.glob("*.expected.csv")):
        assert not file_difference(expected, work / expected.name.replace(".expected.csv", ".csv"))
