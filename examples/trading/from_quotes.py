#!/usr/bin/env python3
"""Turns recorded quotes into the quotes that trading.dfl reads.

    from_quotes.py recorded.csv > quotes.csv

A recorded row is `time,symbol,bid,bid size,ask,ask size,exchange`: the time of day in milliseconds, prices in
hundredths of a cent, and 0,0 for a side that was not quoted.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator

HEADER = "ts,symbol,bid,ask,bid_size,ask_size\n"
PARTS = 10_000  # of a price


def quotes(rows: Iterable[list[str]]) -> Iterator[str]:
    for time, symbol, bid, bid_size, ask, ask_size, _exchange in rows:
        yield f"{int(time)},{symbol},{int(bid) / PARTS},{int(ask) / PARTS},{int(bid_size)},{int(ask_size)}\n"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: from_quotes.py recorded.csv > quotes.csv")
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        next(rows)  # the header
        sys.stdout.write(HEADER)
        sys.stdout.writelines(quotes(rows))


if __name__ == "__main__":
    main()
