"""One rate: evenly, or by chance (a Poisson process)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .spans import Spans, spans


def constant(random: np.random.Generator, rate: float) -> Iterator[Spans]:
    yield spans([math.inf], [rate])
