"""From measurements to costs, on figures that are made up: what timers take, and what is left for the sources."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import StepCosts
from dfc.compiler.calibrate import Measured, _step_costs

GRAPH = pipeline.flow(pipeline.check(
    'app a\nrecord R { ts: timestamp<ms>, k: i64 }\nsource s: R = csv("s.csv") event time ts\n'
    'stream w = s |> by k |> window time 10s |> aggregate { k, n: count() }\nsink out = w to csv("o.csv")\n',
    "a.dfl", {}))
INSIDE, OUTSIDE = 10.0, 7.0  # what a timed call sees of its own timer, and the one that called it beside that


def calls(count: int = 0, each: float = 0.0, results: int = 0, watermarks: int = 0) -> dict:
    """So many calls that take `each` without timers, with those of the calls inside of them."""
    taken = count * (each + INSIDE) + (results + watermarks) * OUTSIDE
    return {"calls": count, "ns": taken, "results": results, "watermarks": watermarks}


def step(push: dict, watermark: dict, released: dict) -> dict:
    return {"push": push, "push_with_results": calls(), "watermark": watermark, "watermark_with_results": released}


def measured(*steps: dict) -> Measured:
    return Measured(steps, INSIDE, OUTSIDE, {}, {})


def test_timers_of_watermarks_that_go_on_are_no_ones_cost():
    """A window gives 10 results at 100 of 1000 watermarks, all of which it hands on."""
    window = step(calls(5000, 4.0), calls(900, 2.0, watermarks=900), calls(100, 50.0, results=1000, watermarks=100))
    nothing = step(calls(), calls(), calls())
    found = _step_costs(GRAPH, GRAPH.step("w"), measured(nothing, window, nothing))
    assert found == StepCosts(tuple=pytest.approx(4.0), window=pytest.approx((100 * 50.0 + 900 * 2.0) / 1000))
