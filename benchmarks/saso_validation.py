"""The simulated queue beside a real one: a generated program whose operator is busy for as long as each tuple says,
with one and two workers, at rising load. Program and simulator get the same arrivals and the same times."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from dfc.compiler.simulate.measure import quantile_of
from dfc.compiler.simulate.plant import Costs, Plant
from dfc.compiler.simulate.trace import Arrivals, Trace, make_trace
from measuring import BUILD, DFC, HERE

TITLE = "## The simulated queue beside a real program"
SERVICE = 10e-3
KEYS = 4000
SECONDS = 20
LOADS = (0.5, 0.6, 0.7, 0.8, 0.9)
# sign of the work, its variation, loads
MODES = (("sleeps for 10 ms on average (coefficient of variation 0.5), which other work on the machine hardly disturbs",
          -1, 0.5, LOADS), ("computes for 10 ms", 1, 0.0, LOADS[:3:2]))
_JOB = np.dtype([("ts", "<i8"), ("key", "<i8"), ("work", "<i8")])
_DONE = np.dtype([("key", "<i8"), ("spent", "<i8")])


@dataclass
class Seen:
    utilisation: float
    mean: float
    p50: float
    p90: float


def build() -> Path:
    folder = BUILD / "queue"
    subprocess.run([DFC, "compile", HERE / "programs" / "queue.dfl", "-o", folder, "--target", "native"], check=True,
                   stderr=subprocess.DEVNULL)
    return folder / "queue"


def real(program: Path, trace: Trace, workers: int, sign: int, folder: Path) -> tuple[Seen, np.ndarray]:
    """What the program says of its latencies, and how long each tuple took it."""
    jobs = np.zeros(len(trace), _JOB)
    jobs["ts"], jobs["key"] = trace.times * 1e6, trace.keys
    jobs["work"] = trace.work * SERVICE * 1e9 * sign
    jobs.tofile(folder / "jobs.bin")
    out, stats = folder / "queue.bin", folder / "stats.json"
    subprocess.run([program, "--source", f"jobs=binary:{folder / 'jobs.bin'}", "--sink", f"out=binary:{out}",
                    "--speed", "1x", "--workers", str(workers), "--layout", "staged", f"--stats={stats}", "--quiet"],
                   check=True)
    spent = np.fromfile(out, _DONE)["spent"] / 1e9
    said = json.loads(stats.read_text())["latency_us"]
    busy = float(spent.sum()) / (workers * SECONDS)
    return Seen(busy, said["mean"] / 1e6, said["p50"] / 1e6, said["p90"] / 1e6), spent


def simulated(trace: Trace, workers: int, spent: np.ndarray | None = None) -> Seen:
    """`spent`: the times that were measured, in place of those that were asked for."""
    if spent is not None:
        trace = Trace(trace.times, trace.keys, spent / SERVICE, trace.chance)
    plant = Plant(Costs((SERVICE,)), np.arange(KEYS), np.arange(KEYS) % workers, workers, workers, ordered=True)
    slices = [plant.advance(trace.between(second, second + 1), second + 1.0) for second in range(SECONDS + 30)]
    latencies = np.concatenate([one.latencies for one in slices])
    busy = sum(float(one.busy.sum()) for one in slices) / (workers * SECONDS)
    return Seen(busy, float(latencies.mean()), quantile_of(latencies, 0.5), quantile_of(latencies, 0.9))


def validation_tables() -> list[str]:
    cores = len(os.sched_getaffinity(0))
    program, folder = build(), BUILD / "queue"
    lines = [TITLE, "",
             f"A generated program on this machine ({cores} cores), for {SECONDS} s each: arrivals by chance, {KEYS} "
             "keys. Latencies in milliseconds, as the program itself measures them. *Asked* simulates the times that "
             "the tuples ask for, *measured* those that the program took, which are longer where other work got the "
             "core."]
    for title, sign, cv, loads in MODES:
        lines += ["", f"A trigger {title}:", "",
                  "| workers | load | utilisation: program, asked | mean: program, asked, measured | p50 | p90 | "
                  "mean, program / measured |", "| --- | --- | --- | --- | --- | --- | --- |"]
        lines += [_row(program, folder, workers, load, sign, cv) for workers in (1, 2) for load in loads]
    return lines


def _row(program: Path, folder: Path, workers: int, load: float, sign: int, cv: float) -> str:
    arrivals = Arrivals([load * workers / SERVICE] * SECONDS, np.full(KEYS, 1 / KEYS), 1, cv)
    trace = make_trace(arrivals, round(load * 100) + workers)
    ran, spent = real(program, trace, workers, sign, folder)
    asked, measured = simulated(trace, workers), simulated(trace, workers, spent)
    cells = [", ".join(f"{getattr(one, what) * 1e3:.2f}" for one in (ran, asked, measured))
             for what in ("mean", "p50", "p90")]
    return (f"| {workers} | {load:g} | {ran.utilisation:.3f}, {asked.utilisation:.3f} | " + " | ".join(cells)
            + f" | {ran.mean / measured.mean:.2f} |")


if __name__ == "__main__":
    print("\n".join(validation_tables()))
