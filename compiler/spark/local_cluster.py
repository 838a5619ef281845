"""`--master local-cluster[N,CORES,MB]`: executors that are processes of their own, on this machine and for it only."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .session import STANDARD_MEMORY

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*(\d+)\s*\]")


@contextmanager
def own_processes(master: str, memory: str = STANDARD_MEMORY) -> Iterator[str]:
    """Sets up what such executors need, and removes what they leave; answers how much memory one has. Other masters
    need nothing, and have `memory`."""
    found = _LOCAL_CLUSTER.fullmatch(master)
    if found is None:
        yield memory
        return
    import pyspark

    home = os.environ.setdefault("SPARK_HOME", os.path.dirname(pyspark.__file__))  # they are started by its scripts
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    work = Path(home, "work")
    before = set(work.iterdir()) if work.is_dir() else set()
    try:
        yield f"{found[1]}m"
    finally:
        for folder in (set(work.iterdir()) if work.is_dir() else set()) - before:
            shutil.rmtree(folder, ignore_errors=True)
        if work.is_dir() and not any(work.iterdir()):
            work.rmdir()
