"""The recipe of include/dfrt/generate.h once more, as an independent check: prints the tuples of tests/sample.h as CSV.

Run: python3 generate_reference.py count=5,rate=3,zipf=1.1,disorder=2s,size=-5..5
"""

import math
import sys
from collections.abc import Callable, Iterator

MASK = (1 << 64) - 1
UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "min": 60 * 10**9, "s": 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9}
MS = 10**6  # the unit of the sample's event time


def splitmix(seed: int) -> Callable[[], int]:
    state = seed

    def draw() -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    return draw


def zipf_limits(keys: int, exponent: float) -> list[int]:
    weights = [math.pow(k + 1, -exponent) for k in range(keys)]
    total = 0.0
    for weight in weights:
        total += weight
    limits, running = [], 0.0
    for weight in weights:
        running += weight
        limits.append(int(running / total * 2.0**53))
    limits[-1] = 1 << 53
    return limits


def amount(text: str) -> int:
    text = text.removesuffix("/s")
    for suffix, scale in (("k", 1000), ("M", 1000000)):
        if text.endswith(suffix):
            return int(float(text[:-1]) * scale)
    return int(text)


def duration(text: str) -> int:
    for unit, ns in UNITS.items():
        if text.endswith(unit):
            return int(text[: -len(unit)]) * ns
    raise ValueError(text)


def tuples(spec: str) -> Iterator[tuple[int, str, float, int, bool, str]]:
    given = dict(pair.split("=") for pair in spec.split(","))
    count, rate = amount(given["count"]), amount(given.get("rate", "1M"))
    keys, exponent = amount(given.get("keys", "1000")), float(given.get("zipf", "0"))
    disorder = duration(given.get("disorder", "0ns"))
    start = int(given["start"]) * MS if "start" in given else 1700000000 * 10**9
    draw = splitmix(int(given.get("seed", "1")))
    limits = zipf_limits(keys, exponent) if exponent > 0 else []

    def below(n: int) -> int:
        return draw() * n >> 64

    def key() -> int:
        if not limits:
            return below(keys)
        r = draw() >> 11
        return next(k for k, limit in enumerate(limits) if r < limit)

    def whole(field: str) -> int:
        if field not in given:
            return key()
        low, high = map(int, given[field].split(".."))
        return low + below(high - low + 1)

    def real(field: str) -> float:
        low, high = map(float, given.get(field, "0..1").split(".."))
        return low + (high - low) * ((draw() >> 11) * 2.0**-53)

    for i in range(count):
        time = start + i * 10**9 // rate
        if disorder > 0:
            time -= below(disorder + 1)
        yield time // MS, f"k{key()}", real("price"), whole("size"), draw() >> 63 == 1, f"k{key()}"


def main() -> None:
    print("ts,symbol,price,size,buy,note")
    for ts, symbol, price, size, buy, note in tuples(sys.argv[1]):
        print(f"{ts},{symbol},{price!r},{size},{str(buy).lower()},{note}")


main()
