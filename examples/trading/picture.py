#!/usr/bin/env python3
"""Draws the results of one symbol: its candlesticks, and the bid and ask that were predicted after each."""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from chart import BLUE, GREEN, INK, ORANGE, RED, Panel, Picture, padded  # noqa: E402

Row = dict[str, float]
COLUMNS = ("symbol", "ts", "open", "high", "low", "close", "next_bid", "next_ask")


def forecasts(path: Path, symbol: str | None) -> tuple[str, list[Row]]:
    """The rows of one symbol, of the most quoted one if none is named."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError("no forecasts to draw")
    if missing := [name for name in COLUMNS if name not in rows[0]]:
        raise ValueError(f"no column {', '.join(missing)}: it does not look like what the program writes")
    chosen = symbol or Counter(row["symbol"] for row in rows).most_common(1)[0][0]
    kept = [numbers(row, line) for line, row in enumerate(rows, 2)
            if row["symbol"] == chosen and "nan" not in row.values()]
    if not kept:
        raise ValueError(f"no forecasts of {chosen}")
    return chosen, kept


def numbers(row: dict[str, str], line: int) -> Row:
    try:
        return {name: float(row[name]) for name in COLUMNS if name != "symbol"}
    except (TypeError, ValueError):
        raise ValueError(f"line {line} is no forecast") from None


def draw(symbol: str, rows: list[Row]) -> str:
    """A candlestick for each result, and what was predicted for the quotes after it."""
    picture = Picture(f"Candlesticks of {symbol}, and the bid and ask that were predicted", f"{len(rows)} results, one "
                      "every 25 quotes; each prediction is drawn where it was made")
    times = [row["ts"] / 1000 for row in rows]
    prices = padded(row[name] for row in rows for name in ("low", "high", "next_bid", "next_ask"))
    panel = Panel(picture, (70, 90, 800, 270), padded(times, 0.02), prices)
    panel.axes("time (s)", "price", lambda x: f"{x:g}", lambda y: f"{y:g}")
    for before, row, time in zip([2 * times[0] - times[-1], *times], rows, times, strict=False):
        candlestick(panel, row, max(before, time - 2 * (times[-1] - times[0]) / len(rows)), time)
    panel.line(((time, row["next_bid"]) for time, row in zip(times, rows, strict=True)), BLUE, 1.3)
    panel.line(((time, row["next_ask"]) for time, row in zip(times, rows, strict=True)), ORANGE, 1.3)
    picture.key(70, 404, ((GREEN, "rose within 25 quotes"), (RED, "fell"), (BLUE, "predicted bid"),
                          (ORANGE, "predicted ask")))
    return picture.svg()


def candlestick(panel: Panel, row: Row, start: float, end: float) -> None:
    """In the middle of the time from the result before to this one, or of the usual time after a long pause."""
    middle, half = (start + end) / 2, 0.32 * (end - start)
    panel.line(((middle, row["low"]), (middle, row["high"])), INK, 1)
    panel.bar((middle - half, middle + half), (row["open"], row["close"]),
              GREEN if row["close"] >= row["open"] else RED)


def positive(word: str) -> int:
    if (number := int(word)) < 1:
        raise ValueError
    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forecasts", type=Path, nargs="?", default=Path("forecasts.csv"))
    parser.add_argument("--symbol", help="default: the one with the most forecasts")
    parser.add_argument("--last", type=positive, default=80, help="how many results, the last ones (default: 80)")
    parser.add_argument("--output", type=Path, default=Path("forecasts.svg"))
    args = parser.parse_args()
    try:
        symbol, rows = forecasts(args.forecasts, args.symbol)
        args.output.write_text(draw(symbol, rows[-args.last:]), encoding="utf-8")
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    except (ValueError, csv.Error) as error:
        sys.exit(f"{args.forecasts}: {error}")


if __name__ == "__main__":
    main()
