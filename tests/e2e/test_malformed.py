"""Rows that do not fit: counted, the first ones named with their line, kept if asked, and the run goes on."""

from __future__ import annotations

import json

import pytest

from tests.e2e.native import Native, compiled

PROGRAM = """\
app sieve
record Row {
  a: i8, b: i16, c: i32, d: i64, e: u8, f: u16, g: u32, h: u64,
  x: f32, y: f64, ok: bool, at: timestamp<ms>, lasts: duration<s>, word: symbol, note: text<4>,
}
source rows: Row = csv("rows.csv") event time at
sink out = rows to csv("out.csv")
"""
COLUMNS = ("a", "b", "c", "d", "e", "f", "g", "h", "x", "y", "ok", "at", "lasts", "word", "note")
GOOD = dict(zip(COLUMNS, "1 2 3 4 5 6 7 8 1.5 2.5 true 9 10 w n".split(), strict=True))
WHOLE = {"a": (-2**7, 2**7), "b": (-2**15, 2**15), "c": (-2**31, 2**31), "d": (-2**63, 2**63), "e": (0, 2**8),
         "f": (0, 2**16), "g": (0, 2**32), "h": (0, 2**64), "at": (-2**63, 2**63), "lasts": (-2**63, 2**63)}
# Timestamps near the ends of the axis are good values, but would make every other row late.
EDGES = {name: (low, high - 1) for name, (low, high) in WHOLE.items() if name != "at"}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Native:
    return compiled(PROGRAM, tmp_path_factory.mktemp("sieve"))


@pytest.fixture(scope="module")
def built_two(tmp_path_factory) -> Native:
    text = ("app two\nrecord R { n: i64 }\nsource left: R = csv(\"left.csv\")\nsource right: R = csv(\"right.csv\")\n"
            "sink out = left |> union right to csv(\"out.csv\")\n")
    return compiled(text, tmp_path_factory.mktemp("two"))


def row(**changed: object) -> bytes:
    cells = {**GOOD, **changed}
    return b",".join(cell if isinstance(cell, bytes) else str(cell).encode() for cell in cells.values())


HEADER = ",".join(COLUMNS).encode()
BAD_CELLS = [
    *((name, cell) for name in WHOLE
      for cell in ("", "x", "1.0", "+1", " 1", "1 ", "-", "0x1", "1e3", "٣", "1_0", "--1")),
    *((name, bound) for name, (low, high) in WHOLE.items() for bound in (low - 1, high)),
    *((name, "9" * 40) for name in WHOLE),
    *((name, cell) for name in ("x", "y")
      for cell in ("", "one", "1..5", "+1.0", " 1", "0x1p3", "1e", ".", "nan(1)", "infinity", "-")),
    *(("ok", cell) for cell in ("", "1", "True", "TRUE", "yes", "true ", "t")),
    ("note", "abcde"), ("note", "éée"), ("note", b"\xff"), ("note", b"\xc3"), ("note", b"\xed\xa0\x80"),
    ("note", b"\xc0\xaf"), ("word", b"\xf5\x80\x80\x80"), ("word", b"a\x80"),
]


@pytest.mark.parametrize("workers", [1, 3])
def test_cells_that_do_not_fit(built, tmp_path, workers):
    """All of them in one file, good rows between them; the two must not be mistaken for each other."""
    lines = [HEADER]
    for name, cell in BAD_CELLS:
        lines += [row(**{name: cell}), row()]
    (tmp_path / "rows.csv").write_bytes(b"\n".join(lines) + b"\n")
    answer = built.at(tmp_path).run("--stats", "--report", 10_000, "--workers", workers, errors="replace")
    assert answer.returncode == 0
    *said, total, stats = answer.stderr.splitlines()
    wrong = [line for line in said if not line.startswith("rows: line ")]
    assert not wrong and len(said) == len(BAD_CELLS)
    numbers = [int(line.split()[2].rstrip(":")) for line in said]
    assert numbers == list(range(2, 2 + 2 * len(BAD_CELLS), 2))
    for line, (name, _) in zip(said, BAD_CELLS, strict=True):
        assert f"field '{name}'" in line
    assert total == f"rows: {len(BAD_CELLS)} malformed rows in all"
    assert json.loads(stats)["malformed"] == len(BAD_CELLS)
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [row().decode()] * len(BAD_CELLS)


def test_cells_at_the_edges_fit(built, tmp_path):
    cells = [(name, bound) for name, bounds in EDGES.items() for bound in bounds]
    cells += [("x", "nan"), ("y", "-inf"), ("y", "1.5e300"), ("note", "éé"), ("note", ""), ("word", ""),
              ("ok", "false")]
    lines = [row(**{name: cell}) for name, cell in cells]
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, *lines]))
    answer = built.at(tmp_path).run()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_bytes().replace(b"1.5e+300", b"1.5e300") == b"\n".join([HEADER, *lines]) + b"\n"


ROWS = {
    "too few fields": (row()[:-2], "field"),
    "too many fields": (row() + b",1", "field"),
    "stray quote": (row(word='a"b'), "quote"),
    "text after a quote": (row(word='"a"b'), "quote"),
    "NUL byte in a number": (row(a=b"1\0"), "field 'a'"),
    "only a comma": (b",", "field"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_fit(built, tmp_path, name):
    bad, reason = ROWS[name]
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, row(), bad, b"", row(), b""]))
    answer = built.at(tmp_path).run("--malformed", "bad rows.csv")
    assert answer.returncode == 0
    first, total = answer.stderr.splitlines()
    assert first.startswith("rows: line 3: ") and reason in first, first
    assert total == "rows: 1 malformed row in all"
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [row().decode()] * 2
    assert (tmp_path / "bad rows.csv").read_bytes() == HEADER + b"\n" + bad + b"\n"


