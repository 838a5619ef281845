"""Measures generated programs against the same computations written by hand, side by side, and writes RESULTS.md.

    python benchmarks/run.py [--rows chain,csv] [--repeats 7] [--scale 0.1] [--output FILE]

The programs of a row take turns, so that what else the machine does meets all of them. Their results are compared
before anything is timed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import data
import peers
from compare import difference

HERE = Path(__file__).resolve().parent
BUILD = data.FOLDER / "programs"
DFC = os.environ.get("DFC", str(Path(sys.executable).parent / "dfc"))
LIMIT_FLAGS = ("-std=gnu11", "-O3", "-march=native")


@dataclass(frozen=True)
class Row:
    """One line of the table: a program, its hand-written limit, the files of both."""

    name: str
    what: str
    group: str                       # of --rows, and of data.FILES
    program: str
    inputs: tuple[tuple[str, str], ...]  # source and file
    result: str                      # how the file that comes out is read: csv, or the types of a packed record
    tuples: Callable[[float], int]


@dataclass(frozen=True)
class Contender:
    title: str
    command: tuple[str, ...]
    cores: int = 1


@dataclass(frozen=True)
class Measured:
    seconds: tuple[float, ...]
    megabytes: float

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def _first(rows: str, factor: int = 1) -> Callable[[float], int]:
    return lambda scale: data.records(rows, scale) * factor


STATS = "i8,f8,f8,f8,f8,f8"
ROWS = (
    Row("chain, mapped file", "map, filter, map over packed 64-byte records", "chain", "chain_file",
        (("quotes", "binary:quotes.bin"),), "csv", _first("chain")),
    Row("chain, generator", "the same over tuples made up on the way", "chain", "chain_generate", (), "csv",
        _first("chain")),
    Row("windows, 1000 keys", "count 1000 slide 200, five combinable aggregates", "windows", "windows",
        (("quotes", "binary:keys_1k.bin"),), STATS, _first("windows")),
    Row("windows, 1 M keys", "the same, 1 M keys", "windows", "windows", (("quotes", "binary:keys_1m.bin"),), STATS,
        _first("windows")),
    Row("whole windows, 1000 keys", "the same results by a C function over the whole window", "windows",
        "windows_whole", (("quotes", "binary:keys_1k.bin"),), STATS, _first("windows")),
    Row("whole windows, 1 M keys", "the same, 1 M keys", "windows", "windows_whole",
        (("quotes", "binary:keys_1m.bin"),), STATS, _first("windows")),
    Row("max of 100,000 slide 1", "a result at every tuple of one group", "windows", "windows_max",
        (("quotes", "binary:keys_1k.bin"),), "f8", _first("windows")),
    Row("csv", "rows in, time window 10 s slide 2 s, rows out", "csv", "csv", (("trades", "csv:trades.csv"),), "csv",
        _first("csv")),
    Row("join", "two streams, within 10 ms", "join", "join", (("bids", "binary:bids.bin"), ("asks", "binary:asks.bin")),
        "i8,i8,i8,f8,f8", _first("join", 2)),
    Row("sessions", "gap 300 ms, 10,000 keys", "sessions", "sessions", (("orders", "binary:orders.bin"),),
        "i8,i8,i8,i8,f8,f8", _first("sessions")),
)


# --- building ----------------------------------------------------------------------------------------


def build_generated(program: str) -> Path:
    folder = BUILD / program
    text = HERE / "programs" / f"{program}.dfl"
    subprocess.run([DFC, "compile", text, "-o", folder, "--target", "native"], check=True)
    return folder / program


def build_limit(program: str) -> Path:
    """The runtime's reading and printing of numbers is at hand there, as any good library would be."""
    target = BUILD / f"limit-{program}"
    runtime = HERE.parent / "runtime_c"
    numbers = [runtime / "src" / name for name in ("number.c", "number_format.c", "number_powers.c", "utf8.c")]
    subprocess.run([os.environ.get("CC", "cc"), *LIMIT_FLAGS, f"-I{runtime / 'include'}", f"-I{runtime / 'src'}",
                    "-o", target, HERE / "limits" / f"{program}.c", *numbers, "-lm"], check=True)
    return target


# --- running -----------------------------------------------------------------------------------------


