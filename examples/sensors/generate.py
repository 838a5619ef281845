#!/usr/bin/env python3
"""Writes made-up readings of thermometers in cold stores, in the order they arrive, and the visits to the stores.

A sensor sends every few seconds. While a store is visited its door is open; sometimes it warms up by itself; now
and then a sensor fails for a while. Readings travel up to 1.5 s, a few of them much longer.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import sys
from dataclasses import dataclass, field
from pathlib import Path

EVERY = 2.0  # seconds from one reading of a device to the next
JOURNEY, LONG_JOURNEY, LONG_SHARE = 1.5, 12.0, 0.003  # seconds; the share that takes the long one
WORKS = ("restocked", "cleaned", "changed the filter", "replaced the fan", "took samples")


@dataclass
class Store:
    """What happens at one device: (start, length, warmth) of warm spells, (start, length) of failures, visits."""

    device: str
    usual: float
    phase: float
    spells: list[tuple[float, float, float]] = field(default_factory=list)
    failures: list[tuple[float, float]] = field(default_factory=list)
    visits: list[tuple[float, str]] = field(default_factory=list)

    def celsius(self, at: float, rng: random.Random) -> float:
        """The compressor's saw tooth, noise, and the warm spells, which rise and fall again."""
        value = self.usual + 0.6 * math.sin(at / 95 + self.phase) + rng.gauss(0, 0.15)
        for start, length, warmth in self.spells:
            if start <= at < start + length:
                value += warmth * math.sin(math.pi * (at - start) / length)
        return value

    def works(self, at: float) -> bool:
        return not any(start <= at < start + length for start, length in self.failures)


def make_store(number: int, seconds: float, rng: random.Random) -> Store:
    store = Store(f"store-{number + 1}", rng.uniform(2.5, 5.0), rng.uniform(0, 6))
    visits = max(1, round(seconds / 2400))
    for start in (seconds * (at + rng.uniform(0.1, 0.7)) / visits for at in range(visits)):
        store.visits.append((start, rng.choice(WORKS)))
        store.spells.append((start + 10, rng.uniform(150, 300), rng.uniform(5, 8)))
    if number % 2 == 0:
        store.spells.append((rng.uniform(0, 0.9 * seconds), rng.uniform(200, 400), rng.uniform(6, 9)))
    for _ in range(rng.randrange(3)):
        store.failures.append((rng.uniform(0, seconds), rng.uniform(30, 150)))
    return store


def readings(stores: list[Store], seconds: float, rng: random.Random) -> list[tuple[float, tuple]]:
    """(when it arrives, row), sorted by arrival."""
    found = []
    for done, store in enumerate(stores, 1):
        for number in range(int(seconds / EVERY)):
            at = EVERY * (number + rng.random() * 0.5)
            ok = store.works(at) or rng.random() < 0.3
            journey = rng.random() * (LONG_JOURNEY if rng.random() < LONG_SHARE else JOURNEY)
            value = f"{store.celsius(at, rng):.2f}" if ok else "-99.0"
            found.append((at + journey, (int(1000 * at), store.device, value, "true" if ok else "false")))
        if sys.stderr.isatty():
            end = "\n" if done == len(stores) else ""
            print(f"\r{done} of {len(stores)} devices", end=end, file=sys.stderr, flush=True)
    return sorted(found)


def write(path: Path, header: str, rows: list[tuple]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split(","))
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=int, default=60, help="how long (default: 60)")
    parser.add_argument("--devices", type=int, default=6, help="how many devices (default: 6)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same readings (default: 1)")
    parser.add_argument("--output", type=Path, default=Path("."), help="the folder for readings.csv and visits.csv")
    args = parser.parse_args()
    rng, seconds = random.Random(args.seed), 60.0 * max(args.minutes, 3)
    stores = [make_store(number, seconds, rng) for number in range(args.devices)]
    rows = [row for _, row in readings(stores, seconds, rng)]
    visits = sorted((int(1000 * at), store.device, work) for store in stores for at, work in store.visits)
    args.output.mkdir(parents=True, exist_ok=True)
    write(args.output / "readings.csv", "ts,device,celsius,ok", rows)
    write(args.output / "visits.csv", "ts,device,work", visits)


if __name__ == "__main__":
    main()
