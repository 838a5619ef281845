"""A file is written whole or not at all; what is no regular file is written where it is, and links stay links."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from dfc.compiler.build.write import write_file, write_files
from dfc.compiler.failure import Failure

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def read_by_another(path: Path) -> tuple[threading.Thread, list[bytes]]:
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()), daemon=True)
    reader.start()
    return reader, got


@pytest.mark.parametrize("data", [b"some", b""])
def test_a_pipe_stays_a_pipe(tmp_path, data):
    os.mkfifo(tmp_path / "pipe")
    reader, got = read_by_another(tmp_path / "pipe")
    write_file(tmp_path / "pipe", data)
    reader.join(30)
    assert got == [data] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("target", ["file", "folder/file", "new"])
def test_a_link_stays_a_link(tmp_path, target):
    (tmp_path / "folder").mkdir()
    if target != "new":
        (tmp_path / target).write_text("old")
    (tmp_path / "link").symlink_to(target)
    write_file(tmp_path / "link", b"new")
    assert os.readlink(tmp_path / "link") == target and (tmp_path / target).read_bytes() == b"new"
    assert len(list(tmp_path.rglob("*"))) == 3


def test_a_device_stays_a_device(tmp_path):
    (tmp_path / "link").symlink_to("/dev/full")
    for path in (tmp_path / "link", Path("/dev/full")):
        with pytest.raises(Failure, match=f"can't write {path}: No space left on device"):
            write_file(path, b"some")
        assert stat.S_ISCHR(path.stat().st_mode)
    write_file(Path("/dev/null"), b"")
    assert (tmp_path / "link").is_symlink() and stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(Failure, match="Is a directory"):
        write_file(tmp_path, b"some")


@pytest.mark.parametrize("wrong", ["/dev/full", ".", "file/below"])
def test_none_when_one_can_not_be_written(tmp_path, wrong):
    (tmp_path / "file").write_text("old")
    for at in (0, 1, 2):
        files = [(tmp_path / "file", b"new"), (tmp_path / "other", b"new")]
        files.insert(at, (tmp_path / wrong, b"some"))
        with pytest.raises(Failure, match="can't write"):
            write_files(files)
        assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "old"
