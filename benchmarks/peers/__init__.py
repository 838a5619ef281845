"""What a user could take instead, doing the same work as a row: each a file that is run as a process of its own.

    python benchmarks/peers/on_polars.py csv|windows INPUT OUTPUT

Only what is installed takes part; nothing here installs anything.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    title: str
    module: str                     # what must be there
    package: str                    # what `pip install` calls it
    file: str
    rows: tuple[tuple[str, int | None], ...]  # which work it can do, and of how many tuples if all take too long
    repeats: int | None = None

    def installed(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    def version(self) -> str:
        return version(self.package) if self.installed() else "not installed"

    def command(self, work: str, given: Path, output: Path) -> tuple[str, ...]:
        return (sys.executable, str(HERE / self.file), work, str(given), str(output))


# Bytewax and PyFlink call Python for each tuple. Spark Structured Streaming and Flink's SQL have no count windows, and
# Spark reads no packed records: they get the csv row.
PEERS = (
    Peer("DuckDB", "duckdb", "duckdb", "on_duckdb.py", (("csv", None), ("windows", None))),
    Peer("Polars", "polars", "polars", "on_polars.py", (("csv", None), ("windows", None))),
    Peer("Bytewax", "bytewax", "bytewax", "on_bytewax.py", (("csv", 200_000), ("windows", 1_200_000)), 3),
    Peer("Spark Structured Streaming", "pyspark", "pyspark", "on_spark.py", (("csv", None),), 3),
    Peer("PyFlink", "pyflink", "apache-flink", "on_flink.py", (("csv", None),), 3),
)
