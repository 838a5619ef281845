"""From measurements to costs, on figures that are made up: what timers take, and what is left for the sources."""

from __future__ import annotations

import math

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import StepCosts
from dfc.compiler.calibrate import Measured, _costs, _step_costs
from dfc.compiler.calibrate_input import is_too_short, longer_words, require_input, unknown
from dfc.compiler.calibrate_threads import of_sources
from dfc.dsl.diagnostics import Diagnostics, ProgramError

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
                   ("s",), at_most)
    assert found["s"] == StepCosts(tuple=pytest.approx(reading), parse=parse and pytest.approx(parse))
    assert found["s"].tuple + found["w"].tuple == pytest.approx(34.0), "all of it is told"


MAPPED = pipeline.flow(pipeline.check(
    'app a\nrecord R { ts: timestamp<ms>, k: i64 }\nrecord K { k: i64 }\nsource s: R = csv("s.csv") event time ts\n'
    'stream m = s |> map { k } -> K\nstream w = m |> by k |> window count 1000 |> aggregate { k, n: count() }\n'
    'sink out = w to csv("o.csv")\n', "a.dfl", {}))


@pytest.mark.parametrize(("at_most", "reading", "mapping", "counting"), [
    (math.inf, 4.0, 10.0, 20.0),  # as the timers say, and what they leave
    (14.0, 4.0, 10.0, 20.0),
    (7.0, 2.0, 5.0, 27.0),        # the thread that reads and maps took half as much: the rest was the window's
    (0.0, 0.486, 1.214, 32.3),    # a little is always left, of which each has its part
])
def test_steps_beside_the_source_take_no_more_than_their_thread(at_most, reading, mapping, counting):
    nothing, counts = step(calls(), calls(), calls()), run(34.0)
    counts["steps"].insert(1, {"name": "m", "in": 10**6, "out": 10**6})
    steps = (nothing, step(calls(10**6, 10.0), calls(), calls()), step(calls(10**6, 20.0), calls(), calls()), nothing)
    found = _costs(MAPPED, Measured(steps, INSIDE, OUTSIDE, {}, counts), ("s", "m"), at_most)
    assert [found[name].tuple for name in ("s", "m", "w")] == pytest.approx([reading, mapping, counting], rel=1e-3)


def test_each_source_has_its_own_parsing():
    """A quarter of the tuples is text, the rest lies there as it is used; beside parsing all cost the same."""
    found = of_sources(10.0, {"text": 24.0}, {"text": 0.25, "plain": 0.75})
    assert found == {"text": StepCosts(tuple=pytest.approx(28.0), parse=24.0),
                     "plain": StepCosts(tuple=pytest.approx(4.0))}
    shrunk = of_sources(3.0, {"text": 24.0}, {"text": 0.25, "plain": 0.75})
    assert shrunk == {"text": StepCosts(tuple=pytest.approx(12.0), parse=pytest.approx(12.0)), "plain": StepCosts(0.0)}


# --- whether there was enough to measure ------------------------------------------------------------


def ran(read: int, milliseconds: float, starting: float = 1.0, results: int = 1000, each: float = 50.0) -> Measured:
    """A run of so many tuples, and so many timed calls with results."""
    nothing = step(calls(), calls(), calls())
    window = nothing | {"push_with_results": calls(results, each, results)}
    summary = {"in": read, "cpu_seconds": milliseconds / 1e3, "seconds": milliseconds / 1e3,
               "steps": [{"name": name, "in": read, "out": 64 * results} for name in ("s", "w", "out")]}
    return Measured((nothing, window, nothing), INSIDE, OUTSIDE, summary, summary, starting=starting / 1e3)


@pytest.mark.parametrize(("milliseconds", "expected"), [
    (0.18, "3000 tuples took 0.18 ms, and the program 1 ms to start"), (11.9, "3000 tuples took 12 ms"), (12.1, ""),
    (500.0, "")])
def test_a_run_that_is_no_longer_than_starting_says_nothing(milliseconds, expected):
    found = Diagnostics()
    assert is_too_short(GRAPH, ran(3000, milliseconds), found) == bool(expected)
    assert [one.severity for one in found.items] == ["warning"] * bool(expected)
    assert not expected or found.items[0].message.startswith(expected)


def test_it_is_said_how_much_more_input_is_needed():
    found = Diagnostics()
    is_too_short(GRAPH, ran(3000, 0.18), found)
    assert (found.items[0].code, found.items[0].expected) == ("W0515", "more input: about 200000 tuples or more")


def test_no_tuple_is_an_error():
    with pytest.raises(ProgramError) as raised:
        require_input(GRAPH, ran(0, 0.0))
    assert [one.code for one in raised.value.diagnostics.items] == ["E0514"]
    require_input(GRAPH, ran(1, 0.0))


@pytest.mark.parametrize(("results", "each", "expected"), [
    (0, 0.0, {"w"}), (3, 50.0, {"w"}), (15, 900.0, {"w"}), (16, 50.0, set()), (3, 5e6, set())])
def test_a_few_short_results_do_not_tell_what_one_costs(results, each, expected):
    found = Diagnostics()
    assert unknown(GRAPH, GRAPH, ran(10**6, 500.0, results=results, each=each), found) == expected
    assert [one.code for one in found.items] == ["W0515"] * len(expected)


@pytest.mark.parametrize(("source", "words", "expected"), [
    ("generate(count: 1000, keys: 5)", (), ("--source", "s=generate:count=24000,keys=5", "--quiet")),
    ("generate(count: 1000, rate: 5k/s, paced: true)", (), None), ("generate(keys: 5)", (), None),
    ('csv("s.csv")', (), None), ("generate(count: 1000)", ("--source", "s=csv:s.csv"), None)])
def test_what_is_generated_goes_on_until_it_is_enough(source, words, expected):
    graph = pipeline.flow(pipeline.check(
        f"app a\nrecord R {{ ts: timestamp<ms>, k: i64 }}\nsource s: R = {source} event time ts\n"
        'sink out = s to csv("o.csv")\n', "a.dfl", {}))
    assert longer_words(graph, (*words, "--quiet"), ran(1000, 1.0)) == expected
    assert longer_words(graph, words, ran(1000, 20.0)) is None
