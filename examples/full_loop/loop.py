#!/usr/bin/env python3
"""The full loop: run with logs, learn from them, search for a plan, compile with it, run again, and say by how much it
is better.

    loop.py [--folder build/demo-loop] [--seconds 60] [--budget 240] [--master local[*]]

Both runs are in real time, by the event times of the recorded readings. Then both programs read the same file as fast
as they can. `loop.html` in the folder has all figures side by side.
"""

from __future__ import annotations

import argparse
import html
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent
DEVICES = 60
WORKERS = 8
COMPARED = (("violations", "seconds that miss the goal"), ("cores", "cores in use"), ("reconfigurations", "changes"))

Call = Callable[[Sequence[str]], None]


class Loop:
    """`call` runs the dfc command with these words, in the folder."""

    def __init__(self, folder: Path, call: Call):
        self.folder, self.call = folder, call
        for name in ("scoring.dfl", "model.c"):
            shutil.copy(EXAMPLE / name, folder)

    def record(self, seconds: int) -> None:
        """Readings of devices of which some send more than others."""
        (self.folder / "load.txt").write_text("".join(f"{at} {rate_at(at):.0f}\n" for at in range(seconds)))
        self.call(["generate", "scoring.dfl", "-o", "readings.csv", "--arrivals", "rates:load.txt", "--spacing",
                   "poisson", "--seconds", f"{seconds}s", "--keys", f"zipf:count={DEVICES},exponent=0.7",
                   "--set", "value=0..100", "--delay", "uniform:most=20ms,share=0.02", "--seed", "7"])

    def compile(self, name: str, *words: str) -> None:
        self.call(["compile", "scoring.dfl", "-o", name, "--target", "native", *words])

    def run(self, name: str, *words: str, log: str | None = None) -> dict:
        """The compiled program, with its decision log and its summary in `logs`; answers the summary."""
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        program = str(self.folder / name / "scoring")
        subprocess.run([program, "--quiet", "--no-socket", "--max-workers", str(WORKERS), "--log",
                        f"logs/{log or name}.jsonl", f"--stats=logs/{name}.json", "--sink", f"scores=csv:{name}.csv",
                        *words],
                       cwd=self.folder, check=True, stderr=subprocess.DEVNULL)
        return json.loads((logs / f"{name}.json").read_text(encoding="utf-8"))

    def learn(self, *spark: str) -> None:
        self.call(["ingest", "readings.csv", "logs/before.jsonl", "logs/before.json", "-o", "traces", "--program",
                   "scoring.dfl", *spark])
        self.call(["profile", "traces", "--program", "scoring.dfl", "-o", "scoring.profile.json", *spark])

    def search(self, *words: str) -> dict:
        self.call(["optimize", "scoring.dfl", "--profile", "scoring.profile.json", "-o", "scoring.plan.json", *words])
        return json.loads((self.folder / "scoring.plan.json").read_text(encoding="utf-8"))


def rate_at(second: int) -> float:
    """Readings a second: a slow wave, and every seventeen seconds a burst of four."""
    return 1300 + 900 * math.sin(2 * math.pi * second / 40) + (1800 if second % 17 >= 13 else 0)


# --- figures ----------------------------------------------------------------------------------------


