"""The packed records of the windows row, and its results: key, mean, low, high, deviation, weighted."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy

sys.path.append(str(Path(__file__).resolve().parents[1]))
from data import QUOTE

STATS = numpy.dtype([("key", "<i8"), ("mean", "<f8"), ("low", "<f8"), ("high", "<f8"), ("deviation", "<f8"),
                     ("weighted", "<f8")])


def columns(path: str) -> dict[str, numpy.ndarray]:
    """What the windows read, each as an array of its own."""
    quotes = numpy.memmap(path, QUOTE, "r")
    return {name: numpy.ascontiguousarray(quotes[name]) for name in ("key", "price", "volume")}


def write(path: str, found: dict[str, numpy.ndarray]) -> None:
    stats = numpy.empty(len(found["key"]), STATS)
    for name in STATS.names:
        stats[name] = found[name]
    stats.tofile(path)
