#!/usr/bin/env python3
"""Writes a made-up text: sentences of common words, in chapters that each have a subject and its own words."""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

COMMON = """the of and a to in is was that it for with as on by at from this which or an were are be have not but
they had their one all we can more when there would what up out them then she many some so these two may other into
time could no make than first been its who now people my made over did down only way find use water long little very
after words called just where most know through back much before line right too means old any same tell boy follow
came want show also around form three small set put end does another well large must big even such because turned
here why asked went read need land different home move try kind hand picture again change off play spell air away
animal house point page letter mother answer found study still learn should world""".split()
SUBJECTS = (
    "harbour sailor anchor tide lighthouse captain voyage storm vessel island",
    "orchard blossom harvest apple meadow gardener season basket branch cider",
    "railway engine station signal whistle platform carriage tunnel conductor timetable",
    "mountain glacier summit climber valley shelter avalanche ridge lantern compass",
    "theatre actor curtain rehearsal audience costume orchestra applause stage ticket",
    "workshop hammer carpenter timber varnish chisel bench apprentice ladder hinge",
)
WIDTH = 76


def weights(count: int) -> list[float]:
    """By Zipf's law, added up: the word of rank r is used in proportion to 1/r."""
    return list(itertools.accumulate(1 / rank for rank in range(1, count + 1)))


def sentence(rng: random.Random, subject: list[str]) -> str:
    words = [rng.choices(subject, cum_weights=weights(len(subject)))[0] if rng.random() < 0.25
             else rng.choices(COMMON, cum_weights=weights(len(COMMON)))[0] for _ in range(rng.randint(5, 14))]
    if rng.random() < 0.3:
        words[len(words) // 2] += ","
    return f"{words[0].capitalize()} {' '.join(words[1:])}{rng.choice('....!?')}"


def text(count: int, rng: random.Random) -> Iterator[str]:
    """Lines: chapters of about a twelfth of the text, then paragraphs."""
    chapter, made = 0, 0
    while made < count:
        subject = SUBJECTS[chapter % len(SUBJECTS)].split()
        chapter += 1
        until = min(count, made + max(4, count // 12))
        yield f"Chapter {chapter}"
        made += 1
        while made < until:
            paragraph = " ".join(sentence(rng, subject) for _ in range(rng.randint(3, 8)))
            lines = [*textwrap.wrap(paragraph, WIDTH), ""][:until - made]
            yield from lines
            made += len(lines)


def with_progress(lines: Iterator[str], count: int) -> Iterator[str]:
    """One line that counts up, where someone is watching."""
    for number, line in enumerate(lines, 1):
        if sys.stderr.isatty() and (number % 5_000 == 0 or number == count):
            print(f"\r{number:,} of {count:,} lines", end="\n" if number == count else "", file=sys.stderr, flush=True)
        yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5_000, help="how many lines (default: 5000)")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same text (default: 1)")
    parser.add_argument("--output", type=Path, default=Path("text.txt"), help="default: text.txt")
    args = parser.parse_args()
    with open(args.output, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in with_progress(text(args.count, random.Random(args.seed)), args.count))


if __name__ == "__main__":
    main()
