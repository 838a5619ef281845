"""One line on a terminal while Spark works: which stage, how many of its tasks are done."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY_SECONDS = 0.5


@contextmanager
def shown_progress(spark: SparkSession) -> Iterator[None]:
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_show, args=(spark.sparkContext.statusTracker(), over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _show(tracker, over: threading.Event) -> None:
    while not over.wait(_EVERY_SECONDS):
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        words = ", ".join(f"stage {one.stageId}: {one.numCompletedTasks} of {one.numTasks} tasks"
                          for one in stages if one is not None)
        print(f"\r\x1b[Kdfc: {words}" if words else "\r\x1b[K", end="", file=sys.stderr, flush=True)
