"""The migration protocols side by side, after 000 §5.2.2: 6 → 8 workers with most keys moving, at well under half of
the capacity, and a function that waits in place of computing.

Each run changes several times, up and down again; what counts are the changes up. Runs of the protocols take turns with
runs in which nothing changes: these show what the machine does by itself.
"""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path

from measuring import Contender, build_generated, results_folder, run_once, teller

PROTOCOLS = ("fluent", "r-blk", "s-blk")
NOTHING = "no change"
WORKERS, MORE = 6, 8
FIRST_MS, APART_MS, CHANGES, SEEN_MS = 600, 300, 8, 150


@dataclass(frozen=True)
class Interval:
    ms: int
    results: int
    mean_us: float
    highest_us: float


@dataclass(frozen=True)
class Change:
    """usual: the mean latency before it; peak: the highest mean of 10 ms after it; recovery: until one is as before."""

    usual_us: float
    peak_us: float
    highest_us: float
    recovery_ms: float


def script(protocol: str) -> str:
    """Every other change goes back. The routes are random: seven of eight slots get another worker."""
    lines = []
    for number in range(CHANGES):
        workers = MORE if number % 2 == 0 else WORKERS
        lines.append(f"{FIRST_MS + number * APART_MS}ms workers={workers} seed={number} protocol={protocol}")
    return "; ".join(lines)


def read_trace(path: Path) -> list[Interval]:
    with path.open() as file:
        return [Interval(int(row["ms"]), int(row["results"]), float(row["mean_us"]), float(row["highest_us"]))
                for row in csv.DictReader(file)]


def changes_of(trace: list[Interval]) -> list[Change]:
    found = []
    for number in range(0, CHANGES, 2):
        at = FIRST_MS + number * APART_MS
        before = [one.mean_us for one in trace if at - SEEN_MS <= one.ms < at]
        after = [one for one in trace if at <= one.ms < at + SEEN_MS]
        if not before or not after:
            continue
        usual = statistics.median(before)
        peak = max(after, key=lambda one: one.mean_us)
        calm = next((one.ms for one in after if one.ms > peak.ms and one.mean_us <= 1.5 * usual), at + SEEN_MS)
        found.append(Change(usual, peak.mean_us, max(one.highest_us for one in after), calm - at))
    return found


def run_protocols(repeats: int) -> dict[str, list[Change]]:
    program, tell = build_generated("migration"), teller("migration")
    found: dict[str, list[Change]] = {name: [] for name in (*PROTOCOLS, NOTHING)}
    with results_folder() as folder:
        trace = folder / "trace.csv"
        for turn in range(repeats):
            for name in found:
                tell(f"repeat {turn + 1} of {repeats}, {name}")
                words = ("--workers", str(WORKERS), "--max-workers", str(MORE), "--layout", "staged", "--quiet",
                         "--latency-trace", str(trace))
                words += () if name == NOTHING else ("--reconfigure", script(name))
                run_once(Contender(name, (str(program), *words), cores=2))
                found[name] += changes_of(read_trace(trace))
    print()
    return found


def report(found: dict[str, list[Change]]) -> list[str]:
    lines = ["## Migration", "",
             f"{WORKERS} → {MORE} workers, seven of eight slots moving, 1000 keys with up to 1000 kept tuples each, "
             "200,000 tuples a second, a function that waits 0.3 ms (a third of the capacity, on any number of cores). "
             "Medians over all changes; latency in intervals of 10 ms. The last row has no change: it is what the "
             "machine does by itself.", "",
             "| protocol | changes | before, ms | highest mean after, ms | highest after, ms | calm again after, ms |",
             "| --- | --- | --- | --- | --- | --- |"]
    for name, changes in found.items():
        def median(of: str, scale: float, changes=changes) -> str:
            return f"{statistics.median(getattr(one, of) for one in changes) / scale:.1f}"
        lines.append(f"| {name} | {len(changes)} | {median('usual_us', 1e3)} | {median('peak_us', 1e3)} | "
                     f"{median('highest_us', 1e3)} | {median('recovery_ms', 1)} |")
    return lines
