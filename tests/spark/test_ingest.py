"""`dfc ingest`: what lands in the folder, once, whole; and what it says about input that is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.programs import HEADER, HOUR, START, dfc, program_in, row

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def ingest(spark, tmp_path, capsys):
    """Calls the command with the program; the folder of traces is `traces`."""
    program, traces = program_in(tmp_path), tmp_path / "traces"

    def call(*words: object) -> tuple[int, str, str]:
        return dfc(capsys, "ingest", *words, "-o", traces, "--program", program)

    return call


def manifest(folder: Path) -> dict:
    return json.loads((folder / "traces" / "manifest.json").read_text())


def rows_in(folder: Path, spark) -> list:
    return sorted(tuple(one) for one in spark.read.parquet(str(folder / "traces" / "trades")).select(
        "_file", "_row", "ts", "symbol", "price", "size", "note").collect())


def leftovers(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if ".staging" in str(path)]


def test_rows_are_typed_partitioned_and_know_where_they_came_from(spark, ingest, tmp_path):
    (tmp_path / "a.csv").write_text(HEADER + row(1) + row(2) + row(3, START + HOUR))
    code, said, _ = ingest(tmp_path / "a.csv")
    assert code == 0 and "3 rows of trades" in said
    place = str(tmp_path / "a.csv")
    assert rows_in(tmp_path, spark) == [
        (place, 2, START + 1, "k1", 0.25, 1, "n1"), (place, 3, START + 2, "k2", 0.5, 2, "n2"),
        (place, 4, START + HOUR, "k0", 0.75, 3, "n3")]
    traces = tmp_path / "traces"
    folders = sorted(str(one.parent.relative_to(traces)) for one in traces.rglob("*.parquet"))
    assert folders == ["trades/date=2023-11-14/hour=22", "trades/date=2023-11-14/hour=23"]
    types = dict(spark.read.parquet(str(tmp_path / "traces" / "trades")).dtypes)
    assert (types["ts"], types["price"], types["size"], types["symbol"]) == ("bigint", "double", "int", "string")


def test_bad_rows_are_kept_apart_with_place_and_reason(spark, ingest, tmp_path):
    lines = [row(1), "1,k,x,1,n\n", row(2), "1,k,1.0\n", f"{2 ** 62},k,1.0,1,n\n", row(3)[:-8]]
    (tmp_path / "a.csv").write_text(HEADER + "".join(lines))
    code, said, _ = ingest(tmp_path / "a.csv")
    assert code == 0 and "2 rows of trades, 4 rejected ('x' is no f64)" in said
    [entry] = manifest(tmp_path)["files"].values()
    found = [json.loads(line) for line in (tmp_path / "traces" / entry["rejects"]).read_text().splitlines()]
    assert [(one["file"], one["line"], one["reason"]) for one in found] == [
        (str(tmp_path / "a.csv"), 3, "'x' is no f64"), (str(tmp_path / "a.csv"), 5, "3 fields, the header has 5"),
        (str(tmp_path / "a.csv"), 6, f"ts {2 ** 62} is no time between the years 1 and 9999"),
        (str(tmp_path / "a.csv"), 7, found[3]["reason"])]
    assert found[0]["text"] == "1,k,x,1,n" and entry["rejected"] == 4


def test_again_brings_nothing_and_new_files_only_themselves(spark, ingest, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(HEADER + row(ord(name)))
    ingest(tmp_path / "a.csv")
    before = manifest(tmp_path)
    assert ingest(tmp_path / "a.csv")[1].endswith("0 new files, 0 rows; 1 files were known\n")
    (tmp_path / "a.csv").touch()  # another time, the same content
    (tmp_path / "copy.csv").write_bytes((tmp_path / "a.csv").read_bytes())
    assert "0 new files, 0 rows; 2 files were known" in ingest(tmp_path / "a.csv", tmp_path / "copy.csv")[1]
    assert manifest(tmp_path) == before
    assert "1 new files, 1 rows; 1 files were known" in ingest(tmp_path / "a.csv", tmp_path / "b.csv")[1]
    assert [one[2] for one in rows_in(tmp_path, spark)] == [START + 97, START + 98]


def test_a_file_that_changed_takes_the_place_of_what_it_was(spark, ingest, tmp_path):
    (tmp_path / "a.csv").write_text(HEADER + row(1) + "bad\n")
    ingest(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(HEADER + row(1) + row(2))
    ingest(tmp_path / "a.csv")
    assert [one[2] for one in rows_in(tmp_path, spark)] == [START + 1, START + 2]
    assert not list((tmp_path / "traces" / "quarantine").rglob("*.jsonl"))


def test_what_an_interrupted_ingestion_left_is_cleared_away(spark, ingest, tmp_path):
    (tmp_path / "a.csv").write_text(HEADER + row(1))
    (tmp_path / "b.csv").write_text(HEADER + row(2))
    ingest(tmp_path / "a.csv")
    [part] = (tmp_path / "traces").rglob("*.parquet")
    (part.parent / "orphan.parquet").write_bytes(part.read_bytes())
    (tmp_path / "traces" / ".staging-x").mkdir()
    ingest(tmp_path / "b.csv")
    assert len(rows_in(tmp_path, spark)) == 2 and not leftovers(tmp_path)


def test_json_lines_parquet_and_csv_come_together(spark, ingest, tmp_path):
    ingest_table = {"ts": [START + 5], "symbol": ["p"], "price": [1.0], "size": [1], "note": ["x"]}
    import pyarrow as pa
    pq.write_table(pa.table(ingest_table), tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text(f'{{"ts":{START},"symbol":"j","price":2,"size":1,"note":""}}\n{{"ts":1}}\n')
    (tmp_path / "c.csv").write_text('note,symbol,price,size,ts\n"a\nb",c,3,1,7\n')
    code, said, _ = ingest(tmp_path / "a.parquet", tmp_path / "b.jsonl", tmp_path / "c.csv")
    assert code == 0 and "3 new files, 3 rows; 1 rejected" in said
    assert sorted(one[1:4] + one[6:] for one in rows_in(tmp_path, spark)) == [
        (0, START + 5, "p", "x"), (1, START, "j", ""), (2, 7, "c", "a\nb")]


def test_many_blocks_keep_lines_and_rows(spark, ingest, tmp_path, monkeypatch):
    """Blocks are cut behind newlines; the line of a row is that of the file."""
    monkeypatch.setattr("dfc.compiler.spark.ingest.BLOCK", 1000)
    (tmp_path / "a.csv").write_text(HEADER + "".join(row(at) if at % 40 else "bad\n" for at in range(1, 300)))
    ingest(tmp_path / "a.csv")
    found = rows_in(tmp_path, spark)
    assert [(one[1], one[2]) for one in found] == [(at + 1, START + at) for at in range(1, 300) if at % 40]
    [entry] = manifest(tmp_path)["files"].values()
    lines = [json.loads(line)["line"] for line in (tmp_path / "traces" / entry["rejects"]).read_text().splitlines()]
    assert len(entry["pieces"]) > 5 and lines == [at + 1 for at in range(1, 300) if not at % 40]


# --- wrong input ------------------------------------------------------------------------------------


def only_line(answer: tuple[int, str, str], code: int, *words: str) -> None:
    assert answer[0] == code, answer
    assert answer[2].count("\n") == 1 and all(word in answer[2] for word in words), answer[2]


def test_wrong_input_is_one_line_and_leaves_nothing(spark, ingest, tmp_path):
    empty, good, other = tmp_path / "empty", tmp_path / "a.csv", tmp_path / "other.csv"
    empty.mkdir()
    good.write_text(HEADER + row(1))
    other.write_text("ts,name\n1,x\n")
    only_line(ingest(empty), 2, "has no files that end in .csv")
    only_line(ingest(tmp_path / "none.csv"), 2, "there is no file")
    only_line(ingest(good, other), 2, "other.csv` fits no source", "needs symbol, price, size, note", "has ts, name")
    only_line(ingest(good, "--source", "nothing=*.csv"), 2, "no source `nothing`; there is trades")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and then nothing")
    only_line(ingest(good, tmp_path / "cut.parquet"), 4, "cut.parquet` is no whole Parquet file")
    damaged = tmp_path / "damaged.parquet"
    pq.write_table(pa.table({"ts": list(range(5000)), "symbol": ["a"] * 5000, "price": [1.5] * 5000,
                             "size": [1] * 5000, "note": ["n"] * 5000}), damaged, write_page_checksum=True)
    data = bytearray(damaged.read_bytes())
    data[2000] ^= 0x5A
    damaged.write_bytes(data)
    only_line(ingest(damaged), 4, "damaged.parquet` can't be read", "nothing was taken in")
    (tmp_path / "zero.csv").write_text("")
    only_line(ingest(tmp_path / "zero.csv"), 2, "zero.csv`: the header is malformed: it is empty")
    assert not (tmp_path / "traces").exists()


def test_a_quarantine_that_can_not_be_written_takes_nothing_in(spark, ingest, tmp_path):
    (tmp_path / "a.csv").write_text(HEADER + "bad\n")
    (tmp_path / "full").write_text("no folder")
    only_line(ingest(tmp_path / "a.csv", "--quarantine", tmp_path / "full"), 4, "can't write", "nothing was taken in")
    assert not (tmp_path / "traces").exists()


def test_what_fails_late_takes_back_what_was_in_place(spark, ingest, tmp_path):
    """The log is of another program, which shows when the events are read already; then the folder as it was before."""
    (tmp_path / "a.csv").write_text(HEADER + row(1) + "bad\n")
    (tmp_path / "z.jsonl").write_text('{"schema": 1, "kind": "start", "uptime": 0, "app": "others"}\n')
    (tmp_path / "first.csv").write_text(HEADER + row(9))
    ingest(tmp_path / "first.csv")
    before = sorted(path for path in (tmp_path / "traces").rglob("*") if path.is_file())
    only_line(ingest(tmp_path / "a.csv", tmp_path / "z.jsonl"), 4, "z.jsonl` is a log of `others`")
    assert sorted(path for path in (tmp_path / "traces").rglob("*") if path.is_file()) == before


def test_traces_of_another_program_are_left_alone(spark, ingest, tmp_path, capsys):
    (tmp_path / "a.csv").write_text(HEADER + row(1))
    ingest(tmp_path / "a.csv")
    other = tmp_path / "other.dfl"
    other.write_text((tmp_path / "app.dfl").read_text().replace("app trades", "app others"))
    only_line(dfc(capsys, "ingest", tmp_path / "a.csv", "-o", tmp_path / "traces", "--program", other), 2,
              "has traces of `trades`", "`others`")
    other.write_text((tmp_path / "app.dfl").read_text().replace("size: i32", "size: i64"))
    only_line(dfc(capsys, "ingest", tmp_path / "a.csv", "-o", tmp_path / "traces", "--program", other), 2,
              "source `trades` has other columns")


def test_a_master_that_is_not_there_is_one_line(tmp_path):
    """In a process of its own: a session that runs is used whatever the master. Nothing listens at port 1."""
    (tmp_path / "a.csv").write_text(HEADER + row(1))
    dfc_ = Path(sys.executable).with_name("dfc")
    answer = subprocess.run([dfc_, "ingest", "a.csv", "-o", "traces", "--program", program_in(tmp_path), "--master",
                             "spark://127.0.0.1:1"], cwd=tmp_path, capture_output=True, text=True)
    only_line((answer.returncode, answer.stdout, answer.stderr), 4, "spark://127.0.0.1:1 does not answer")
    assert not (tmp_path / "traces").exists()


def test_without_java_or_pyspark_one_line_says_how_to_add_it(tmp_path, capsys, monkeypatch):
    words = ("ingest", tmp_path, "-o", tmp_path / "traces", "--program", program_in(tmp_path))
    with monkeypatch.context() as without:
        without.setenv("PATH", str(tmp_path))
        without.delenv("JAVA_HOME", raising=False)
        only_line(dfc(capsys, *words), 3, "Spark needs Java 17")
    monkeypatch.setattr("dfc.compiler.spark.session.find_spec", lambda name: None)
    only_line(dfc(capsys, *words), 3, "pip install 'dfc[spark]'")
