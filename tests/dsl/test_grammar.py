"""The cache of the grammar's tables, and what is loaded when."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

CODE = """
import sys
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.parser import parse
assert "lark" not in sys.modules
diagnostics = Diagnostics()
assert len(parse("app a stream s = b", "a.dfl", diagnostics).declarations) == 2 and not diagnostics.items
"""


def parse_in_new_process(cache) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    answer = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_cache_is_written_once_and_private(tmp_path):
    parse_in_new_process(tmp_path)
    folder = tmp_path / "dfc"
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    written = file.stat().st_mtime_ns
    parse_in_new_process(tmp_path)
    assert file.stat().st_mtime_ns == written


@pytest.mark.parametrize("content", [b"", b"no pickle", b"0" * 64 + b"\n"])
def test_broken_cache_is_replaced(tmp_path, content):
    folder = tmp_path / "dfc"
    folder.mkdir(mode=0o700)
    file = folder / "grammar.pickle"
    file.write_bytes(content)
    parse_in_new_process(tmp_path)
    assert file.stat().st_size > 1000


def test_without_a_folder_to_write_to(tmp_path):
    (tmp_path / "file").write_text("")
    parse_in_new_process(tmp_path / "file")
