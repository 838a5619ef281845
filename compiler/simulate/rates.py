"""Files that say what comes in: a rate for each second, and how likely each key is.

    180              5000
    0 300000         5200
    1 304969         4100
    …                …

On the left the number of seconds and then `second rate`; on the right one rate a line. `#` begins a comment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from dfc.compiler.failure import Usage

MOST_SECONDS = 1_000_000
MOST_KEYS = 1 << 20


def read_rates(path: str) -> tuple[float, ...]:
    """Tuples a second, one number for each second."""
    lines = list(_lines(path))
    if not lines:
        raise Usage(f"{path}: holds no rate; write one a line, in tuples a second")
    if len(lines) > 1 and len(lines[0][1]) == 1 and len(lines[1][1]) == 2:
        return _by_second(path, lines)
    return tuple(_rate(path, number, words[0]) for number, words in _of_one_word(path, lines))


def _by_second(path: str, lines: Sequence[tuple[int, list[str]]]) -> tuple[float, ...]:
    """The first line tells how many seconds follow. A second that is not there is as the one before it; the last one
    holds at most as long as the one before it did, as in programs."""
    first, (said,) = lines[0]
    seconds = int(_number(path, first, said, "the number of seconds"))
    if not 1 <= seconds <= MOST_SECONDS:
        raise Usage(f"{path}:{first}: {said} seconds; there can be 1 to {MOST_SECONDS}")
    found: dict[int, float] = {}
    for number, words in lines[1:]:
        if len(words) != 2:
            raise Usage(f"{path}:{number}: expected `second rate`, got {len(words)} words")
        second = _number(path, number, words[0], "a second")
        if second != int(second) or not 0 <= second < seconds:
            raise Usage(f"{path}:{number}: second {words[0]} is not one of 0 to {seconds - 1} that line {first} tells "
                        "of")
        if int(second) in found or int(second) < max(found, default=0):
            raise Usage(f"{path}:{number}: second {words[0]} comes after second {max(found)}; they must ascend")
        found[int(second)] = _rate(path, number, words[1])
    if 0 not in found:
        raise Usage(f"{path}: second 0 has no rate")
    *_, before, last = (-MOST_SECONDS, *found)
    if seconds > last + (last - before):
        raise Usage(f"{path}:{first}: {seconds} seconds, but the last line is of second {last}; write {last + 1} "
                    "there, or the rates of the others")
    rates = [found[0]]
    for second in range(1, seconds):
        rates.append(found.get(second, rates[-1]))
    return tuple(rates)


def read_keys(path: str) -> tuple[float, ...]:
    """Shares of the keys, which are made to add up to one. Either `count times` followed by a time and `count` numbers,
    of which the first time is taken, or one number a line."""
    lines = list(_lines(path))
    if not lines:
        raise Usage(f"{path}: holds no key; write the share of one a line")
    first, words = lines[0]
    if len(words) == 2 and len(lines) > 1:
        count = _number(path, first, words[0], "the number of keys")
        number, words = lines[1]
        if len(words) != count + 1:
            raise Usage(f"{path}:{number}: expected a time and {int(count)} shares, got {len(words)} words")
        weights = [_share(path, number, word) for word in words[1:]]
    else:
        weights = [_share(path, number, words[0]) for number, words in _of_one_word(path, lines)]
    total = math.fsum(weights)
    if len(weights) > MOST_KEYS:
        raise Usage(f"{path}: {len(weights)} keys; there can be {MOST_KEYS}")
    if total <= 0:
        raise Usage(f"{path}: all shares are zero")
    return tuple(weight / total for weight in weights)


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Numbers and words of the lines that hold anything."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Usage(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Usage(f"{path}: no UTF-8 text") from None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield number, words


def _of_one_word(path: str, lines: Sequence[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    for number, words in lines:
        if len(words) != 1:
            raise Usage(f"{path}:{number}: expected one number, got {len(words)} words")
        yield number, words


def _rate(path: str, number: int, word: str) -> float:
    rate = _number(path, number, word, "a rate")
    if not 0 <= rate <= 1e12:
        raise Usage(f"{path}:{number}: `{word}` is no rate; it can be 0 to 1e12 tuples a second")
    return rate


def _share(path: str, number: int, word: str) -> float:
    share = _number(path, number, word, "a share")
    if share < 0:
        raise Usage(f"{path}:{number}: `{word}` is no share; it can't be negative")
    return share


def _number(path: str, number: int, word: str, what: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Usage(f"{path}:{number}: `{word}` is not {what}")
    return value
