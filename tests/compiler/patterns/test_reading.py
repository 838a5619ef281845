"""Threads that parse ahead: which sources have one, what the model makes of it, and the simulation."""

from __future__ import annotations

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.artifacts.profile import OperatorProfile, Profile, StepCosts
from dfc.compiler.patterns.load import with_workers
from dfc.compiler.select.compose import Whole, fused, staged
from dfc.compiler.select.reading import helping, in_blocks, parsed_ahead
from dfc.compiler.select.search import Request, model_of
from dfc.compiler.simulate.program import operator_of
from dfc.compiler.simulate.scalability import play_once
from dfc.dsl.span import NOWHERE
from dfc.dsl.typed import Pattern

MACHINE = {"emit_ns": 10.0, "take_ns": 1.0, "collect_ns": 1.0}
LOST = 10.0


def graph_of(connector: str, fields: str = "k: symbol, n: i64") -> Graph:
    return pipeline.flow(pipeline.check(
        f"app a\nrecord R {{ {fields} }}\nsource s: R = {connector}\nstream w = s |> by k |> window count 100 "
        "|> aggregate { k, n: count() }\nsink out = w to discard()\n", "a.dfl", {}))


@pytest.mark.parametrize(("connector", "fields", "ahead"), [
    ('csv("s.csv")', "k: symbol, n: i64", True), ('csv("-")', "k: symbol, n: i64", False),
    ('jsonl("s.jsonl")', "k: symbol, n: i64", True), ("generate(count: 10)", "k: symbol, n: i64", True),
    ("generate(rate: 10/s, paced: true)", "k: symbol, n: i64", False),
    ('tcp("localhost:1", format: "csv")', "k: symbol, n: i64", False),
    ('binary("s.bin")', "k: symbol, n: i64", True), ('binary("s.bin")', "k: i64, n: i32, m: i32", False),
    ('binary("s.bin")', "k: i64, n: i32", True),            # padded at its end
    ('binary("s.bin")', "k: i16, n: i32, m: i16", True),    # and in the middle
    ('binary("s.bin")', "k: i64, n: bool", True), ('binary("s.bin")', "k: i64, n: f32[4]", False),
])
def test_what_is_always_ready_and_must_be_parsed_is_parsed_ahead(connector, fields, ahead):
    (step, *_) = graph_of(connector, fields).steps
    assert parsed_ahead(step) == ahead and in_blocks(step) == (ahead and connector.startswith("csv"))


@pytest.mark.parametrize(("reader", "parsers", "busiest"), [
    (10.0, [], 10.0), (10.0, [20.0], 15.0), (30.0, [20.0], 30.0), (0.0, [30.0, 10.0], 15.0), (0.0, [24.0, 30.0], 18.0),
])
def test_the_reader_helps_until_all_have_the_same(reader, parsers, busiest):
    assert helping(reader, parsers) == pytest.approx(busiest)


def predicted(connector: str, reading: StepCosts, cores: int = 8) -> tuple[Whole, Whole, float]:
    """In one thread, with a worker, and the latter simulated; the window costs 4 ns a tuple."""
    profile = Profile("a", "calibration", MACHINE, {}, {
        "s": OperatorProfile({"s": reading}), "w": OperatorProfile({"w": StepCosts(4.0, window=0.0)}, 0.01),
        "out": OperatorProfile({"out": StepCosts(0.0)})}, crowded={"tuples": {1: LOST}})
    model, _ = model_of(graph_of(connector), Request(cores, profile))
    pattern = with_workers("key_partitioning", 1)
    played = play_once(operator_of(model, model.unit("w")), model.machine, pattern)
    return fused(model, {"w": Pattern("sequential", NOWHERE)}), staged(model, {"w": pattern}), played.rate


def works(whole: Whole) -> dict[str, float]:
    return {stage.name: pytest.approx(stage.work) for stage in whole.stages}


@pytest.mark.parametrize(("connector", "reader", "parser"), [
    ('csv("s.csv")', 20.0, 20.0),      # 5 to fetch a tuple, 10 to send it, and what it parses of 25
    ('jsonl("s.jsonl")', 15.0, 25.0),
])
def test_parsing_is_the_work_of_another_thread_where_there_are_threads(connector, reader, parser):
    one, many, played = predicted(connector, StepCosts(27.0, parse=25.0, fetch=5.0))
    assert works(one) == {"the one thread": 31.0}
    assert works(many) == {"the reader": reader, "w (workers)": 5.1, "the thread of out": 0.01,
                           "the parser of s": parser}
    assert many.threads == 4 and many.rate == pytest.approx(1e9 / max(reader, parser))
    assert played == pytest.approx(many.rate, rel=0.02)


@pytest.mark.parametrize(("connector", "busiest", "handed"), [
    ('csv("s.csv")', 45.11 / 2, 1), ('jsonl("s.jsonl")', 25.0, 2),
])
def test_few_cores_have_the_work_of_all_threads(connector, busiest, handed):
    """The worker waits for the reader, and that one for who parses where tuples come in batches; blocks are large."""
    _, many, played = predicted(connector, StepCosts(27.0, parse=25.0, fetch=5.0), cores=2)
    assert many.rate == pytest.approx(1e9 / (busiest + LOST * handed), rel=0.005)
    assert played == pytest.approx(many.rate, rel=0.02)


def test_a_profile_without_parsing_has_no_thread_for_it():
    """It was measured with other sources than those of the program."""
    one, many, played = predicted('csv("s.csv")', StepCosts(27.0))
    assert works(one) == {"the one thread": 31.0}
    assert works(many) == {"the reader": 37.0, "w (workers)": 5.1, "the thread of out": 0.01}
    assert many.threads == 3 and played == pytest.approx(many.rate, rel=0.02)
