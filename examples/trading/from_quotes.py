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
    for number, row in enumerate(rows, 2):
        try:
            time, symbol, bid, bid_size, ask, ask_size, _exchange = row
            yield f"{int(time)},{symbol},{int(bid) / PARTS},{int(ask) / PARTS},{int(bid_size)},{int(ask_size)}\n"
        except ValueError:
            raise ValueError(f"line {number} is no quote: {','.join(row)[:60]}") from None


def convert(path: str) -> None:
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        if next(rows, None) is None:
            raise ValueError("it is empty: the first line is the header")
        sys.stdout.write(HEADER)
        sys.stdout.writelines(quotes(rows))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: from_quotes.py recorded.csv > quotes.csv")
    try:
        convert(sys.argv[1])
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
    except (ValueError, csv.Error) as error:
        sys.exit(f"{sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
