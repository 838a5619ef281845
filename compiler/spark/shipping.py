"""Executors on other machines get dfc's own Python with the job, as one archive: they need no dfc of their own."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTS = ("dsl", "compiler")
_ROOT = Path(__file__).parents[2]
_shipped: set[str] = set()  # applications that have it


def ship_dfc(spark: SparkSession) -> None:
    """Once for a session; executors of `local[N]` are on this machine and have what this process has."""
    context = spark.sparkContext
    if context.master == "local" or context.master.startswith("local[") or context.applicationId in _shipped:
        return
    folder = tempfile.mkdtemp(prefix="dfc-ship-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may fetch it as long as the session lives
    archive = Path(folder, "dfc_python.zip")
    write_archive(archive)
    context.addPyFile(str(archive))
    _shipped.add(context.applicationId)


def write_archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("dfc/__init__.py", "")
        for part in _PARTS:
            for file in sorted((_ROOT / part).rglob("*.py")):
                archive.write(file, Path("dfc", file.relative_to(_ROOT)))