def generated(row: Row, program: Path, output: Path, scale: float, workers: int = 1) -> Contender:
    files = [word for source, spec in row.inputs for word in ("--source", f"{source}={in_folder(spec, scale)}")]
    if not row.inputs:
        plain = "seed=7,bid=100.0..150.0,ask=145.0..200.0,size=0..999"
        files = ["--source", f"quotes=generate:count={row.tuples(scale)},{plain}"]
    kind = "csv" if row.result == "csv" else "binary"
    title = "generated" if workers == 1 else f"generated, {workers} workers"
    return Contender(title, (str(program), "--quiet", "--workers", str(workers), *files,
                             "--sink", f"out={kind}:{output}"), workers)


def by_hand(row: Row, program: Path, output: Path, scale: float) -> Contender:
    files = [in_folder(spec, scale).partition(":")[2] for _, spec in row.inputs] or [str(row.tuples(scale))]
    return Contender("by hand", (str(program), *files, str(output)))


def in_folder(spec: str, scale: float) -> str:
    kind, _, name = spec.partition(":")
    return f"{kind}:{data.folder(scale) / name}"


def build_launcher() -> Path:
    """A small process: what we fork from Python counts Python's memory as its own peak."""
    target = BUILD / "launch"
    BUILD.mkdir(parents=True, exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), *LIMIT_FLAGS, "-o", target, HERE / "launch.c"], check=True)
    return target


def run_once(contender: Contender) -> tuple[float, float]:
    """Seconds of wall-clock time, and the most memory that was resident, in MB (files that are mapped included)."""
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))[-contender.cores:]))
    answer = subprocess.run([BUILD / "launch", cores, *contender.command], stdout=subprocess.PIPE, text=True)
    if answer.returncode:
        raise SystemExit(f"{contender.title} failed with {answer.returncode}: {' '.join(contender.command)}")
    seconds, kilobytes = answer.stdout.split()[-2:]
    return float(seconds), int(kilobytes) / 1000


def measure(contenders: list[Contender], repeats: int, tell: Callable[[str], None]) -> list[Measured]:
    """In turns; each turn begins with another one."""
    runs: list[list[tuple[float, float]]] = [[] for _ in contenders]
    for turn in range(repeats):
        for i in range(len(contenders)):
            at = (turn + i) % len(contenders)
            tell(f"repeat {turn + 1} of {repeats}, {contenders[at].title}")
            runs[at].append(run_once(contenders[at]))
    return [Measured(tuple(seconds for seconds, _ in own), max(megabytes for _, megabytes in own)) for own in runs]


# --- the table ---------------------------------------------------------------------------------------


def machine() -> list[str]:
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True).stdout
    return [f"CPU: {cpu}, {len(os.sched_getaffinity(0))} cores", f"Kernel: {platform.release()}",
            f"Compiler: {compiler.splitlines()[0]}", f"DuckDB: {peers.duckdb_version() or 'not installed'}",
            f"Python: {platform.python_version()}"]


def cells(row: Row, measured: Measured, scale: float, base: Measured | None) -> str:
    low, high = min(measured.seconds), max(measured.seconds)
    rate = row.tuples(scale) / measured.median / 1e6
    ratio = f"{base.median / measured.median:.2f}" if base else ""
    return (f"{rate:.1f} | {measured.median * 1000:.0f} | {low * 1000:.0f}–{high * 1000:.0f} | "
            f"{measured.megabytes:.0f} | {ratio}")


def table(results: dict[str, list[tuple[Contender, Measured]]], scale: float) -> Iterable[str]:
    yield "| row | program | M tuples/s | median ms | min–max ms | peak MB | speed / by hand |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for row in ROWS:
        entries = results.get(row.name, [])
        base = next((m for c, m in entries if c.title == "by hand"), None)
        for contender, measured in entries:
            shown = base if contender.title != "by hand" else None
            yield f"| {row.name} | {contender.title} | {cells(row, measured, scale, shown)} |"


