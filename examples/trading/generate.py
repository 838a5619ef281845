#!/usr/bin/env python3
"""Writes made-up quotes as CSV: many symbols traded with the skew of a real market, at a rate that walks at random.

Prices are random walks, sizes uniform; a size of 0 is a side that was not quoted. A few quotes arrive some milliseconds
after younger ones, and as many rows as asked for are damaged, as feeds are. Rates and shares of a market that was
recorded can be given as files.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import string
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
# The share of all quotes that the most traded symbols hold together: (how many symbols, share).
SHARES = ((1, 0.0287), (10, 0.163), (100, 0.448), (1000, 0.914), (2836, 1.0))
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


def shares_of(path: Path) -> list[float]:
    """Of a file: a line with the number of symbols, then a time and the share of each; any line breaks will do."""
    symbols, *rest = path.read_text(encoding="utf-8").split() or ["0"]
    count, shares = int(symbols), [float(share) for share in rest[2:]]
    if count < 1 or len(shares) < count:
        raise ValueError(f"{symbols} symbols, but {len(shares)} shares")
    if min(shares[:count]) < 0 or not 0 < sum(shares[:count]) < math.inf:
        raise ValueError("shares are positive numbers")
    return shares[:count]


def names(rng: random.Random, count: int) -> list[str]:
    possible = ["".join(letters) for letters in itertools.product(string.ascii_uppercase, repeat=3)]
    return rng.sample(possible, count)


def walk(rng: random.Random) -> Iterator[tuple[float, float]]:
    """(seconds, quotes a second): a rate that walks, a step every tenth of a second."""
    rate = RATE_START
    while True:
        yield RATE_EVERY, rate
        rate = min(RATE_HIGH, max(RATE_LOW, rate + rng.gauss(0, RATE_STEP * RATE_EVERY ** 0.5)))


def rates_of(path: Path) -> Iterator[tuple[float, float]]:
    """Of a file with a line `second rate` for every second; a first line that says how many there are may be there."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    rates = [float(words[1]) for words in lines if len(words) == 2]
    if not rates:
        raise ValueError("no line `second rate`")
    if not all(0 <= rate < math.inf for rate in rates):
        raise ValueError("a rate is 0 or more")
    return iter([(1.0, rate) for rate in rates])


def read(how: Callable[[Path], T], path: Path) -> T:
    """What `how` makes of the file; a file that is not there or no such file ends the program with one line."""
    try:
        return how(path)
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"{path}: {error}")


def times(rates: Iterator[tuple[float, float]]) -> Iterator[float]:
    """When each quote is made, in milliseconds: evenly while a rate holds."""
    start = 0.0
    for seconds, rate in rates:
        count = round(rate * seconds)
        yield from (start + 1000 * seconds * number / count for number in range(count))
        start += 1000 * seconds


def quotes(count: int, rates: Iterator[tuple[float, float]], shares: list[float], rng: random.Random) -> Iterator[str]:
    symbols, weights = names(rng, len(shares)), list(itertools.accumulate(shares))
    prices = [rng.uniform(100, 200) for _ in symbols]
    everyone, clock = range(len(symbols)), itertools.islice(times(rates), count)
    while moments := list(itertools.islice(clock, BATCH)):
        for moment, who in zip(moments, rng.choices(everyone, cum_weights=weights, k=len(moments)), strict=True):
            prices[who] = price = max(1.0, prices[who] + rng.gauss(0, 0.02))
            spread = 0.005 + 0.02 * rng.random()
            ts = int(moment) - (rng.randint(1, LATE_MS) if rng.random() < LATE_SHARE else 0)
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


def whole(word: str) -> int:
    if (number := int(word)) < 0:
        raise ValueError
    return number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=whole, default=1_000_000, help="how many quotes (default: 1000000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same quotes (default: 1)")
    parser.add_argument("--damaged", type=whole, default=0, help="how many rows are cut short (default: 0)")
    parser.add_argument("--rates", type=Path, metavar="FILE", help="quotes a second, a line `second rate` each; the "
                        "quotes end with the file (default: a walk)")
    parser.add_argument("--shares", type=Path, metavar="FILE", help="of each symbol (default: those of a real market)")
    parser.add_argument("--output", type=Path, default=Path("quotes.csv"), help="default: quotes.csv")
    args = parser.parse_args()
    places = set(random.Random(args.seed).sample(range(args.count), min(args.damaged, args.count)))
    rng = random.Random(args.seed)
    rates = read(rates_of, args.rates) if args.rates else walk(random.Random(args.seed))
    shares = read(shares_of, args.shares) if args.shares else probabilities()
    rows = damaged(quotes(args.count, rates, shares, rng), places)
    try:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(HEADER)
            file.writelines(with_progress(rows, args.count))
    except OSError as error:
        sys.exit(f"{args.output}: {error.strerror}")


if __name__ == "__main__":
    main()
