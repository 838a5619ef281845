"""Executors on other machines get dfc's own Python with the job, as one archive: they need no dfc of their own."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS = ("dsl", "compiler")
_ROOT = Path(__file__).parents[2]
_shipped: set[tuple[str, str]] = set()  # application, name


def ship(spark: SparkSession, name: str, write: Callable[[Path], object], python: bool = False) -> None:
    """A file for every executor, which `write` makes; once for a session, since Spark knows a name by its path. It
    stays as long as this process: executors fetch it when they need it."""
    context = spark.sparkContext
    if (context.applicationId, name) in _shipped:
        return
    folder = Path(tempfile.mkdtemp(prefix="dfc-ship-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write(folder / name)
    (context.addPyFile if python else context.addFile)(str(folder / name))
    _shipped.add((context.applicationId, name))


def ship_dfc(spark: SparkSession) -> None:
    """Executors of `local[N]` are on this machine and have what this process has."""
    master = spark.sparkContext.master
    if master != "local" and not master.startswith("local["):
        ship(spark, "dfc_python.zip", write_archive, python=True)


def write_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dfc/__init__.py", "")
        for part in _PARTS:
            for file in sorted((_ROOT / part).rglob("*.py")):
                archive.write(file, Path("dfc", file.relative_to(_ROOT)))
