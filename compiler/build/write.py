"""Writes a file whole or not at all, and leaves one alone that already holds the bytes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dfc.compiler.failure import Failure


def write_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """A reader sees the old file or the new one, also when two processes write at once; the umask applies."""
    if _holds(path, data):
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        _fill(handle, temporary, path, data, mode)
    except OSError as error:
        raise Failure(f"can't write {path}: {error.strerror or error}") from None


def _fill(handle: int, temporary: str, path: Path, data: bytes, mode: int) -> None:
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
