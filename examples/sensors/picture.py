#!/usr/bin/env python3
"""Draws what the sensors program found: a strip for each store with its minutes, outages, alarms and visits."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import BLUE, GREEN, GREY, ORANGE, RED, Panel, Picture, padded  # noqa: E402

STRIP, GAP, TOP, MINUTE = 92, 30, 96, 60_000.0
Row = dict[str, str]


def read(folder: Path, name: str) -> list[Row]:
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def of(rows: list[Row], device: str) -> list[Row]:
    return [row for row in rows if row["device"] == device]


def minute(cell: str) -> float:
    return int(cell) / MINUTE


def strip(panel: Panel, minutes: list[Row], outages: list[Row], alarms: list[Row], visits: list[Row],
          limit: float) -> None:
    bottom, top = panel.y_range
    for row in outages:
        panel.bar((minute(row["start"]), minute(row["end"])), (bottom, top), GREY, 0.35)
    known = {row["alarm"] for row in visits}
    for row in alarms:
        colour = ORANGE if row["start"] in known else RED
        panel.bar((minute(row["start"]), minute(row["end"])), (limit, top), colour, 0.35)
    for row in minutes:
        start = minute(row["start"])
        panel.bar((start, start + 1), (float(row["low"]), float(row["high"])), BLUE, 0.22)
    panel.line(((minute(row["start"]) + 0.5, float(row["mean"])) for row in minutes), BLUE, 1.6)
    for row in visits:
        panel.dot(minute(row["visit"]), bottom + 0.08 * (top - bottom), GREEN, 4)


def draw(folder: Path, limit: float) -> str:
    minutes, outages, alarms, explained, late = (read(folder, name) for name in
                                                 ("minutes", "outages", "alarms", "explained", "late"))
    if not minutes:
        sys.exit(f"{folder}: no minutes to draw")
    devices = sorted({row["device"] for row in minutes})
    height = TOP + len(devices) * (STRIP + GAP) + 50
    known = len({(row["device"], row["alarm"]) for row in explained})
    picture = Picture("Cold stores", f"{len(outages)} outages; {len(alarms)} alarms, {known} of them with a visit "
                                     f"near; {len(late)} late readings kept apart", height=height)
    x = (0.0, max(minute(row["start"]) for row in minutes) + 1)
    y = padded([float(row[name]) for row in minutes for name in ("low", "high")])
    for at, device in enumerate(devices):
        panel = Panel(picture, (64, TOP + at * (STRIP + GAP), 812, STRIP), x, y)
        last = at == len(devices) - 1
        panel.axes("time (min)" if last else "", f"{device}, °C", (lambda v: f"{v:g}") if last else None,
                   lambda v: f"{v:g}", lines=3)
        strip(panel, *(of(rows, device) for rows in (minutes, outages, alarms, explained)), limit)
    picture.key(64, height - 16, ((BLUE, "mean, lowest and highest of each minute"), (RED, "alarm"),
                                  (ORANGE, "alarm with a visit near"), (GREEN, "that visit"), (GREY, "sensor failed")))
    return picture.svg()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("."), help="where the program wrote its results")
    parser.add_argument("--limit", type=float, default=8.0, help="the program's limit (default: 8)")
    parser.add_argument("--output", type=Path, default=Path("stores.svg"))
    args = parser.parse_args()
    args.output.write_text(draw(args.folder, args.limit), encoding="utf-8")


if __name__ == "__main__":
    main()
