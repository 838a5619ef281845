"""Ingestion and profile beside what Spark needs to read the same data at all.

    python benchmarks/spark_traces.py [--count 100M] [--repeats 3] [--memory 2g]

`dfc ingest` stands beside `count()` over the same CSV files, `dfc profile` beside one pass that reads every column that
it uses, `sum(hash(...))`. All four run in turns in one session on `local[2]`; the peak of memory is that of the JVM and
of all Python workers together.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent / "build" / "bench" / "traces"
DFC = os.environ.get("DFC", str(Path(sys.executable).with_name("dfc")))
COUNT, FILES = 100_000_000, 10
MASTER = "local[2]"
PROGRAM = """app traces

record Trade { ts: timestamp<ms>, symbol: symbol, price: f64, size: i32 }
record Sum { symbol: symbol, high: f64 }

source trades: Trade = csv("trades.csv") event time ts slack 50ms

stream sums = trades |> by symbol |> window count 100 slide 25 |> aggregate { symbol, high: max(price) }

sink out = sums to csv("out.csv")
"""

Found = dict[str, list[float]]


def make_files(count: int) -> tuple[Path, list[Path]]:
    """Bursty traffic over several hours, zipf keys, delays up to 50 ms; made once."""
    folder = DATA / f"{count}"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "traces.dfl"
    program.write_text(PROGRAM)
    each = count // FILES
    files = [folder / f"trades{number}.csv" for number in range(FILES)]
    for number, file in enumerate(files):
        if not file.exists():
            start = 1_700_000_000_000 + number * (each // 5)
            subprocess.run([DFC, "generate", str(program), "-o", str(file), "--arrivals", "map:rate=5k,dispersion=500",
                            "--count", str(each), "--keys", "zipf:count=10000,exponent=1",
                            "--delay", "uniform:most=50ms", "--start", str(start),
                            "--seed", str(number + 1)], check=True, stdout=subprocess.DEVNULL)
    return program, files


def run(count: int, repeats: int, memory: str) -> tuple[Found, float, int]:
    """Seconds of each, in turns; the peak of memory in GB; the bytes of the profile."""
    program, files = make_files(count)
    from dfc.compiler import pipeline
    from dfc.compiler.artifacts.profile import to_json
    from dfc.compiler.graph.build import build_graph
    from dfc.compiler.spark.ingest import ingest
    from dfc.compiler.spark.profile import profile
    from dfc.compiler.spark.session import spark_session
    from pyspark.sql import functions as f

    typed = pipeline.check(program.read_text(), str(program), {})
    graph, traces = build_graph(typed), program.parent / "traces"
    names, found, size = [str(file) for file in files], {}, [0]

    def take_in() -> None:
        shutil.rmtree(traces, ignore_errors=True)
        assert ingest(spark, typed, names, traces).rows == count

    def learn() -> None:
        size[0] = len(to_json(profile(spark, graph, traces)).encode())

    def count_rows() -> None:
        assert spark.read.option("header", "true").csv(names).count() == count

    def read_columns() -> None:
        spark.read.parquet(str(traces / "trades")).select(f.sum(f.hash("ts", "symbol"))).collect()

    with spark_session(MASTER, memory) as spark, peak_memory() as peak:
        for _ in range(repeats + 1):  # the first turn warms up
            for name, deed in (("count", count_rows), ("ingest", take_in), ("hash", read_columns), ("profile", learn)):
                found.setdefault(name, []).append(_seconds(deed))
    shutil.rmtree(traces, ignore_errors=True)
    return {name: times[1:] for name, times in found.items()}, peak[0], size[0]


def _seconds(deed: Callable[[], None]) -> float:
    start = time.perf_counter()
    deed()
    return time.perf_counter() - start


@contextmanager
def peak_memory() -> Iterator[list[float]]:
    """Of this process's children, in GB, looked at twice a second."""
    peak, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            peak[0] = max(peak[0], resident(os.getpid()) / 1e9)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def resident(process: int) -> int:
    """Bytes of all descendants; what forked workers share is counted once (proportional set size)."""
    total = 0
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in _text(task).split():
            shares = _text(Path(f"/proc/{child}/smaps_rollup")).splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in shares if line.startswith("Pss:"))
            total += resident(int(child))
    return total


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended meanwhile
        return ""


def report(count: int, found: Found, peak: float, size: int) -> list[str]:
    middle = {name: statistics.median(times) for name, times in found.items()}
    turns = len(found["ingest"])
    lines = ["## Traces", "", f"{count:,} events, {MASTER}; {turns} turns, medians. Peak of JVM and workers together "
             f"{peak:.1f} GB; the profile has {size:,} bytes.", "",
             "| | seconds | events a second | beside | seconds | ratio |", "| --- | ---: | ---: | --- | ---: | ---: |"]
    for name, beside, words in (("ingest", "count", "`count()` over the CSV files"),
                                ("profile", "hash", "`sum(hash(ts, symbol))` over the Parquet files")):
        lines.append(f"| `dfc {name}` | {middle[name]:.1f} | {count / middle[name]:,.0f} | {words} | "
                     f"{middle[beside]:.1f} | {middle[name] / middle[beside]:.2f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", default=str(COUNT), help="events, such as 5M (default: 100M)")
    parser.add_argument("--repeats", type=int, default=3, help="turns after the first (default: 3)")
    parser.add_argument("--memory", default="2g", help="of the JVM, which is driver and executor (default: 2g)")
    words = parser.parse_args()
    count = int(float(words.count.lower().replace("m", "e6").replace("k", "e3")))
    print("\n".join(report(count, *run(count, words.repeats, words.memory))))


if __name__ == "__main__":
    main()
