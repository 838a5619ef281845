#!/usr/bin/env python3
"""Draws what the tolls were over time, and where on the road."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import BLUE, ORANGE, Panel, Picture  # noqa: E402

PARTS = 60


def tolls_of(path: Path) -> list[tuple[float, float, float]]:
    """(second, segment, toll) of cars; weather has no vehicle."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [(float(row["ts"]), float(row["segment"]), float(row["toll"])) for row in csv.DictReader(file)
                if row["vehicle"] != "0"]
    return rows or sys.exit(f"{path}: nothing to draw")


def means(pairs: list[tuple[float, float]]) -> dict[float, float]:
    found: dict[float, list[float]] = defaultdict(list)
    for place, toll in pairs:
        found[place].append(toll)
    return {place: sum(tolls) / len(tolls) for place, tolls in sorted(found.items())}


def draw(rows: list[tuple[float, float, float]]) -> str:
    picture = Picture("Tolls on a road with a jam in the middle", f"{len(rows)} notices: what cars were asked for")
    end = max(second for second, _, _ in rows) + 1
    width = end / PARTS
    over_time = means([(second // width * width, toll) for second, _, toll in rows])
    over_road = means([(segment, toll) for _, segment, toll in rows])
    for box, values, name, colour, size in (((70, 90, 800, 110), over_time, "time (s)", BLUE, width),
                                            ((70, 260, 800, 90), over_road, "segment of the road", ORANGE, 1.0)):
        panel = Panel(picture, box, (min(values), max(values) + size), (0, 1.06 * max(values.values(), default=1) or 1))
        panel.axes(name, "toll", lambda x: f"{x:g}", lambda y: f"{y:g}", 4)
        for place, toll in values.items():
            panel.bar((place, place + 0.9 * size), (0, toll), colour)
    return picture.svg()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("notices", type=Path, nargs="?", default=Path("notices.csv"))
    options.add_argument("--output", type=Path, default=Path("tolls.svg"))
    given = options.parse_args()
    given.output.write_text(draw(tolls_of(given.notices)), encoding="utf-8")


if __name__ == "__main__":
    main()
