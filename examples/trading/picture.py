#!/usr/bin/env python3
"""Draws the forecasts of one symbol: candlesticks of its windows, and the price that was predicted after each."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import BLUE, GREEN, INK, RED, Panel, Picture, padded  # noqa: E402

Row = dict[str, float]


def forecasts(path: Path, symbol: str | None) -> tuple[str, list[Row]]:
    """The rows of one symbol, of the most quoted one if none is named."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit(f"{path}: no forecasts to draw")
    chosen = symbol or Counter(row["symbol"] for row in rows).most_common(1)[0][0]
    kept = [{name: float(value) for name, value in row.items() if name != "symbol"}
            for row in rows if row["symbol"] == chosen]
    if not kept:
        sys.exit(f"{path}: no forecasts of {chosen}")
    return chosen, kept


def draw(symbol: str, rows: list[Row], every: int) -> str:
    """Windows overlap: only every so many rows is one drawn as a candlestick, all of them as the line."""
    candles = rows[every - 1::every] or rows[-1:]
    picture = Picture(f"Forecasts for {symbol}", f"{len(rows)} forecasts from windows that slide; the candlesticks are "
                                                 f"those that do not overlap, one in {every}")
    span = (0, rows[-1]["ts"] / 1000 * 1.01)
    prices = padded(row[name] for row in rows for name in ("low", "high", "next"))
    panel = Panel(picture, (70, 90, 800, 270), span, prices)
    panel.axes("time (s)", "price", lambda x: f"{x:g}", lambda y: f"{y:g}")
    before = 0.0
    for row in candles:
        candlestick(panel, row, before, row["ts"] / 1000)
        before = row["ts"] / 1000
    panel.line(((row["ts"] / 1000, row["next"]) for row in rows), BLUE, 1.1)
    picture.key(70, 404, ((GREEN, "rose from the first to the last quote of the window"), (RED, "fell"),
                          (BLUE, "predicted next price")))
    return picture.svg()


def candlestick(panel: Panel, row: Row, start: float, end: float) -> None:
    """In the middle of the time that its window spans."""
    middle, half = (start + end) / 2, 0.32 * (end - start)
    panel.line(((middle, row["low"]), (middle, row["high"])), INK, 1)
    panel.bar((middle - half, middle + half), (row["open"], row["close"]),
              GREEN if row["close"] >= row["open"] else RED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forecasts", type=Path, nargs="?", default=Path("forecasts.csv"))
    parser.add_argument("--symbol", help="default: the one with the most forecasts")
    parser.add_argument("--every", type=int, default=40, help="rows from one candlestick to the next (default: 40)")
    parser.add_argument("--output", type=Path, default=Path("forecasts.svg"))
    args = parser.parse_args()
    args.output.write_text(draw(*forecasts(args.forecasts, args.symbol), args.every), encoding="utf-8")


if __name__ == "__main__":
    main()
