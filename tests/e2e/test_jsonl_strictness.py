"""Two readers of JSON lines, the runtime in C and the interpreter in Python, take the same lines as the same values."""

from __future__ import annotations

import random

from dfc.compiler.interpret.csv_rows import Malformed, format_header, format_row
from dfc.compiler.interpret.json_rows import format_json, json_rows_of
from dfc.dsl.types import BOOL, F64, SYMBOL, Field, Float, Int, Record, Text, Timestamp

from tests.e2e.native import compiled

PROGRAM = """\
app strict
record Row { ts: timestamp<ms>, name: symbol, note: text<6>, x: f64, y: f32, n: i32, u: u64, ok: bool }
source rows: Row = jsonl("rows.jsonl")
sink table = rows to csv("rows.csv")
sink lines = rows to jsonl("out.jsonl")
"""
ROW = Record("Row", (Field("ts", Timestamp("ms")), Field("name", SYMBOL), Field("note", Text(6)), Field("x", F64),
                     Field("y", Float(32)), Field("n", Int(32, True)), Field("u", Int(64, False)), Field("ok", BOOL)))
SEEDS = [
    b'{"ts":1,"name":"A","note":"x","x":1.5,"y":0.1,"n":-2,"u":3,"ok":true}',
    b'{"ok":false,"u":18446744073709551615,"n":2147483647,"y":"inf","x":"nan","note":"","name":"","ts":-5}',
    rb'{"ts":1,"name":"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t","note":"\u0000","x":1e-7,"y":-0.0,"n":0,"u":0,"ok":true}',
    b' { "z" : [ 1 , { "a" : [ ] , "b" : null } ] , "ts" : 7 , "name" : "\xc3\xa9" , "note" : "\xf0\x9f\x98\x80" , '
    b'"x" : 1E+5 , "y" : 10 , "n" : 1 , "u" : 1 , "ok" : true } ',
]
WORDS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud83d", b"\\ude00", b"\\u0041", b"null", b"true",
         b"NaN", b'"nan"', b"-", b"+", b"0", b"00", b"1e5", b"1.", b".5", b"1e999", b" ", b"\t", b"\r", b"\x00",
         b"\x0b", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xe2\x80\xa8", b"/**/",
         b'"ts":1,', b'"ts"', b"9223372036854775808", b"99999999999999999999999"]


def mutated(pick: random.Random) -> bytes:
    line = pick.choice(SEEDS)
    for _ in range(pick.randrange(4)):
        at = pick.randrange(len(line) + 1)
        gone = pick.choice((0, 0, 1, 1, 4, 12))
        new = pick.choice((b"", pick.choice(WORDS), pick.choice(WORDS), bytes([pick.randrange(256)])))
        line = line[:at] + new + line[at + gone:]
    return line.replace(b"\n", b"")


def test_both_readers_agree(tmp_path):
    pick = random.Random(2026)
    data = b"\n".join(mutated(pick) for _ in range(20_000)) + b"\n"
    program = compiled(PROGRAM, tmp_path)
    (tmp_path / "rows.jsonl").write_bytes(data)
    answer = program.run("--report", 0)
    assert answer.returncode == 0, answer.stderr
    rows = list(json_rows_of(data, ROW))
    good = [row for row in rows if not isinstance(row, Malformed)]
    assert 2_000 < len(good) < len(rows)
    table = "".join(f"{line}\n" for line in [format_header(ROW), *(format_row(row, ROW) for row in good)])
    assert (tmp_path / "rows.csv").read_bytes() == table.encode()
    assert (tmp_path / "out.jsonl").read_bytes() == "".join(f"{format_json(row, ROW)}\n" for row in good).encode()
    assert answer.stderr.splitlines()[-1] == f"rows: {len(rows) - len(good)} malformed rows in all"
