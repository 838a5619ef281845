"""The input files of the benchmarks: made once for each size, the same bytes on every machine.

    python benchmarks/data.py [--scale 0.1] [--only chain,csv]
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy

FOLDER = Path(__file__).resolve().parents[1] / "build" / "bench"
BLOCK = 1_000_000
START_US = 1_700_000_000_000_000

QUOTE = numpy.dtype([("ts", "<i8"), ("key", "<i8"), ("bid", "<f8"), ("ask", "<f8"), ("price", "<f8"),
                     ("volume", "<f8"), ("size", "<i4"), ("flags", "<i4"), ("id", "<i8")])
ORDER = numpy.dtype([("ts", "<i8"), ("key", "<i8"), ("price", "<f8"), ("size", "<i8")])

Random = numpy.random.Generator
Keys = Callable[[Random, int], numpy.ndarray]


def thousand_keys(random: Random, count: int) -> numpy.ndarray:
    return random.integers(0, 1000, count)


def two_hundred_keys(random: Random, count: int) -> numpy.ndarray:
    return random.integers(0, 200, count)


def million_keys(random: Random, count: int) -> numpy.ndarray:
    """Uniform, but one in twenty is of a thousand keys, so that some windows of 1000 tuples fill up."""
    keys = random.integers(0, 1_000_000, count)
    return numpy.where(random.random(count) < 0.05, keys % 1000, keys)


def quotes(random: Random, first: int, count: int, keys: Keys) -> numpy.ndarray:
    block = numpy.empty(count, QUOTE)
    index = numpy.arange(first, first + count)
    block["ts"] = START_US + index
    block["key"] = keys(random, count) * 7919 - 1_000_000  # neither dense nor positive
    block["bid"] = random.uniform(100, 150, count)
    block["ask"] = random.uniform(145, 200, count)
    block["price"] = random.uniform(100, 200, count)
    block["volume"] = random.integers(1, 1000, count)
    block["size"] = random.integers(0, 1000, count)
    block["flags"] = random.integers(0, 16, count)
    block["id"] = index
    return block


def orders(random: Random, first: int, count: int, rate: int, disorder_us: int, keys: int) -> numpy.ndarray:
    block = numpy.empty(count, ORDER)
    index = numpy.arange(first, first + count)
    block["ts"] = START_US + index * 1_000_000 // rate - random.integers(0, disorder_us + 1, count)
    block["key"] = random.integers(0, keys, count) * 7919 - 1_000_000
    block["price"] = random.uniform(100, 200, count)
    block["size"] = random.integers(1, 1000, count)
    return block


def points(random: Random, first: int, count: int) -> numpy.ndarray:
    """Eight independent values each."""
    return random.random((count, 8))


def trades(random: Random, first: int, count: int) -> bytes:
    """Rows at 20,000 a second of event time, up to 200 ms old, keys by Zipf's law over a thousand names."""
    weights = 1.0 / numpy.arange(1, 1001)
    keys = random.choice(1000, count, p=weights / weights.sum())
    ts = START_US // 1000 + numpy.arange(first, first + count) // 20 - random.integers(0, 201, count)
    cents = random.integers(10_000, 20_000, count)
    volumes = random.integers(1, 1000, count)
    rows = (f"{t},k{k},{c / 100!r},{v}\n"
            for t, k, c, v in zip(ts.tolist(), keys.tolist(), cents.tolist(), volumes.tolist(), strict=True))
    return "".join(rows).encode()


def binary(make: Callable[..., numpy.ndarray], *settings: object) -> Callable[[Random, int, int], bytes]:
    return lambda random, first, count: make(random, first, count, *settings).tobytes()


# file, records at full scale, who makes a block, the header
FILES = {
    "chain": (("quotes.bin", 50_000_000, binary(quotes, thousand_keys), b""),),
    "windows": (("keys_1k.bin", 20_000_000, binary(quotes, thousand_keys), b""),
                ("keys_1m.bin", 20_000_000, binary(quotes, million_keys), b"")),
    "csv": (("trades.csv", 5_000_000, trades, b"ts,key,price,volume\n"),),
    "join": (("bids.bin", 1_000_000, binary(orders, 100_000, 5_000, 1000), b""),
             ("asks.bin", 1_000_000, binary(orders, 100_000, 5_000, 1000), b"")),
    "sessions": (("orders.bin", 2_000_000, binary(orders, 100_000, 20_000, 10_000), b""),),
    "skyline": (("points.bin", 5_000_000, binary(points), b""),),
    "expensive": (("keys_200.bin", 1_000_000, binary(quotes, two_hundred_keys), b""),),
}
# However small the scale: fewer would fill no window.
LEAST = {"windows": 1_200_000, "expensive": 250_000}


def folder(scale: float) -> Path:
    return FOLDER if scale == 1 else FOLDER / f"scale-{scale:g}"


def records(rows: str, scale: float) -> int:
    """The tuples of the named rows' first file."""
    return scaled(rows, FILES[rows][0][1], scale)


def scaled(rows: str, full: int, scale: float) -> int:
    return max(LEAST.get(rows, 1), int(full * scale))


def make(rows: str, scale: float, seed: int = 1) -> None:
    """Makes the files of the named rows that are not there yet, and has all of them in memory."""
    folder(scale).mkdir(parents=True, exist_ok=True)
    for number, (name, full, block, header) in enumerate(FILES[rows]):
        path = folder(scale) / name
        if not path.exists():
            write(path, scaled(rows, full, scale), block, header, numpy.random.default_rng([seed, number, len(name)]))
        read_in(path)


def read_in(path: Path) -> None:
    """From the beginning to the end, and not as it was written or found by chance: the kernel then keeps it in large
    pieces, and maps it up to thirty times as fast."""
    with path.open("rb", buffering=0) as file:
        os.fsync(file.fileno())  # what is not on the disk is not let go
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(1 << 20):
            pass


def write(path: Path, count: int, block: Callable[[Random, int, int], bytes], header: bytes, random: Random) -> None:
    """To another name first: an interrupted run leaves no half of a file that looks like a whole one."""
    unfinished = path.with_suffix(".unfinished")
    with unfinished.open("wb") as file:
        file.write(header)
        for first in range(0, count, BLOCK):
            file.write(block(random, first, min(BLOCK, count - first)))
            print(f"\r{path.name}: {min(count, first + BLOCK) * 100 // count} %", end="", file=sys.stderr, flush=True)
    unfinished.rename(path)
    print(f"\r{path.name}: {count:,} records, {path.stat().st_size / 1e6:,.0f} MB", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of records (default: 1)")
    parser.add_argument("--only", default=",".join(FILES), metavar="ROWS", help="only the files of these rows")
    words = parser.parse_args()
    for rows in words.only.split(","):
        make(rows, words.scale)


if __name__ == "__main__":
    main()