def test_a_quote_that_never_closes(built, tmp_path):
    """It swallows the rest of the file: one malformed row, from the line where it began."""
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, row(), row(word='"open'), row(), row()]))
    answer = built.at(tmp_path).run()
    assert answer.returncode == 0
    assert answer.stderr.splitlines()[0].startswith("rows: line 3: ")
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [row().decode()]


def test_line_numbers_count_lines_not_rows(built, tmp_path):
    """Also after quoted newlines, empty lines and CRLF."""
    text = [HEADER, b"", row(word='"a\nb\nc"'), b"", row(a="x"), row(word='"\n"', a="y"), row(b="z")]
    (tmp_path / "rows.csv").write_bytes(b"\r\n".join(text))
    answer = built.at(tmp_path).run()
    said = [line.split(":")[1].strip() for line in answer.stderr.splitlines()[:-1]]
    assert (answer.returncode, said) == (0, ["line 7", "line 8", "line 10"])


def test_a_row_that_is_too_long(built, tmp_path):
    """The limit is not exact (a row in the buffer is read anyway), but far beyond it a row is refused and skipped."""
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, row(), row(word="w" * 3_000_000), row()]))
    answer = built.at(tmp_path).run("--max-row", 500_000)
    assert answer.returncode == 0 and "rows: line 3: " in answer.stderr and "1 malformed row in all" in answer.stderr
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == [row().decode()] * 2
    answer = built.at(tmp_path).run()
    assert (answer.returncode, answer.stderr) == (0, "")


def test_nul_in_text_is_a_character(built, tmp_path):
    (tmp_path / "rows.csv").write_bytes(HEADER + b"\n" + row(word=b"a\0b", note=b"\0\0") + b"\n")
    answer = built.at(tmp_path).run()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "rows.csv").read_bytes()


@pytest.mark.parametrize(("words", "shown"), [((), 10), (("--report", "3"), 3), (("--report", "0"), 0)])
def test_only_the_first_are_named(built, tmp_path, words, shown):
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, *[row(a="x")] * 5000]))
    lines = built.at(tmp_path).run(*words).stderr.splitlines()
    assert sum(line.startswith("rows: line ") for line in lines) == shown
    assert len(lines) <= shown + 2 and lines[-1] == "rows: 5000 malformed rows in all"


def test_what_is_shown_of_a_cell_can_not_harm_a_terminal(built, tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, row(a=b"\x1b[2J" + b"z" * 10_000)]))
    first = built.at(tmp_path).run().stderr.splitlines()[0]
    assert "\x1b" not in first and len(first) < 300


def test_malformed_rows_move_no_watermark(built, tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"\n".join([HEADER, row(at=1), row(at=1000, a="x"), row(at=2)]))
    answer = built.at(tmp_path).run("--stats")
    assert json.loads(answer.stderr.splitlines()[-1])["late"] == 0
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3


def test_each_of_several_sources_keeps_its_own(built_two, tmp_path):
    (tmp_path / "left.csv").write_text("n\n1\nx\n")
    (tmp_path / "right.csv").write_text("more,n\na,y\nb,2\nc,z\n")
    answer = built_two.at(tmp_path).run("--malformed", "bad")
    assert answer.returncode == 0 and "left: 1 malformed row " in answer.stderr and "right: 2 malf" in answer.stderr
    assert (tmp_path / "bad.left").read_text() == "n\nx\n"
    assert (tmp_path / "bad.right").read_text() == "more,n\na,y\nc,z\n"


def test_lines_and_binary(tmp_path):
    text = ("app words\nrecord Line { line: text<5> }\nsource lines: Line = lines(\"in.txt\")\n"
            "sink out = lines to csv(\"out.csv\")\n")
    program = compiled(text, tmp_path)
    (tmp_path / "in.txt").write_bytes(b"one\n\ntoolong\nb\xffd\nt\"w,o\r\nlast")
    answer = program.run("--malformed", "bad")
    assert answer.returncode == 0
    assert [line.split(":")[1] for line in answer.stderr.splitlines()[:-1]] == [" line 3", " line 4"]
    assert (tmp_path / "out.csv").read_text() == 'line\none\n""\n"t""w,o"\nlast\n'
    assert (tmp_path / "bad").read_bytes() == b"toolong\nb\xffd\n"
    (tmp_path / "cut.bin").write_bytes(b"one\0\0two")
    answer = program.run("--source", "lines=binary:cut.bin")
    assert answer.returncode == 0 and "malformed" in answer.stderr
    assert (tmp_path / "out.csv").read_text() == "line\none\n"


def test_a_zero_within_a_text_comes_back_from_a_binary_file(tmp_path):
    program = compiled('app texts\nrecord Line { body: text<5> }\nsource lines: Line = jsonl("in.jsonl")\n'
                       'sink out = lines to jsonl("out.jsonl")\n', tmp_path)
    rows = "".join(f'{{"body":"{body}"}}\n'
                   for body in ("a\\u0000b", "\\u0000", "\\u0000c", "", "abcde", "a\\u0000\\u0000"))
    (tmp_path / "in.jsonl").write_text(rows)
    assert program.run("--sink", "out=binary:packed").returncode == 0
    answer = program.run("--source", "lines=binary:packed")
    assert (answer.returncode, answer.stderr) == (0, "")
    found = [json.loads(line)["body"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found == [json.loads(line)["body"].rstrip("\0") for line in rows.splitlines()]
