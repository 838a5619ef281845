"""The migration protocols side by side, after 000 §5.2.2: 6 → 8 workers with most keys moving, at well under half of
the capacity, and a function that waits in place of computing.

Each run changes several times, up and down again; what counts are the changes up. Runs of the protocols take turns with
runs in which nothing changes: these show what the machine does by itself. The same is simulated with a core for every
thread.

Latency counts from when a tuple was due, not from when it was read: a source that waits (S-BLK) would look good
otherwise.
"""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dfc.compiler.simulate.plant import Costs, Plant
from dfc.compiler.simulate.trace import Arrivals, make_trace
from dfc.compiler.simulate.trial import parts_of
from measuring import Contender, build_generated, results_folder, run_once, teller

PROTOCOLS = ("fluent", "r-blk", "s-blk")
NOTHING = "no change"
WORKERS, MORE = 6, 8
FIRST_MS, APART_MS, CHANGES, SEEN_MS = 600, 300, 8, 150
RATE, KEYS, ZIPF, SLIDE = 120_000, 50_000, 0.6, 20  # of programs/migration.dfl
SERVICE, A_KEY, SEEDS, SLICE_MS = 0.36e-3, 0.4e-6, 10, 10  # simulated: a trigger; a key, out and in


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


def simulate(protocol: str) -> list[Change]:
    """The first change of each seed, with results in order."""
    keys = np.arange(1.0, KEYS + 1) ** -ZIPF
    keys /= keys.sum()
    parts, found = parts_of(keys, "slots"), []
    arrivals = Arrivals([RATE] * 2, keys, SLIDE, 0.1)
    for seed in range(1, SEEDS + 1):
        trace, chance = make_trace(arrivals, seed), np.random.default_rng(seed)
        count = int(parts.max()) + 1
        costs = Costs((SERVICE,), take_out=A_KEY, put_in=A_KEY)
        plant = Plant(costs, parts, chance.integers(0, WORKERS, count), WORKERS, MORE,
                      protocol=protocol.replace("-", "_") if protocol != NOTHING else "fluent", ordered=True)
        seen = []
        for ms in range(0, FIRST_MS + SEEN_MS, SLICE_MS):
            if ms == FIRST_MS and protocol != NOTHING:
                plant.move(chance.integers(0, MORE, count), MORE)
            one = plant.advance(trace.between(ms / 1e3, (ms + SLICE_MS) / 1e3), (ms + SLICE_MS) / 1e3)
            if len(one.latencies):
                seen.append(Interval(ms, len(one.latencies), one.latencies.mean() * 1e6, one.latencies.max() * 1e6))
        found += changes_of(seen)
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
    return ["## Migration", "",
            f"{WORKERS} → {MORE} workers, seven of eight slots moving, {KEYS:,} keys, {RATE:,} tuples a second, a "
            "function that waits 0.3 ms (about a third of the capacity, on any number of cores). Medians over all "
            "changes, with the quartiles; latency from when a tuple was due, in intervals of 10 ms; *calm* is the "
            "first interval behind the highest with at most 1.5 times the latency before. The last row has no change: "
            "it is what the machine does by itself.", "", *_table(found), "",
            f"Simulated, every thread with a core of its own, {A_KEY * 1e6:g} µs to take a key out and as much to put "
            f"it in, {SEEDS} seeds:", "", *_table({name: simulate(name) for name in found})]


def _table(found: dict[str, list[Change]]) -> list[str]:
    lines = ["| protocol | changes | before, ms | highest mean after, ms | highest after, ms | calm again after, ms |",
             "| --- | --- | --- | --- | --- | --- |"]
    for name, changes in found.items():
        cells = (_spread([getattr(one, of) / scale for one in changes])
                 for of, scale in (("usual_us", 1e3), ("peak_us", 1e3), ("highest_us", 1e3), ("recovery_ms", 1)))
        lines.append(f"| {name} | {len(changes)} | " + " | ".join(cells) + " |")
    return lines


def _spread(values: list[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:.1f} ({low:.1f}…{high:.1f})"
