#!/usr/bin/env python3
"""Writes made-up quotes as CSV: many symbols traded with the skew of a real market, at a rate that walks at random.

Prices are random walks, sizes uniform. A few quotes arrive some milliseconds after younger ones, and as many rows
as asked for are damaged, as feeds are.
"""

from __future__ import annotations

import argparse
import itertools
import random
import string
import sys
from collections.abc import Iterator
from pathlib import Path

# The share of all quotes that the most traded symbols hold together: (how many symbols, share).
SHARES = ((1, 0.0287), (10, 0.163), (100, 0.448), (1000, 0.914), (2836, 1.0))
SYMBOLS = SHARES[-1][0]
RATE_START, RATE_LOW, RATE_HIGH = 300_000.0, 135_000.0, 458_000.0  # quotes a second
RATE_STEP = 16_554.0  # root mean square of its change in one second
RATE_EVERY = 0.1  # seconds from one rate to the next
LATE_SHARE, LATE_MS = 0.02, 5
BATCH = 10_000
HEADER = "ts,symbol,bid,ask,bid_size,ask_size\n"


def probabilities() -> list[float]:
    """How often each symbol is quoted, the most traded first: between two shares the ranks follow a power law."""
    found = [SHARES[0][1]]
    for (first, before), (last, until) in itertools.pairwise(SHARES):
        ranks = [rank / first for rank in range(first + 1, last + 1)]
        exponent = steepness(ranks, (until - before) / found[-1])
        found += [found[first - 1] * rank ** -exponent for rank in ranks]
    return found


def steepness(ranks: list[float], total: float) -> float:
    """The exponent with which the powers of the ranks add up to `total`, by bisection."""
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(rank ** -middle for rank in ranks) > total:
            low = middle
        else:
            high = middle
    return low


def names(rng: random.Random) -> list[str]:
    possible = ["".join(letters) for letters in itertools.product(string.ascii_uppercase, repeat=3)]
    return rng.sample(possible, SYMBOLS)


def times(rng: random.Random) -> Iterator[float]:
    """When each quote is made, in milliseconds: evenly within a tenth of a second, at a rate that walks."""
    start, rate = 0.0, RATE_START
    while True:
        count = round(rate * RATE_EVERY)
        yield from (start + 1000 * RATE_EVERY * number / count for number in range(count))
        start += 1000 * RATE_EVERY
        rate = min(RATE_HIGH, max(RATE_LOW, rate + rng.gauss(0, RATE_STEP * RATE_EVERY ** 0.5)))


def quotes(count: int, rng: random.Random) -> Iterator[str]:
    symbols, weights = names(rng), list(itertools.accumulate(probabilities()))
    prices = [rng.uniform(100, 200) for _ in symbols]
    clock, everyone = times(rng), range(SYMBOLS)
    for made in range(0, count, BATCH):
        for who in rng.choices(everyone, cum_weights=weights, k=min(BATCH, count - made)):
            prices[who] = price = max(1.0, prices[who] + rng.gauss(0, 0.02))
            spread = 0.005 + 0.02 * rng.random()
            ts = int(next(clock)) - (rng.randint(1, LATE_MS) if rng.random() < LATE_SHARE else 0)
            yield (f"{max(ts, 0)},{symbols[who]},{price - spread:.4f},{price + spread:.4f},"
                   f"{int(201 * rng.random())},{int(201 * rng.random())}\n")


def damaged(rows: Iterator[str], places: set[int]) -> Iterator[str]:
    """The rows at these places lose their end."""
    for number, row in enumerate(rows):
        yield f"{row[:len(row) // 2]}\n" if number in places else row


def with_progress(rows: Iterator[str], count: int) -> Iterator[str]:
    """One line that counts up, where someone is watching."""
    watched = sys.stderr.isatty()
    for number, row in enumerate(rows, 1):
        if watched and (number % 50_000 == 0 or number == count):
            print(f"\r{number:,} of {count:,} quotes", end="\n" if number == count else "", file=sys.stderr, flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="how many quotes (default: 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same quotes (default: 1)")
    parser.add_argument("--damaged", type=int, default=0, help="how many rows are cut short (default: 0)")
    parser.add_argument("--output", type=Path, default=Path("quotes.csv"), help="default: quotes.csv")
    args = parser.parse_args()
    places = set(random.Random(args.seed).sample(range(args.count), min(args.damaged, args.count)))
    rows = damaged(quotes(args.count, random.Random(args.seed)), places)
    with open(args.output, "w", encoding="utf-8") as file:
        file.write(HEADER)
        file.writelines(with_progress(rows, args.count))


if __name__ == "__main__":
    main()
