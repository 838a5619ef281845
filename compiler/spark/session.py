"""The one place that starts Spark: where it runs, with how much memory, quiet, and reachable from this machine only."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dfc.compiler.failure import Failure, Missing, Usage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STANDARD_MASTER, STANDARD_MEMORY = "local[*]", "2g"
_NEEDED = ("pyspark", "pyarrow", "pandas", "numpy")
_NEEDED_BY_STREAMS = ("google.protobuf", "grpc", "google.rpc", "zstandard")
_MASTER = re.compile(r"local(\[(\*|\d+)(,\s*\d+)?\])?|local-cluster\[\d+,\d+,\d+\]|spark://.+:\d+(,.+)*|yarn|k8s://.+")
_MEMORY = re.compile(r"[1-9]\d{0,5}[kmgt]", re.IGNORECASE)
_KNOCK_SECONDS, _ANSWER_SECONDS = 5, 60  # that a master has to take a connection, and its workers a first task

# The JVM's own words would stand between the user and the one line that matters.
_QUIET = """rootLogger.level = off
"""


def require_spark() -> None:
    """Raises Missing with the one line that helps."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise Missing(f"this needs {missing[0]}: install it with `pip install 'dfc[spark]'`")
    if java() is None:
        raise Missing("Spark needs Java 17 or newer: `apt-get install default-jre-headless`, or set JAVA_HOME")


def require_streams() -> None:
    """As require_spark, for what state in Spark's store needs beside it."""
    missing = [name for name in _NEEDED_BY_STREAMS if not _is_there(name)]
    if missing:
        raise Missing(f"--stream needs {missing[0]}: install it with `pip install 'dfc[spark]'`")
    from pyspark.sql import GroupedData

    if not hasattr(GroupedData, "transformWithState"):
        raise Missing("--stream needs PySpark 4.1 or newer: install it with `pip install 'dfc[spark]'`")


def _is_there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package that it is in
        return False


def java() -> str | None:
    """Where it is, found as Spark finds it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java")) if home else shutil.which("java")


@contextmanager
def spark_session(master: str = STANDARD_MASTER, memory: str = STANDARD_MEMORY) -> Iterator[SparkSession]:
    """One that is already there is used and left; else one is started, stopped, and its files removed."""
    _check(master, memory)
    require_spark()
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    _require_master(master)
    with tempfile.TemporaryDirectory(prefix="dfc-spark-", ignore_cleanup_errors=True) as folder:
        session = _start(master, memory, Path(folder))
        try:
            yield session
        finally:
            session.stop()


def _check(master: str, memory: str) -> None:
    if not _MASTER.fullmatch(master):
        raise Usage(f"--master `{master}` is none; there is local[N], local[*], spark://HOST:PORT, yarn, k8s://URL")
    if not _MEMORY.fullmatch(memory):
        raise Usage(f"--memory `{memory}` is none; write it as 2g or 800m")


def _require_master(master: str) -> None:
    """Spark itself would knock for minutes at a door where nobody is."""
    wrong = ""
    for place in master.removeprefix("spark://").split(",") if master.startswith("spark://") else ():
        host, _, port = place.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()
            return
        except (OSError, ValueError, OverflowError) as error:
            wrong = getattr(error, "strerror", None) or str(error)
    if wrong:
        raise Failure(f"the Spark master {master} does not answer: {wrong}")


def _start(master: str, memory: str, folder: Path) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    (folder / "log4j2.properties").write_text(_QUIET)
    builder = SparkSession.builder.appName("dfc").master(master)
    for name, value in _settings(master, memory, folder).items():
        builder = builder.config(name, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors may have theirs elsewhere
    try:
        with _silenced():
            session = builder.getOrCreate()
        if not master.startswith("local"):
            _require_answer(session, master)
        return session
    except (PySparkException, RuntimeError, OSError) as error:
        raise Failure(f"Spark does not start on {master}: {first_line(error)}") from None
    except Exception as error:
        if type(error).__module__.startswith("py4j"):
            raise Failure(f"Spark does not start on {master}: {first_line(error)}") from None
        raise


def _settings(master: str, memory: str, folder: Path) -> dict[str, str]:
    loopback = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return {
        **(loopback if master.startswith("local") else {}),
        "spark.driver.memory": memory,
        "spark.executor.memory": memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dlog4j.configurationFile=file:{folder}/log4j2.properties "
                                         f"-Dderby.system.home={folder} -Djava.io.tmpdir={folder}",
        "spark.log.level": "OFF",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",  # only logs are shuffled, and they are small
    }


def _require_answer(session: SparkSession, master: str) -> None:
    """A master takes applications also when it has no workers for them."""
    from concurrent.futures import ThreadPoolExecutor
    from concurrent.futures import TimeoutError as Late

    pool = ThreadPoolExecutor(1)
    try:
        pool.submit(lambda: session.sparkContext.parallelize([1], 1).count()).result(_ANSWER_SECONDS)
    except Late:
        session.stop()
        raise Failure(f"the Spark master {master} has no free worker for a first task; has it any?") from None
    except Exception as error:
        session.stop()
        raise Failure(f"the Spark master {master} does not take work: {first_line(error)}") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def in_partitions(spark: SparkSession, items: Sequence, tasks: int, function: Callable[[Iterator], Iterable]) -> list:
    """What the function gives for each part of the items, in their order. A task that dies is one line."""
    if not items:
        return []
    try:
        return spark.sparkContext.parallelize(items, tasks).mapPartitions(function).collect()
    except Exception as error:
        if not type(error).__module__.startswith(("py4j", "pyspark")):
            raise
        raise Failure(f"Spark gave up: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """What a JVM says in a hundred lines, in one: the last cause, or else the exception itself."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("at ", "..."))]
    causes = [line.removeprefix("Caused by:") for line in lines if line.startswith("Caused by:")]
    named = [line.removeprefix(":") for line in lines if line.startswith(":")]
    telling = causes[-1:] or named[:1] or lines[:1] or [type(error).__name__]
    return telling[0].strip()[:200]


@contextmanager
def _silenced() -> Iterator[None]:
    """The launcher writes to stderr before any setting reaches it."""
    sys.stderr.flush()
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
