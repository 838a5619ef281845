#!/usr/bin/env python3
"""Writes made-up offers as CSV: eight values each, which are the better the smaller they are.

How much the values of an offer depend on each other swings with time. When a good price goes with everything else being
good, few offers are worth a look; when it is paid for elsewhere, most of them are.
"""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path

VALUES = ("price", "distance", "delay", "noise", "age", "queue", "risk", "waste")
PERIOD = 4.0  # seconds


def offer(chance: random.Random, seconds: float) -> list[float]:
    """Values around a common level; in good times that level says nearly all of them."""
    together = 0.45 + 0.4 * math.sin(2 * math.pi * seconds / PERIOD)
    level = chance.random()
    return [together * level + (1 - together) * chance.random() for _ in VALUES]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--rate", type=float, default=10_000.0, help="offers a second")
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--output", type=Path, default=Path("offers.csv"))
    given = options.parse_args()
    chance = random.Random(given.seed)
    with open(given.output, "w", encoding="utf-8") as file:
        file.write(f"ts,id,{','.join(VALUES)}\n")
        for number in range(given.count):
            seconds = number / given.rate
            values = ",".join(f"{value:.6f}" for value in offer(chance, seconds))
            file.write(f"{round(seconds * 1e6)},{number},{values}\n")


if __name__ == "__main__":
    main()
