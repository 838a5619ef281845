"""Writes a file whole or not at all, and leaves one alone that already holds the bytes.

What is no regular file (a device, a pipe) is opened and written where it is; a link stays, and what it leads to is
written.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dfc.compiler.failure import Failure

_DESCRIPTORS = ("/dev/fd/", "/dev/std", "/proc/")  # links to what is open already, whatever that is


def write_file(path: Path, data: bytes, mode: int = 0o666) -> None:
    """A reader sees the old file or the new one, also when two processes write at once; the umask applies."""
    if not _holds(path, data):
        with writing(path, mode) as write:
            write(data)


def write_files(files: Iterable[tuple[Path, bytes]]) -> None:
    """All of them or none. What can't be taken back comes last: what is no regular file."""
    with ExitStack() as ready:
        for path, data in sorted(files, key=lambda one: not _is_replaced(one[0])):
            if _is_replaced(path):
                ready.enter_context(writing(path))(data)
            else:
                write_file(path, data)


@contextmanager
def writing(path: Path, mode: int = 0o666) -> Iterator[Callable[[bytes], None]]:
    """A function that writes to a file, which takes its place when the block has ended well."""
    with _told(path):
        real = Path(os.path.realpath(path)) if _is_replaced(path) else None
        file, temporary = _beside(real) if real else (open(path, "wb"), "")

    def write(data: bytes) -> None:
        with _told(path):
            file.write(data)
            file.flush()

    try:
        yield write
        with _told(path):
            file.close()
            if real:
                os.chmod(temporary, mode & ~_umask())
                os.replace(temporary, real)
    except BaseException:
        with suppress(OSError):
            file.close()
        if real:
            os.unlink(temporary)
        raise


def _beside(path: Path) -> tuple[BinaryIO, str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    return os.fdopen(handle, "wb"), temporary


def _is_replaced(path: Path) -> bool:
    """A regular file, or none yet."""
    try:
        return stat.S_ISREG(path.stat().st_mode) and not os.path.abspath(path).startswith(_DESCRIPTORS)
    except OSError:
        return True


def _holds(path: Path, data: bytes) -> bool:
    try:
        about = path.stat()
        return stat.S_ISREG(about.st_mode) and about.st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(f"can't write {path}: {error.strerror or error}") from None
