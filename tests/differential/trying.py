"""How random programs are tried: a seed that a failure prints, a number of examples, shrinking that ends.

`DFC_TEST_SEED=… pytest FILE` tries the same programs again.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from hypothesis.internal.conjecture import engine

SEED = int(os.environ.get("DFC_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
engine.MAX_SHRINKING_SECONDS = 60  # every step of it calls the C compiler


def try_examples(check: Callable[..., None], part: int, count: int, *arguments: Any, shrink: bool = True) -> None:
    """Calls `check` with `count` examples of its arguments' strategies; the parts of one test try different ones."""
    phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)

    @seed(SEED + part)
    @settings(max_examples=count, deadline=None, database=None, report_multiple_bugs=False, phases=phases,
              suppress_health_check=list(HealthCheck))
    @given(strategies.tuples(*arguments))
    def try_one(example: tuple) -> None:
        check(*example)

    try:
        try_one()
    except AssertionError as wrong:
        raise type(wrong)(f"DFC_TEST_SEED={SEED}: {wrong}") from wrong
