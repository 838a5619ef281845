"""What `dfc run --interpret` and `dfc generate` write: pipes, devices and links stay what they are, and nothing is
written when something can't be."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
app copies
record Row {{ id: i32, name: symbol }}
source rows: Row = csv("rows.csv")
stream picked = rows |> map {{ {fields} }}
sink first = rows to csv("first.csv")
sink second = picked to {second}
"""
ROWS = "id,name\n1,a\n2,b\n3,a\n"


def prepare(folder: Path, second: str, fields: str = "id, name") -> None:
    (folder / "program.dfl").write_text(PROGRAM.format(second=second, fields=fields))
    (folder / "rows.csv").write_text(ROWS)


COMMANDS = {"interpret": ("run", "--interpret", "program.dfl"),
            "generate": ("generate", "program.dfl", "--count", "3", "--format", "csv", "-o", "place"),
            "rates": ("generate", "--arrivals", "constant:rate=5", "--seconds", "3s", "--format", "rates", "-o",
                      "place")}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe(tmp_path, dfc, command):
    prepare(tmp_path, 'csv("place")')
    os.mkfifo(tmp_path / "place")
    reader = subprocess.Popen([sys.executable, "-c", "print(open('place').read(), end='')"], cwd=tmp_path, text=True,
                              stdout=subprocess.PIPE)
    answer = dfc(*COMMANDS[command])
    assert answer.returncode == 0, answer.stderr
    assert stat.S_ISFIFO((tmp_path / "place").stat().st_mode)
    got, _ = reader.communicate(timeout=60)
    assert got == ROWS if command == "interpret" else len(got.splitlines()) >= 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link(tmp_path, dfc, command):
    prepare(tmp_path, 'csv("place")')
    (tmp_path / "target").write_text("old")
    (tmp_path / "place").symlink_to("target")
    assert dfc(*COMMANDS[command]).returncode == 0
    assert os.readlink(tmp_path / "place") == "target" and (tmp_path / "target").read_text() != "old"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_device(tmp_path, dfc, command):
    prepare(tmp_path, 'csv("place")')
    (tmp_path / "place").symlink_to("/dev/full")
    answer = dfc(*COMMANDS[command])
    assert (answer.returncode, answer.stderr) == (4, "dfc: can't write place: No space left on device\n")
    assert (tmp_path / "place").is_symlink() and not (tmp_path / "first.csv").exists()


def test_the_interpreter_writes_binary(tmp_path, dfc):
    prepare(tmp_path, 'binary("second.bin")')
    answer = dfc("run", "--interpret", "program.dfl")
    assert (answer.returncode, answer.stderr) == (0, "")
    interpreted = [(tmp_path / name).read_bytes() for name in ("first.csv", "second.bin", "second.bin.symbols")]
    assert interpreted[1:] == [b"\1\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\3\0\0\0\0\0\0\0", b"a\nb\n"]
    prepare(tmp_path, 'binary("-")', fields="id")
    assert dfc("run", "--interpret", "program.dfl", text=False).stdout == b"\1\0\0\0\2\0\0\0\3\0\0\0"


@pytest.mark.parametrize(("second", "code", "said"), [
    ('tcp("127.0.0.1:1")', 1, "E0811"), ('binary("-")', 2, "can't carry symbols, which need a second file"),
    ('csv("rows.csv/below")', 4, "can't write rows.csv/below"), ('binary(".")', 4, "can't write ."),
])
def test_nothing_is_written_when_something_can_not_be(tmp_path, dfc, second, code, said):
    prepare(tmp_path, second)
    answer = dfc("run", "--interpret", "program.dfl")
    assert answer.returncode == code and said in answer.stderr, answer.stderr
    assert answer.stdout == "" and sorted(path.name for path in tmp_path.iterdir()) == ["program.dfl", "rows.csv"]


def test_ten_malformed_rows_are_named(tmp_path, dfc):
    prepare(tmp_path, 'csv("-")')
    (tmp_path / "rows.csv").write_text("id,name\n" + "x,a\n" * 12)
    said = dfc("run", "--interpret", "program.dfl").stderr.splitlines()
    assert [line.split(":")[:2] for line in said[:-1]] == [["rows", f" line {number}"] for number in range(2, 12)]
    assert said[-1] == "rows: 12 malformed rows"
