#!/usr/bin/env python3
"""Writes position reports of cars on one road, and the weather on its segments; in the middle it gets slow."""

from __future__ import annotations

import argparse
import math
import random
from pathlib import Path

SEGMENTS = 20


def speed_at(chance: random.Random, segment: int, share: float) -> float:
    """Free roads, and a jam around the tenth segment in the middle of the time."""
    jam = math.exp(-((segment - 10) / 3.0) ** 2 - ((share - 0.5) / 0.15) ** 2)
    return max(1.0, chance.gauss(60.0 - 52.0 * jam, 4.0))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=int, default=600)
    options.add_argument("--rate", type=int, default=50, help="reports a second")
    options.add_argument("--seed", type=int, default=7)
    given = options.parse_args()
    chance = random.Random(given.seed)
    with open(Path("reports.csv"), "w", encoding="utf-8") as reports, \
            open(Path("weather.csv"), "w", encoding="utf-8") as weather:
        reports.write("ts,vehicle,segment,speed\n")
        weather.write("ts,segment,slowdown\n")
        for second in range(given.seconds):
            for number in range(given.rate):
                segment = chance.randrange(SEGMENTS)
                speed = speed_at(chance, segment, second / given.seconds)
                reports.write(f"{second},{second * given.rate + number},{segment},{speed:.1f}\n")
            weather.write(f"{second},{chance.randrange(SEGMENTS)},{chance.uniform(0.0, 0.5):.2f}\n")


if __name__ == "__main__":
    main()
