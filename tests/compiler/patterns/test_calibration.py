"""From measurements to costs, on figures that are made up: what timers take, and what is left for the sources."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import StepCosts
from dfc.compiler.calibrate import Measured, _costs, _step_costs
from dfc.compiler.calibrate_threads import of_sources

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


def run(cpu: float, parser: tuple[float, float] | None = None) -> dict:
    """Of a million tuples, which give a thousand results; nanoseconds for each tuple."""
    counts = (("s", 10**6, 10**6), ("w", 10**6, 1000), ("out", 1000, 1000))
    parsers = [] if parser is None else [{"source": "s", "threads": 1, "cpu_seconds": parser[0] / 1e3,
                                          "by_reader": parser[1] / 1e3}]
    return {"in": 10**6, "cpu_seconds": cpu / 1e3, "parsers": parsers,
            "steps": [{"name": name, "in": taken, "out": given} for name, taken, given in counts]}


@pytest.mark.parametrize(("a_tuple", "parser", "at_most", "reading", "parse"), [
    (10.0, (14.0, 3.0), 9.0, 24.0, 17.0),   # what the others leave of 34
    (10.0, (14.0, 3.0), 2.0, 19.0, 17.0),   # no more than parsing, and what the reader took
    (30.0, (14.0, 3.0), 9.0, 17.0, 17.0),   # parsing was measured alone, whatever the timers say of the rest
    (10.0, (40.0, 3.0), 9.0, 34.0, 34.0),   # of one tuple more than of all work together in one thread
    (10.0, None, 2.0, 2.0, None),           # nothing is parsed ahead: what the reader took,
    (40.0, None, 9.0, 1.7, None),           # and a little, if timers take it all
])
def test_sources_take_what_parsing_takes_and_what_is_left(a_tuple, parser, at_most, reading, parse):
    nothing = step(calls(), calls(), calls())
    window = step(calls(10**6, a_tuple), calls(), calls())
    found = _costs(GRAPH, Measured((nothing, window, nothing), INSIDE, OUTSIDE, {}, run(34.0), run(50.0, parser)),
                   at_most)
    assert found["s"] == StepCosts(tuple=pytest.approx(reading), parse=parse and pytest.approx(parse))
    assert found["s"].tuple + found["w"].tuple == pytest.approx(34.0), "all of it is told"


def test_each_source_has_its_own_parsing():
    """A quarter of the tuples is text, the rest lies there as it is used; beside parsing all cost the same."""
    found = of_sources(10.0, {"text": 24.0}, {"text": 0.25, "plain": 0.75})
    assert found == {"text": StepCosts(tuple=pytest.approx(28.0), parse=24.0),
                     "plain": StepCosts(tuple=pytest.approx(4.0))}
    shrunk = of_sources(3.0, {"text": 24.0}, {"text": 0.25, "plain": 0.75})
    assert shrunk == {"text": StepCosts(tuple=pytest.approx(12.0), parse=pytest.approx(12.0)), "plain": StepCosts(0.0)}
