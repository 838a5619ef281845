#!/usr/bin/env python3
"""Streams quotes through the trading example in batches of numpy arrays, and writes the forecasts as they come.

    stream.py quotes.csv [--workers N] [--batch N]
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import dfc
import numpy as np

PROGRAM = Path(__file__).parents[1] / "trading" / "trading.dfl"


def batches(path: str, size: int) -> Iterator[dict[str, np.ndarray]]:
    """The quotes as columns, `size` at a time: all that a program needs to know of its input."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)
        while part := list(itertools.islice(rows, size)):
            ts, symbol, bid, ask, bid_size, ask_size = zip(*(row for row in part if len(row) == 6), strict=True)
            yield {"ts": np.array(ts, "i8"), "symbol": np.array(symbol),
                   "bid": np.array(bid, "f8"), "ask": np.array(ask, "f8"),
                   "bid_size": np.array(bid_size, "i8"), "ask_size": np.array(ask_size, "i8")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("quotes")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch", type=int, default=10_000)
    words = parser.parse_args()
    program = dfc.load(PROGRAM, workers=words.workers)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(program.dtype("forecasts").names)
    for _, rows in program.stream(quotes=batches(words.quotes, words.batch)):
        columns = [rows.text(name) if name == "symbol" else rows[name] for name in rows.dtype.names]
        columns[1] = rows["ts"].astype("i8")
        writer.writerows(zip(*(column.tolist() for column in columns), strict=True))


if __name__ == "__main__":
    main()
