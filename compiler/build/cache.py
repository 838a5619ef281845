"""What was built before, by the content it was built from: folders that appear whole or not at all.

Several processes may build, read and evict at once. An entry is made in a folder of its own and renamed into
place; whoever needs the same entry waits on a lock instead of building it again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

MAX_ENTRIES = 50
MAX_BYTES = 200 << 20
_ABANDONED_AFTER = 24 * 3600.0  # seconds: a half-made entry this old belongs to a process that died


def content_key(parts: Iterable[bytes | str]) -> str:
    """A digest of the parts in order; their lengths go in too, so that no two lists run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:40]


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/dfc`, else `~/.cache/dfc`; a private temporary folder when neither can be written."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(named if os.path.isabs(named) else os.path.expanduser("~/.cache")) / "dfc"
    try:
        (folder / "locks").mkdir(parents=True, exist_ok=True)
        (folder / "entries").mkdir(exist_ok=True)
        if os.access(folder / "entries", os.W_OK):
            return folder
    except OSError:
        pass
    return _temporary_cache()


def _temporary_cache() -> Path:
    """Lives as long as this process: nothing is remembered, everything still works."""
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="dfc-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for part in ("locks", "entries"):
        (folder / part).mkdir()
    return folder


def fetch(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder of this key; `make` fills it when it is not there. Nothing is kept when `make` raises.

    `make` may fetch another kind: locks of different kinds never meet, so it can't wait for itself.
    """
    root = cache_folder()
    entry = root / "entries" / f"{kind}-{key}"
    with _locked(root / "locks" / f"{kind}-{key[:2]}"):
        if not entry.is_dir():
            _fill(root, entry, make)
            evict(root, keep=entry)
        os.utime(entry)
    return entry


def _fill(root: Path, entry: Path, make: Callable[[Path], None]) -> None:
    half = Path(tempfile.mkdtemp(prefix="half.", dir=root))
    try:
        make(half)
        half.rename(entry)
    except BaseException:
        shutil.rmtree(half, ignore_errors=True)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def evict(root: Path, keep: Path) -> None:
    """Removes what was used longest ago until number and size are in bounds; a running program keeps its file."""
    entries = sorted(((_used(path), _size(path), path) for path in (root / "entries").iterdir()), reverse=True)
    total = 0
    for number, (_, size, path) in enumerate(entries):
        total += size
        if path != keep and (number >= MAX_ENTRIES or total > MAX_BYTES):
            _remove(root, path)
    for path in root.glob("half.*"):
        if time.time() - _used(path) > _ABANDONED_AFTER:
            shutil.rmtree(path, ignore_errors=True)


def _remove(root: Path, path: Path) -> None:
    """Renamed first: an entry must never be seen half deleted."""
    with contextlib.suppress(OSError):
        grave = Path(tempfile.mkdtemp(prefix="half.", dir=root))
        path.rename(grave / path.name)
        shutil.rmtree(grave, ignore_errors=True)


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total
