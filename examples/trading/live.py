#!/usr/bin/env python3
"""The trading program under a load that steps between half and one and a half times what one worker can do.

    live.py [--folder build/demo-control] [--hold 10] [--cycles 2] [--compute]

It measures what one worker can do, runs the program with its controller, first with several workers to choose from and
then on one core with one worker only, compares every result with those of runs that nothing changed, and writes a
report page of each run. A fit waits for a millisecond beside its computation (waiting.c), so that four workers are four
times one also on two cores that have other work; with --compute it computes for some tenths of one (computing.c), and
there are as many workers as cores.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import generate

EXAMPLE = Path(__file__).resolve().parent
LOADS = (0.5, 1.5)  # of what one worker can do
ALTERNATES = ("regression", "average")
FIELDS = "bid=100..200,ask=100..200,bid_size=0..200,ask_size=0..200"
SLIDE = 25
FITS = {"plain": 'c("hft.c", "fit_next_quote")', "waiting": 'c("waiting.c", "wait_and_fit")',
        "computing": 'c("computing.c", "compute_and_fit")'}


class Program:
    """The compiled program, run in its folder; `fit`: which function makes one, of FITS."""

    def __init__(self, folder: Path, dfc: str, fit: str):
        self.folder, self.dfc = folder, dfc
        self.build = folder / fit
        self.build.mkdir(parents=True, exist_ok=True)
        for name in ("hft.c", "levenberg.h", "waiting.c", "computing.c"):
            shutil.copy(EXAMPLE / name, self.build)
        text = (EXAMPLE / "trading.dfl").read_text(encoding="utf-8")
        text = re.sub(r" cost \w+", "", text)  # declared of the plain fit; what others take is measured
        (self.build / "trading.dfl").write_text(text.replace(FITS["plain"], FITS[fit]), encoding="utf-8")
        subprocess.run([dfc, "compile", "trading.dfl", "-o", "build", "--target", "native"], cwd=self.build, check=True)

    def run(self, source: str, *words: str, cores: int | None = None) -> None:
        """On so many cores only, if it is said."""
        where = sorted(os.sched_getaffinity(0))[:cores]
        program = str((self.build / "build" / "trading").resolve())
        spec = f"quotes=generate:weights=shares.txt,{FIELDS},{source}"
        subprocess.run([program, "--source", spec, "--quiet", "--no-socket", *words], cwd=self.folder, check=True,
                       preexec_fn=lambda: os.sched_setaffinity(0, where))

    def controlled(self, name: str, workers: int, cores: int | None) -> None:
        """With the configuration that was compiled, for so many workers; the load of `steps.txt` in real time."""
        control = json.loads((self.build / "build" / "control.json").read_text(encoding="utf-8"))
        control["resources"]["cores"]["most"] = workers
        (self.folder / f"{name}.control.json").write_text(json.dumps(control, indent=2), encoding="utf-8")
        self.run("rates=steps.txt,paced=true", "--control", f"{name}.control.json", "--log", f"{name}.jsonl",
                 "--sink", f"forecasts=csv:{name}.csv", "--max-workers", str(workers), cores=cores)

    def fixed(self, alternate: str) -> None:
        """The same tuples as fast as they can be worked on, with nothing changing."""
        self.run("rates=steps.txt", "--control", "off", "--alternate", f"predict={alternate}", "--workers", "1",
                 "--sink", f"forecasts=csv:{alternate}.csv")

    def capacity(self, tuples: int) -> float:
        """Tuples a second that one worker keeps up with when every 25th makes it compute; everything else has threads
        of its own."""
        self.run(f"rate=20k,count={tuples}", "--control", "off", "--layout", "staged", "--workers", "1",
                 "--sink", "forecasts=discard:", "--stats=capacity.json")
        stats = json.loads((self.folder / "capacity.json").read_text(encoding="utf-8"))
        return SLIDE * stats["out"] / stats["seconds"]

    def report(self, name: str) -> None:
        subprocess.run([self.dfc, "report", f"{name}.jsonl", "-o", f"{name}.html", "--picture", f"{name}.svg"],
                       cwd=self.folder, check=True, stdout=subprocess.DEVNULL)


def write_load(folder: Path, capacity: float, hold: float, cycles: int) -> list[float]:
    """steps.txt and shares.txt; the rates, one a phase."""
    rates = [round(load * capacity) for load in (*LOADS * cycles, LOADS[0])]
    (folder / "steps.txt").write_text("".join(f"{at * hold:g} {rate}\n" for at, rate in enumerate(rates)))
    (folder / "shares.txt").write_text("".join(f"{share:.9g}\n" for share in generate.probabilities()))
    return rates


def phases(log: Path, rates: Sequence[float], hold: float) -> list[str]:
    """A line for each time that a rate holds: how soon the goal was met again, and what the controller had done."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    goal = next(line["goals"]["latency"] for line in lines if line["kind"] == "start")
    steps = [line for line in lines if line["kind"] == "step"]
    said = [f"{'tuples/s':>12} {'steps':>6} {'missed':>7} {'last missed':>12} {'latency':>10}  "
            "workers, alternate at the end"]
    for at, rate in enumerate(rates):
        mine = [step for step in steps if at * hold <= step["uptime"] - step["measured"]["step"] / 2 < (at + 1) * hold]
        missed = [number for number, step in enumerate(mine, 1) if (step["measured"]["latency"] or 0) > goal]
        known = [step["measured"]["latency"] for step in mine if step["measured"]["latency"] is not None]
        last = f"step {missed[-1]}" if missed else "-"
        median = sorted(known)[len(known) // 2] * 1e3 if known else float("nan")
        after = mine[-1]["after"] if mine else {"workers": "?", "alternate": "?"}
        said.append(f"{rate:12,} {len(mine):6} {len(missed):7} {last:>12} {median:7.2f} ms  "
                    f"{after['workers']}, {after['alternate']}")
    changes = sum(step["before"] != step["after"] for step in steps)
    return [*said, f"{'':12} {changes} changes; goal {goal * 1e3:g} ms on average"]


def compared(folder: Path, name: str) -> str:
    """Every result, in its place, is that of one of the alternates; none is missing, none too many."""
    found: Counter[str] = Counter()
    files = [open(folder / f"{file}.csv", encoding="utf-8") for file in (name, *ALTERNATES)]
    try:
        for number, (row, *fixed) in enumerate(zip_longest(*files)):
            by = [alternate for alternate, other in zip(ALTERNATES, fixed, strict=True) if row == other]
            if not by:
                sys.exit(f"{name}.csv, line {number + 1}: is not what any alternate gives: {row}")
            found[by[0] if len(by) == 1 else "either"] += number > 0
    finally:
        for file in files:
            file.close()
    parts = ", ".join(f"{count:,} of {alternate}" for alternate, count in found.items() if count)
    return f"{sum(found.values()):,} results ({parts}): the same as at a fixed degree, in the same order"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", default="dfc", help="the command (default: dfc)")
    parser.add_argument("--folder", type=Path, default=Path("build/demo-control"))
    parser.add_argument("--hold", type=float, default=10.0, help="seconds from one rate to the next (default: 10)")
    parser.add_argument("--cycles", type=int, default=2, help="how often the load rises and falls (default: 2)")
    parser.add_argument("--compute", action="store_true",
                        help="a fit computes in place of waiting: workers need cores of their own")
    args = parser.parse_args()
    show(args.folder.resolve(), os.path.abspath(shutil.which(args.dfc) or args.dfc), args)


def show(folder: Path, dfc: str, args: argparse.Namespace) -> None:
    cores = len(os.sched_getaffinity(0))
    plain = Program(folder, dfc, "plain")
    program = Program(folder, dfc, "computing" if args.compute else "waiting")
    write_load(folder, 1.0, args.hold, args.cycles)  # the shares are needed to measure
    capacity = program.capacity(100_000)
    rates = write_load(folder, capacity, args.hold, args.cycles)
    print(f"one worker can do {capacity:,.0f} tuples/s; {cores} cores", flush=True)
    for alternate in ALTERNATES:
        plain.fixed(alternate)
    for name, workers, on in (("workers", cores if args.compute else 4, None), ("one-core", 1, 1)):
        program.controlled(name, workers, on)
        program.report(name)
        print(f"\n{name}: 1 to {workers} workers", *phases(folder / f"{name}.jsonl", rates, args.hold),
              compared(folder, name), f"report: {folder / f'{name}.html'}", sep="\n  ", flush=True)


if __name__ == "__main__":
    main()
