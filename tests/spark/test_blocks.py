"""Blocks of files against the interpreter's readers: the same rows, the same bad ones at the same lines. No Spark."""

from __future__ import annotations

import json
import math
import os
import random

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")

from dfc.compiler.interpret.csv_rows import Malformed, rows_of  # noqa: E402
from dfc.compiler.interpret.json_rows import json_rows_of  # noqa: E402
from dfc.compiler.spark.blocks import CsvBlock, JsonBlock, Rows, header_of, read_lines  # noqa: E402
from dfc.compiler.spark.parts import Block, take  # noqa: E402
from dfc.compiler.spark.schema import ROW, SourceColumns  # noqa: E402
from dfc.dsl.types import BOOL, F64, SYMBOL, Field, Float, Int, Record, Text, Timestamp  # noqa: E402

SEED = int(os.environ.get("DFC_TEST_SEED", "7"))
RECORD = Record("R", (Field("ts", Timestamp("ms")), Field("key", SYMBOL), Field("price", F64),
                      Field("small", Float(32)), Field("size", Int(8, False)), Field("ok", BOOL),
                      Field("note", Text(4))))
COLUMNS = SourceColumns("r", RECORD, "ts", 10 ** 6, ",")
NAMES = ["extra", *COLUMNS.names]
ODD = ["", " 1", "+1", "0x1F", "1e3", "1.", ".5", "nan", "NaN", "inf", "Infinity", "-0", "256", "9" * 20, "1e400",
       "true", "True", "é", "ééé", "null", "x y", "1_000", "00012", "-inf", "3.4028236e38", "1e-46", "\xa05"]


def plain(at: int) -> list[str]:
    return ["e", str(1000 + at), f"k{at % 9}", f"{at / 8}", f"{at / 16}", str(at % 256), "true" if at % 2 else "false",
            "ab"]


def same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return left == right or math.isnan(left) and math.isnan(right)
    return left == right


def check(found: Rows, wanted: list[tuple | Malformed]) -> None:
    table = found.table(COLUMNS.schema())
    rows = list(zip(*(table[name].to_pylist() for name in COLUMNS.names), strict=True))
    good = [one for one in wanted if not isinstance(one, Malformed)]
    assert len(rows) == len(good)
    assert all(same(a, b) for row, other in zip(rows, good, strict=True) for a, b in zip(row, other, strict=True))
    bad = [(one.line, one.reason) for one in wanted if isinstance(one, Malformed)]
    assert sorted((line, reason) for line, reason, _ in found.malformed) == sorted(bad)
    lines = table[ROW].to_pylist()
    assert lines == sorted(set(lines)) and not set(lines) & {line for line, _ in bad}


@pytest.mark.parametrize("share", [0.0, 0.002, 0.2])
def test_csv_is_read_as_the_interpreter_reads_it(share):
    print(f"DFC_TEST_SEED={SEED}")
    chance, lines = random.Random(SEED), []
    for at in range(3000):
        fields = plain(at)
        if chance.random() < share:
            fields[chance.randrange(len(fields))] = chance.choice(ODD)
        if chance.random() < share / 4:
            fields.pop()
        lines.append(",".join(fields) + chance.choice(["", "", "\r" if share else ""]))
        if chance.random() < share / 4:
            lines.append("")
    data = ("\n".join([",".join(NAMES), *lines])).encode()
    names, begin, line = header_of(data, ",")
    found, block = Rows(), CsvBlock(COLUMNS, names)
    read_lines(data[begin:], line, block.fast, block.strict, found)
    check(found, list(rows_of(data, RECORD)))
    assert share or len(found.tables) == 1, "plain rows are read in one go"


def test_quotes_and_newlines_inside_of_fields(tmp_path, monkeypatch):
    """In chunks of any size."""
    print(f"DFC_TEST_SEED={SEED}")
    chance, lines = random.Random(SEED), [",".join(NAMES)]
    for at in range(400):
        fields = plain(at)
        if chance.random() < 0.3:
            fields[2] = chance.choice(['"a\nb"', '"a,b"', '"say ""hi"""', 'in"side', '"open" end', '""', '"\r\n\n"'])
        lines.append(",".join(fields))
    data = "\n".join(lines).encode()
    path = tmp_path / "quoted.csv"
    path.write_bytes(data)
    names, begin, line = header_of(data, ",")
    for size in (50, 333, 1 << 20):
        monkeypatch.setattr("dfc.compiler.spark.parts.CHUNK", size)
        block = CsvBlock(COLUMNS, names)
        from dfc.compiler.spark.parts import _chunks
        work = Block(0, str(path), "csv", begin, len(data), line, True, tuple(names), COLUMNS, "", "")
        found = Rows()
        for rows in block.quoted(_chunks(work), line):
            found.tables += rows.tables
            found.malformed += rows.malformed
        check(found, list(rows_of(data, RECORD)))


@pytest.mark.parametrize("share", [0.0, 0.002, 0.2])
def test_json_lines_are_read_as_the_interpreter_reads_them(share):
    print(f"DFC_TEST_SEED={SEED}")
    chance, lines = random.Random(SEED), []
    for at in range(2000):
        row = {"ts": at, "key": f"k{at % 9}", "price": at / 8, "small": at / 16, "size": at % 256, "ok": at % 2 == 0,
               "note": "ab", "extra": at}
        if chance.random() < share:
            name = chance.choice(list(row))
            row[name] = chance.choice([None, "x", 1.5, -1, 300, True, "nan", "ééé", {"a": 1}, [1], "\ud83d", 10 ** 19])
        text = json.dumps(row)
        if chance.random() < share:
            odd = [text[:-5], text + " x", text * 2, text.replace('"ts"', '"key"'), "", "[]", text + "\r"]
            text = chance.choice(odd)
        lines.append(text)
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    found, block = Rows(), JsonBlock(COLUMNS)
    read_lines(data, 1, block.fast, block.strict, found)
    check(found, list(json_rows_of(data, RECORD)))
    assert share or len(found.tables) == 1


def test_a_full_disk_is_one_line(tmp_path):
    """The file of bad rows stands on a device that is always full."""
    path = tmp_path / "r.csv"
    path.write_text(",".join(NAMES) + "\nbad\n")
    for folder in ("parts", "rejects"):
        (tmp_path / folder).mkdir()
    (tmp_path / "rejects" / "000000-0000.jsonl").symlink_to("/dev/full")
    begin = len(",".join(NAMES)) + 1
    block = Block(0, str(path), "csv", begin, path.stat().st_size, 2, False, tuple(NAMES), COLUMNS,
                  str(tmp_path / "parts"), str(tmp_path / "rejects"))
    [taken] = take(block)
    assert taken.error == f"can't write `{tmp_path}/rejects/000000-0000.jsonl`: No space left on device"
