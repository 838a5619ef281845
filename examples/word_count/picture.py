#!/usr/bin/env python3
"""Draws what the word count found: how the counts of the most frequent words grew, and the top word of each stretch."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import COLOURS, PAPER, SOFT, Panel, Picture  # noqa: E402

SHOWN = len(COLOURS)


def read(path: Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return rows or sys.exit(f"{path}: nothing to draw")


def growth(rows: list[dict[str, str]]) -> dict[str, list[tuple[int, int]]]:
    """(words read, count) of the most frequent words, the most frequent first, thinned out."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, row in enumerate(rows, 1):
        found[row["word"]].append((number, int(row["n"])))
    best = sorted(found.items(), key=lambda item: (-item[1][-1][1], item[0]))[:SHOWN]
    return {word: [(0, 0), *points[::max(1, len(points) // 60)], (len(rows), points[-1][1])] for word, points in best}


def spread(places: list[float], distance: float) -> list[float]:
    """Labels from the top down, moved so far that none covers the one before."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + distance) if moved else place)
    return moved


def draw_growth(picture: Picture, lines: dict[str, list[tuple[int, int]]], colours: dict[str, str]) -> None:
    total, highest = max(p[-1][0] for p in lines.values()), max(p[-1][1] for p in lines.values())
    panel = Panel(picture, (64, 92, 330, 260), (0, total), (0, highest * 1.05))
    panel.axes("words read", "times seen", lambda x: f"{x / 1000:g}k" if x else "0", lambda y: f"{y:g}")
    places = spread([panel.y(points[-1][1]) for points in lines.values()], 14)
    for (word, points), place in zip(lines.items(), places, strict=True):
        panel.line(points, colours[word], 1.8)
        picture.text(panel.left + panel.width + 6, place + 4, word, size=11, colour=colours[word])


def draw_tops(picture: Picture, rows: list[dict[str, str]], colours: dict[str, str]) -> None:
    counts = [int(row["n"]) for row in rows]
    panel = Panel(picture, (520, 92, 350, 260), (0, len(rows)), (0, max(counts) * 1.12))
    panel.axes("stretches of the text, in order", "times the top word of a stretch was seen", None, lambda y: f"{y:g}")
    for at, (row, n) in enumerate(zip(rows, counts, strict=True)):
        panel.bar((at + 0.08, at + 0.92), (0, n), colours.get(row["word"], SOFT))
        picture.text(panel.x(at + 0.5) + 4, panel.y(0) - 8, row["word"], size=11, colour=PAPER, upright=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("."), help="where counts.csv and top.csv are")
    parser.add_argument("--output", type=Path, default=Path("words.svg"))
    args = parser.parse_args()
    rows, tops = read(args.folder / "counts.csv"), read(args.folder / "top.csv")
    lines = growth(rows)
    colours = dict(zip(lines, COLOURS, strict=False))
    picture = Picture("Words of the text", f"{len(rows):,} words counted; on the right the text in {len(tops)} "
                                           "stretches of equal length, each with its most frequent word")
    draw_growth(picture, lines, colours)
    draw_tops(picture, tops, colours)
    args.output.write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
