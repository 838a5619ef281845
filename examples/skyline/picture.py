#!/usr/bin/env python3
"""Draws how many offers were worth a look at each time, and how good the best of them was."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import BLUE, GREEN, ORANGE, Panel, Picture, padded  # noqa: E402

Row = dict[str, float]


def rows_of(path: Path) -> list[Row]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    if not rows:
        sys.exit(f"{path}: nothing to draw")
    return rows


def draw(rows: list[Row]) -> str:
    what = f"{len(rows)} windows, one every 200 ms: offers that no other beats in everything, and the few that the " \
        "top-δ query leaves"
    picture = Picture("The best offers of the last second", what)
    span = (0, rows[-1]["until"] / 1e6)
    many = Panel(picture, (70, 90, 800, 150), span, (0, 1.06 * max(row["skyline"] for row in rows)))
    many.axes("", "offers", None, lambda y: f"{y:g}")
    for row in rows:
        end = row["until"] / 1e6
        many.bar((end - 0.18, end), (0, row["skyline"]), BLUE, 0.55)
        many.bar((end - 0.18, end), (0, row["chosen"]), ORANGE)
    good = Panel(picture, (70, 280, 800, 80), span, padded(row["total"] for row in rows))
    good.axes("time (s)", "values of the best offer, added up", lambda x: f"{x:g}", lambda y: f"{y:.2g}", 3)
    good.line(((row["until"] / 1e6, row["total"]) for row in rows), GREEN)
    picture.key(70, 408, ((BLUE, "skyline"), (ORANGE, "top-δ, δ = 10"), (GREEN, "best of these")))
    return picture.svg()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("found", type=Path, nargs="?", default=Path("found.csv"))
    options.add_argument("--output", type=Path, default=Path("found.svg"))
    given = options.parse_args()
    given.output.write_text(draw(rows_of(given.found)), encoding="utf-8")


if __name__ == "__main__":
    main()
