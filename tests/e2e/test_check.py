"""`dfc check` and `dfc fmt`: text or JSON, colour or not, and what is done to the file."""

from __future__ import annotations

import json
import os
import pty

import pytest

from tests.e2e.programs import GOOD, WRONG


@pytest.fixture
def program(tmp_path):
    (tmp_path / "good.dfl").write_text(GOOD)
    (tmp_path / "wrong.dfl").write_text(WRONG)
    return tmp_path


def test_a_good_program_is_silent(dfc, program):
    answer = dfc("check", "good.dfl")
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_all_mistakes_are_shown_with_their_lines(dfc, program):
    answer = dfc("check", "wrong.dfl")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "wrong.dfl:11:" in answer.stderr and "sise >= low" in answer.stderr
    assert "wrong.dfl:12:" in answer.stderr
    assert "\x1b[" not in answer.stderr


def test_json_lines(dfc, program):
    answer = dfc("check", "--json", "wrong.dfl")
    items = [json.loads(line) for line in answer.stdout.splitlines()]
    assert (answer.returncode, answer.stderr) == (1, "")
    assert [item["line"] for item in items] == [11, 12]
    assert all(item["code"].startswith("E") and item["file"] == "wrong.dfl" for item in items)


def test_from_stdin(dfc, program):
    answer = dfc("check", "-", input=WRONG)
    assert answer.returncode == 1 and "<stdin>:11:" in answer.stderr


@pytest.mark.parametrize(("environment", "coloured"), [
    ({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False),
], ids=["terminal", "NO_COLOR", "dumb"])
def test_colour_only_on_a_terminal_that_wants_it(dfc, program, environment, coloured):
    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**plain, "TERM": "xterm", **environment}
    dfc("check", "wrong.dfl", stderr=theirs, stdout=None, capture_output=False, env=environment)
    os.close(theirs)
    seen = os.read(ours, 1 << 16)
    os.close(ours)
    assert (b"\x1b[" in seen) == coloured and b"sise" in seen


def test_params_can_be_set_and_are_checked(dfc, program):
    assert dfc("check", "-D", "low=3", "good.dfl").returncode == 0
    assert dfc("check", "good.dfl", "-D", "low=three").returncode == 1
    assert dfc("check", "good.dfl", "-Dnobody=3").returncode == 1


def test_fmt_writes_the_standard_form(dfc, program):
    messy = GOOD.replace("  |> filter", "|>   filter")
    (program / "messy.dfl").write_text(messy)
    assert dfc("fmt", "--check", "messy.dfl").returncode == 1
    shown = dfc("fmt", "--diff", "messy.dfl")
    assert (shown.returncode, (program / "messy.dfl").read_text()) == (0, messy)
    assert "-|>   filter" in shown.stdout
    assert dfc("fmt", "messy.dfl").returncode == 0
    assert (program / "messy.dfl").read_text() != messy
    assert dfc("fmt", "--check", "messy.dfl").returncode == 0


def test_fmt_leaves_alone_what_is_formatted(dfc, program):
    dfc("fmt", "good.dfl")
    os.utime(program / "good.dfl", (1, 1))
    dfc("fmt", "good.dfl")
    assert (program / "good.dfl").stat().st_mtime == 1


def test_fmt_does_not_touch_what_it_can_not_read(dfc, program):
    (program / "broken.dfl").write_text("app x\nsource = = =\n")
    answer = dfc("fmt", "broken.dfl")
    assert answer.returncode == 1 and "broken.dfl:2:" in answer.stderr
    assert (program / "broken.dfl").read_text() == "app x\nsource = = =\n"


def test_fmt_of_stdin_goes_to_stdout(dfc):
    answer = dfc("fmt", "-", input=GOOD)
    assert answer.returncode == 0 and answer.stdout.startswith("app small\n")
