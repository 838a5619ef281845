#!/usr/bin/env python3
"""Says in a few lines what a program's `--stats=FILE` says in JSON: what came in, what went out, how fast."""

from __future__ import annotations

import json
import sys
from pathlib import Path


def lines(stats: dict) -> list[str]:
    latency = stats["latency_us"]
    lost = f"{stats['late']:,} late, {stats['malformed']:,} malformed, {stats['faults']:,} arithmetic faults"
    layout = "one thread" if stats["threads"] == 1 else f"{stats['threads']} threads, {stats['workers']} workers"
    return [
        f"tuples in    {stats['in']:,} ({lost})",
        f"results      {stats['out']:,}",
        f"took         {stats['seconds']:.2f} s, {stats['tuples_per_second']:,.0f} tuples/s, {layout}",
        f"latency      mean {time(latency['mean'])}, median {time(latency['p50'])}, 99 % below {time(latency['p99'])}",
        *steps(stats["steps"]),
    ]


def steps(found: list[dict]) -> list[str]:
    width = max(len(step["name"]) for step in found)
    return [f"{'by step' if at == 0 else '':12} {step['name']:{width}}  {step['in']:>11,} in {step['out']:>11,} out"
            for at, step in enumerate(found)]


def time(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms" if microseconds >= 100 else f"{microseconds:.1f} µs"


if __name__ == "__main__":
    print("\n".join(lines(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
