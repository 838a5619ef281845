"""Rates that were recorded: a file of lines `SECOND RATE`, as `generate(rates: …)` of a program takes it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..interpret.arrivals import SECOND, read_rates
from .spans import Spans, spans


def recorded(random: np.random.Generator, path: str) -> Iterator[Spans]:
    """They end with the file."""
    steps = read_rates(Path(path))
    yield spans([math.inf if step.end is None else (step.end - step.start) / SECOND for step in steps],
                [step.rate for step in steps])