def measured(log: Path) -> dict[str, float]:
    """Of a run in real time: what the simulator's figures are for a simulated one."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    goal = next(line["goals"]["latency"] for line in lines if line["kind"] == "start")
    steps = [line for line in lines if line["kind"] == "step"]
    lengths = [step["measured"]["step"] for step in steps]
    return {"violations": sum(length for step, length in zip(steps, lengths, strict=True)
                              if (step["measured"]["latency"] or 0.0) > goal),
            "cores": sum(step["before"]["workers"] * length for step, length in zip(steps, lengths, strict=True))
            / sum(lengths),
            "reconfigurations": sum(step["before"] != step["after"] for step in steps)}


def table(rows: Sequence[tuple[str, float, float]]) -> list[str]:
    width = max(len(title) for title, _, _ in rows)
    return [f"{'':{width}}  {'before':>10}  {'after':>10}  {'change':>8}",
            *(f"{title:{width}}  {old:10.2f}  {new:10.2f}  {change(old, new):>8}" for title, old, new in rows)]


def change(old: float, new: float) -> str:
    return f"{(new - old) / old:+.0%}" if old else ("0 %" if new == old else "-")


def page(rows: Sequence[tuple[str, float, float]]) -> str:
    cells = "".join(f"<tr><td>{html.escape(title)}</td><td>{old:.2f}</td><td>{new:.2f}</td>"
                    f"<td>{change(old, new)}</td></tr>\n" for title, old, new in rows)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>scoring: the full loop</title>
<meta name="color-scheme" content="light dark">
<style>body {{ font: 15px/1.5 Helvetica, Arial, sans-serif; max-width: 760px; margin: 24px auto; padding: 0 16px }}
td, th {{ padding: 4px 18px 4px 0; text-align: right }}
td:first-child, th:first-child {{ text-align: left }}</style></head>
<body><h1>scoring: what the recorded load has taught</h1>
<p>Before: as compiled without a profile. After: with the plan that <code>dfc optimize</code> found for this load.</p>
<table><tr><th></th><th>before</th><th>after</th><th>change</th></tr>{cells}</table>
<p>More: <a href="scoring.plan.html">why this plan</a>, <a href="scoring.profile.html">the profile</a>,
<a href="before.html">the run before</a>, <a href="after.html">the run after</a>.</p>
</body></html>
"""


# --- the whole of it --------------------------------------------------------------------------------


def show(loop: Loop, args: argparse.Namespace) -> None:
    spark = ["--master", args.master]
    loop.record(args.seconds)
    loop.compile("before")
    print(f"running for {args.seconds} s, as it is", flush=True)
    loop.run("before", "--speed", "1x")
    loop.learn(*spark)
    plan = loop.search("--budget", str(args.budget), *spark)
    loop.compile("after", "--profile", "scoring.profile.json", "--plan", "scoring.plan.json")
    print(f"running for {args.seconds} s, with the new plan", flush=True)
    loop.run("after", "--speed", "1x")
    logs = {name: measured(loop.folder / "logs" / f"{name}.jsonl") for name in ("before", "after")}
    for name in logs:
        loop.call(["report", f"logs/{name}.jsonl", "-o", f"{name}.html"])
    speeds = {name: throughput(loop, name) for name in logs}
    rows = [(f"simulated: {title}", plan["compared"][name], plan["expected"][name]) for name, title in COMPARED]
    rows += [(f"measured: {title}", logs["before"][name], logs["after"][name]) for name, title in COMPARED]
    rows.append(("measured: readings a second, as fast as it can", speeds["before"], speeds["after"]))
    (loop.folder / "loop.html").write_text(page(rows), encoding="utf-8")
    print("", *table(rows), "", f"page: {loop.folder / 'loop.html'}", sep="\n")


def throughput(loop: Loop, name: str) -> float:
    """Of the same file without waiting for event time; the results are the same as in real time."""
    expected = (loop.folder / f"{name}.csv").read_bytes()
    stats = loop.run(name, log=f"{name}-fast")
    if (loop.folder / f"{name}.csv").read_bytes() != expected:
        sys.exit(f"{name}.csv: the results depend on how fast readings come")
    return stats["in"] / stats["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", default="dfc", help="the command (default: dfc)")
    parser.add_argument("--folder", type=Path, default=Path("build/demo-loop"))
    parser.add_argument("--seconds", type=int, default=60, help="of recorded readings (default: 60)")
    parser.add_argument("--budget", type=int, default=240, help="runs of the search (default: 240)")
    parser.add_argument("--master", default="local[*]", help="where Spark runs (default: local[*])")
    args = parser.parse_args()
    folder, dfc = args.folder.resolve(), os.path.abspath(shutil.which(args.dfc) or args.dfc)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    show(Loop(folder, lambda words: subprocess.run([dfc, *words], cwd=folder, check=True)), args)


if __name__ == "__main__":
    main()
