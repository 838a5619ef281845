"""What `dfc run` tells a program of its socket and its log."""

from __future__ import annotations

import json
import os

import pytest
from dfc.compiler.failure import Failure
from dfc.compiler.live.where import log_words, socket_words

from tests.compiler.live.fake_program import FakeProgram

CONTROLLED = json.dumps({"operators": [{"policy": "off"}, {"policy": "auto"}]})
FREE = json.dumps({"operators": [{"policy": "off"}]})


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_controlled_program_has_a_socket_where_dfc_compile_puts_it(here):
    assert socket_words("app", CONTROLLED, ["--stats"]) == ["--socket", "build/app.sock"]
    assert (here / "build").is_dir()


@pytest.mark.parametrize("words", [["--socket", "x"], ["--socket=x"], ["--no-socket"]])
def test_the_users_words_count(here, words):
    assert socket_words("app", CONTROLLED, words) == [] and not (here / "build").exists()


def test_nobody_decides_nobody_asks(here):
    assert socket_words("app", FREE, []) == [] and not (here / "build").exists()


def test_a_second_run_has_none(here, capsys):
    (here / "build").mkdir()
    with FakeProgram(here / "build" / "app.sock", {}):
        assert socket_words("app", CONTROLLED, []) == ["--no-socket"]
    assert capsys.readouterr().err.startswith("dfc: another run answers on `build/app.sock`")
    assert socket_words("app", CONTROLLED, []) == ["--socket", "build/app.sock"], "the other one is gone"


def test_where_none_can_be_made(here):
    (here / "build").write_text("a file")
    assert socket_words("app", CONTROLLED, []) == ["--no-socket"]
    (here / "build").unlink()
    (here / "build").mkdir()
    (here / "build" / "app.sock").write_text("precious")
    assert socket_words("app", CONTROLLED, []) == ["--no-socket"]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_where_nothing_may_be_written(here):
    here.chmod(0o500)
    assert socket_words("app", CONTROLLED, []) == ["--no-socket"]


def test_a_log_has_a_folder(here):
    assert log_words(None) == []
    assert log_words("a/b") == ["--log", "a/b/decisions.jsonl", "--stats=a/b/stats.json"] and (here / "a" / "b").is_dir()
    (here / "file").write_text("")
    with pytest.raises(Failure, match="can't make the folder `file`"):
        log_words("file")
