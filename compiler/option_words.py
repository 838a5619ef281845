"""What words on the command line may be: each function reads one, or says what was expected."""

from __future__ import annotations

import argparse


def definition(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=VALUE")
    return name, value


def small_count(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= 256:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 1 to 256")
    return int(word)


def keys(word: str) -> str:
    """A share must be one; what is no number is a word or a file, which are looked at later."""
    law, _, exponent = word.partition(":")
    if law == "zipf" and not 0 <= _number(exponent, "an exponent between 0 and 8") <= 8:
        raise argparse.ArgumentTypeError(f"`{word}` is not zipf: and an exponent between 0 and 8")
    try:
        share = float(word)
    except ValueError:
        return word
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"`{word}` is not uniform or a share between 0 and 1")
    return word


def source_rate(word: str) -> tuple[str, float]:
    name, equals, number = word.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"`{word}` is not SOURCE=N")
    return name, rate(number)


def source_files(word: str) -> tuple[str, str]:
    name, equals, pattern = word.partition("=")
    if not equals or not name.isidentifier() or not pattern:
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=PATTERN")
    return name, pattern


def svg_file(word: str) -> str:
    if not word.endswith(".svg"):
        raise argparse.ArgumentTypeError(f"`{word}` does not end in .svg, and pictures are SVG")
    return word


def hours(word: str) -> float:
    hours = _number(word, "a number of hours")
    if not 0 < hours <= 1e6:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of hours")
    return hours


def costs(word: str) -> tuple[float, float]:
    best, comma, worst = word.partition(",")
    costs = _number(best, "two costs, BEST,WORST"), _number(worst, "two costs, BEST,WORST")
    if not comma or not 0 < costs[1] < costs[0]:
        raise argparse.ArgumentTypeError(f"`{word}` is not BEST,WORST with 0 < WORST < BEST")
    return costs


def sweep(word: str) -> tuple[str, tuple[str, ...]]:
    name, equals, values = word.partition("=")
    if not equals or not name.isidentifier() or not all(values.split(",")):
        raise argparse.ArgumentTypeError(f"`{word}` is not NAME=VALUE or NAME=VALUE,VALUE")
    return name, tuple(values.split(","))


def service(word: str) -> tuple[str, float]:
    from dfc.compiler.durations import duration

    name, equals, time = word.rpartition("=")
    seconds = duration(time)
    if seconds is None or not 0 < seconds <= 3600 or (equals and not name.isidentifier()):
        raise argparse.ArgumentTypeError(f"`{word}` is not TIME or NAME=TIME, such as 0.45ms or predict=0.45ms")
    return name, seconds


def overhead(word: str) -> float:
    from dfc.compiler.durations import duration

    seconds = duration(word)
    if seconds is None or not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{word}` is not a time up to an hour, such as 0.5ms")
    return seconds


def seed_count(word: str) -> int:
    if not word.isascii() or not word.isdigit() or not 1 <= int(word) <= 10_000:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 1 to 10000")
    return int(word)


def variation(word: str) -> float:
    found = _number(word, "a number from 0 to 10")
    if not 0 <= found <= 10:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number from 0 to 10")
    return found


def seed(word: str) -> int:
    if not word.isascii() or not word.isdigit() or int(word) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"`{word}` is not a whole number below 2**64")
    return int(word)


def rate(word: str) -> float:
    """As programs take it, too: `300000`, `300k`, `1.5M/s`."""
    number = word.removesuffix("/s")
    size = {"k": 1e3, "M": 1e6, "G": 1e9}.get(number[-1:])
    try:
        found = float(number[:-1]) * size if size else float(number)
    except ValueError:
        found = 0.0
    if not 0 < found < 1e12:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of tuples a second, like 300000 or 300k/s")
    return found


def seconds(word: str) -> float:
    seconds = _number(word, "a number of seconds")
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"`{word}` is not a number of seconds up to 3600")
    return seconds


def _number(word: str, what: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise argparse.ArgumentTypeError(f"`{word}` is not {what}") from None