def ratios(results: dict[str, list[tuple[Contender, Measured]]]) -> Iterable[str]:
    def median(row: str, title: str) -> float | None:
        return next((m.median for c, m in results.get(row, []) if c.title == title), None)

    questions = (("windows, speed on 1 M keys / on 1000 keys", ("windows, 1000 keys", "generated"),
                  ("windows, 1 M keys", "generated")),
                 ("whole windows, speed on 1 M keys / on 1000 keys", ("whole windows, 1000 keys", "generated"),
                  ("whole windows, 1 M keys", "generated")),
                 ("csv, speed of two workers / of one", ("csv", "generated"), ("csv", "generated, 2 workers")),
                 ("csv, speed / DuckDB on all cores", ("csv", peers.TITLE), ("csv", "generated")))
    for what, slower, faster in questions:
        pair = (median(*slower), median(*faster))
        if None not in pair:
            yield f"- {what}: **{pair[0] / pair[1]:.2f}**"


def report(results: dict[str, list[tuple[Contender, Measured]]], words: argparse.Namespace) -> str:
    command = " ".join(["python benchmarks/run.py", *sys.argv[1:]])
    lines = ["# Results", "", f"`{command}` on {datetime.date.today()}; {words.repeats} repeats in turns, medians.",
             "How it is measured: [README.md](README.md). One run of everything: `make bench`.", ""]
    if words.scale != 1:
        lines += [f"**A quick run: {words.scale:g} of the records.** Start-up weighs more than in a full one.", ""]
    lines += [*(f"- {line}" for line in machine()), "", *table(results, words.scale), "", *ratios(results), ""]
    rows = [row for row in ROWS if row.name in results]
    lines += ["| row | computes | tuples |", "| --- | --- | ---: |",
              *(f"| {row.name} | {row.what} | {row.tuples(words.scale):,} |" for row in rows), ""]
    return "\n".join(lines)


# --- all of it ---------------------------------------------------------------------------------------


def contenders_of(row: Row, folder: Path, scale: float) -> list[tuple[Contender, Path]]:
    """Everyone with the file that he writes."""
    made = [(generated(row, build_generated(row.program), folder / "generated", scale), folder / "generated"),
            (by_hand(row, build_limit(row.program), folder / "by-hand", scale), folder / "by-hand")]
    if row.name == "csv":
        both = generated(row, BUILD / row.program / row.program, folder / "workers", scale, 2)
        made.append((both, folder / "workers"))
        peer = peers.csv_command(data.folder(scale) / "trades.csv", folder / "duckdb")
        if peer is None:
            print("csv: DuckDB is not installed, so it is left out", file=sys.stderr)
        else:
            made.append((Contender(peers.TITLE, peer, len(os.sched_getaffinity(0))), folder / "duckdb"))
    return made


def run_row(row: Row, words: argparse.Namespace) -> list[tuple[Contender, Measured]]:
    def tell(what: str) -> None:
        print(f"\r\033[K{row.name}: {what}", end="", file=sys.stderr, flush=True)

    data.make(row.group, words.scale)
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # results stay in memory: no disk is measured
    folder = Path(tempfile.mkdtemp(prefix="dfc-bench-", dir=shared))
    try:
        made = contenders_of(row, folder, words.scale)
        for contender, _ in made:
            tell(f"first run, {contender.title}")
            run_once(contender)
        for contender, path in made[1:]:
            wrong = difference(made[0][1], path, row.result)
            if wrong:
                raise SystemExit(f"\n{row.name}: {contender.title} and generated differ: {wrong}")
        measured = measure([contender for contender, _ in made], words.repeats, tell)
    finally:
        shutil.rmtree(folder)
    tell(", ".join(f"{c.title} {m.median * 1000:.0f} ms" for (c, _), m in zip(made, measured, strict=True)) + "\n")
    return [(contender, one) for (contender, _), one in zip(made, measured, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(data.FILES), help="some of them (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="of each program (default: 7)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of records (default: 1)")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md", help="where the table goes")
    words = parser.parse_args()
    unknown = set(words.rows.split(",")) - set(data.FILES)
    if unknown:
        parser.error(f"no such rows: {', '.join(sorted(unknown))}; there are {', '.join(data.FILES)}")
    wanted = [row for row in ROWS if row.group in words.rows.split(",")]
    build_launcher()
    results = {row.name: run_row(row, words) for row in wanted}
    words.output.write_text(report(results, words))
    print(f"{words.output}\n" + "\n".join(table(results, words.scale)))


if __name__ == "__main__":
    main()
