"""What the models and the simulation predict of each pattern, beside what this machine does, also in CPU time.

    python benchmarks/predict.py [--scale 0.5] [--repeats 5] [--row NAME]

Every program of patterns.py is calibrated on its own data. Each pattern then runs on one and on two workers, in turns,
over a first part of the data, which fills the windows, and over all of it: what the rest took is the time at full
speed, which is what the models speak of. Other work on the machine makes wall-clock time longer, but hardly CPU
time: so that is compared too. It counts the waiting of threads that have nothing to do, as far as they do not sleep.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import data
from measuring import all_cores, build_generated, in_folder, results_folder, teller
from patterns import PATTERNS, TABLES, WORKERS, Table, first_of, title_of
from predictions import SEQUENTIAL, Predicted, calibrate, off, predict


@dataclass
class Runs:
    """Seconds, of a program over the first part and over all of the data."""

    command: tuple[str, ...]
    cores: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


# --- measuring ---------------------------------------------------------------------------------------


def programs(table: Table) -> dict[str, tuple[str, Path, int]]:
    """By title: what the command line calls the pattern, the program, and its cores."""
    row, found = table.row, {}
    found[SEQUENTIAL] = (SEQUENTIAL, build_generated(row.program), 1)
    for pattern in table.patterns:
        for workers in WORKERS:
            word = PATTERNS[pattern].format(workers)
            name = f"{row.program}-{pattern.replace(', ', '-')}-{workers}"
            made = build_generated(row.program, name, "--pattern", f"{table.operator}={word}")
            found[title_of(pattern, workers)] = (word, made, all_cores())
    return found


def run(command: tuple[str, ...], cores: int) -> tuple[float, float]:
    """Seconds of wall-clock time, as the program's own summary says, and of CPU time."""
    chosen = set(sorted(os.sched_getaffinity(0))[-cores:])
    process = subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, chosen))
    started = os.times().elapsed
    _, status, used = os.wait4(process.pid, 0)
    wall = os.times().elapsed - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"it failed with {process.returncode}: {' '.join(command)}")
    return wall, used.ru_utime + used.ru_stime


def at_full_speed(runs: dict[str, Runs], given: tuple[str, str], repeats: int, tell) -> None:
    """In turns, each turn beginning with another one: the time for the first part, and that for all, is subtracted."""
    titles = list(runs)
    for turn in range(repeats):
        for i in range(len(titles)):
            title = titles[(turn + i) % len(titles)]
            tell(f"repeat {turn + 1} of {repeats}, {title}")
            one = runs[title]
            first, whole = (run((*one.command, "--source", spec), one.cores) for spec in given)
            one.wall.append(whole[0] - first[0])
            one.cpu.append(whole[1] - first[1])


def run_table(table: Table, repeats: int, scale: float) -> Iterable[str]:
    tell, row = teller(f"predictions, {table.name}"), table.row
    data.make(row.group, scale)
    spec = in_folder(row.inputs[0][1], scale)
    tuples = row.tuples(scale) - table.filled
    if tuples < table.filled / 2:
        raise SystemExit(f"{table.name}: a larger --scale is needed, so that windows are full for most of the run")
    with results_folder() as folder:
        tell("compiling and calibrating")
        part, source = first_of(spec, table.filled, folder / "part"), row.inputs[0][0]
        made = programs(table)
        profile = calibrate(row, scale)
        to = f"out={'csv' if row.result == 'csv' else 'binary'}:{folder / 'out'}"
        runs = {title: Runs((str(program), "--quiet", "--sink", to), cores)
                for title, (_, program, cores) in made.items()}
        at_full_speed(runs, (f"{source}={part}", f"{source}={spec}"), repeats, tell)
        tell("\n")
        return [line(title, predict(row, table.operator, profile, made[title][0]), one, tuples)
                for title, one in runs.items()]


# --- the table ---------------------------------------------------------------------------------------


def line(title: str, predicted: Predicted, runs: Runs, tuples: int) -> str:
    rate = tuples / max(statistics.median(runs.wall), 1e-9)
    cpu = statistics.median(runs.cpu) * 1e9 / tuples
    return (f"| {title} | {speed(predicted.model)} | {speed(predicted.simulated)} | {speed(rate)} | "
            f"{off(predicted.model, rate)} | {off(predicted.simulated, rate)} | {predicted.work:.4g} | {cpu:.4g} | "
            f"{predicted.work / max(cpu, 1e-9) - 1:+.0%} |")


def speed(rate: float) -> str:
    return f"{rate / 1e6:.3g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--row", action="append", choices=[table.name for table in TABLES], help="only this program")
    args = parser.parse_args()
    for table in TABLES:
        if args.row is None or table.name in args.row:
            lines = run_table(table, args.repeats, args.scale)
            print(f"\n{table.name}: {table.row.what}\n\nM tuples/s, and nanoseconds of CPU time for a tuple\n")
            print("| pattern | model | simulation | measured | model off | simulation off | CPU model | CPU measured | "
                  "off |")
            print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
            print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
