"""The profile file: what is written is read, what can't be is refused with a code."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from dfc.compiler import pipeline
from dfc.compiler.artifacts.profile import Keys, OperatorProfile, Profile, ProfileError, StepCosts, from_json, to_json
from dfc.compiler.calibrate import measured_keys
from dfc.compiler.calibrate_threads import (
    Stages,
    lost,
    most_within_reader,
    parsing,
    scatter,
    sending,
    stages_of,
    usual,
    with_crossings,
    with_fetching,
    within_reader,
)

PROFILE = Profile("hft", "calibration", {"emit_ns": 7.0, "hop_ns": 3000.0}, {"quotes": 3e5}, {
    "predict": OperatorProfile({"regression": StepCosts(9.5, None, 136000.0, 20.0)}, 0.04,
                               Keys(2836, 0.0287, (0.0287, 0.019))),
    "mid": OperatorProfile({"mid": StepCosts(1.5)})}, crowded={"panes": {1: 200.0, 8: 310.0}})


def test_round_trip():
    assert from_json(to_json(PROFILE), "hft") == PROFILE
    assert to_json(from_json(to_json(PROFILE))) == to_json(PROFILE)
    assert PROFILE.costs("predict", "regression").window == 136000.0
    assert PROFILE.costs("mid", None).tuple == 1.5 and PROFILE.costs("predict", "other") is None
    assert PROFILE.costs("nothing", None) is None


COUNTS = [[1] * 6, [1] * 600, [2, 1], [10**9, 1, 1], [1] * 1000, [7], [13, 11, 11, 5, 3, 2, 1]]


@pytest.mark.parametrize("counts", COUNTS, ids=lambda counts: f"{len(counts)} keys")
def test_measured_shares_are_shares_of_one_whole(counts):
    """Six keys of 0.166667 would be more than everything."""
    keys = measured_keys({"keys": len(counts), "key_tuples": sum(counts), "top": counts})
    assert keys.p_max == keys.top[0] and len(keys.top) == len(counts)
    assert keys.top == pytest.approx([count / sum(counts) for count in counts], rel=1e-5)
    profile = replace(PROFILE, operators={"predict": OperatorProfile({}, None, keys)})
    assert from_json(to_json(profile), "hft") == profile


def changed(path: str, value) -> str:
    data = json.loads(to_json(PROFILE))
    at = data
    *way, last = path.split(".")
    for part in way:
        at = at[part]
    at[last] = value
    return json.dumps(data)


@pytest.mark.parametrize(("text", "code"), [
    ("", "E0510"), ("notes", "E0510"), ("[1]", "E0510"), ("[" * 100000, "E0510"), ("{}", "E0511"),
    (changed("schema", 3), "E0511"), (changed("schema", "1"), "E0511"), (changed("app", 3), "E0510"),
    (changed("app", "other"), "E0513"), (changed("machine.emit_ns", -1), "E0512"),
    (changed("machine.emit", 1), "E0512"), (changed("machine.emit_ns", float("nan")), "E0512"),
    (changed("machine.emit_ns", 1e300), "E0512"),
    (changed("machine", []), "E0510"), (changed("operators.predict", 3), "E0510"),
    (changed("operators.predict.costs.regression.window", "much"), "E0512"),
    (changed("operators.predict.costs.regression.window", True), "E0512"),
    (changed("operators.predict.costs.regression.windows", 3), "E0512"),
    (changed("operators.predict.selectivity", -0.5), "E0512"), (changed("operators.predict.keys.p_max", 0), "E0512"),
    (changed("operators.predict.keys.p_max", 1.5), "E0512"), (changed("operators.predict.keys.count", 0), "E0512"),
    (changed("operators.predict.keys.count", 2.5), "E0512"),
    (changed("operators.predict.keys.top", [0.1, 0.2]), "E0512"),
    (changed("operators.predict.keys.top", [0.9, 0.8]), "E0512"), (changed("sources.quotes", 5), "E0510"),
    (changed("sources.quotes.rate", -5), "E0512"), (changed("crowded", []), "E0510"),
    (changed("crowded", {"records": {}}), "E0512"), (changed("crowded.panes", 3), "E0510"),
    (changed("crowded.panes", {"one": 3}), "E0512"), (changed("crowded.panes", {"0": 3}), "E0512"),
    (changed("crowded.panes", {"1": -3}), "E0512"), (changed("crowded.panes", {"1": None}), "E0512"),
])
def test_what_cannot_be(text, code):
    with pytest.raises(ProfileError) as caught:
        from_json(text, "hft")
    assert caught.value.code == code and str(caught.value)


def summary(tuples: int, seconds: dict[int, float], parser: tuple[float, float] | None = None) -> dict:
    """As of a run with `--stats --thread-times`: every tuple gives a result. `parser`: what the thread that parses
    took, and the one that reads in its place."""
    stages = [{"segment": number, "cpu_seconds": taken} for number, taken in seconds.items()]
    steps = [{"name": name, "in": tuples, "out": tuples} for name in ("s", "w", "out")]
    parsers = [{"source": "s", "threads": 1, "cpu_seconds": parser[0], "by_reader": parser[1]}] if parser else []
    return {"in": tuples, "stages": stages, "steps": steps, "parsers": parsers}


GRAPH = pipeline.flow(pipeline.check(
    'app a\nrecord R { k: i64 }\nsource s: R = csv("s.csv")\nstream w = s |> by k |> window count 1 '
    '|> aggregate { k, n: count() }\nsink out = w to csv("o.csv")\n', "a.dfl", {}))
CHANNELS = {"emit_ns": 7.0, "take_ns": 2.0}


def stages(reading: float, seconds: tuple[float, ...], parser: tuple[float, float] | None = None) -> Stages:
    """100 million tuples and as many results: a step that costs 40 ns, and 200 million elements that pass on."""
    plan, said = pipeline.plan(GRAPH, None), summary(10**8, dict(enumerate(seconds)), parser)
    assert [edge.producer for edge in plan.edges] == ["s", "w"]
    parse = parsing(said).get("s")
    own = {"s": StepCosts(tuple=reading + (parse or 0.0), parse=parse), "w": StepCosts(tuple=40.0),
           "out": StepCosts(tuple=0.0)}
    return stages_of(plan, own, said)


@pytest.mark.parametrize(("reader", "window", "writer", "noise", "emit", "take"), [
    (2.0, 7.0, 2.0, 0.0, 20.0, 15.0),  # 3 s and 2 s beyond the steps, of which sending took 2: two take 30 ns
    (2.0, 7.0, 2.0, 29.0, 20.0, 15.0),
    (2.0, 7.0, 2.0, 31.0, 20.0, 2.0),  # other runs differed by as much
    (0.1, 4.6, 0.1, 0.0, 7.0, 2.0),    # less than the channels cost alone: that is what they cost
])
def test_an_element_costs_what_the_threads_take_beyond_their_steps(reader, window, writer, noise, emit, take):
    costs = with_crossings(CHANNELS, stages(0.0, (reader, window, writer)), noise)
    assert costs == {"emit_ns": pytest.approx(emit), "take_ns": pytest.approx(take)}


@pytest.mark.parametrize(("seconds", "threads", "cores", "parser", "ns"), [
    (8.0, (2.0, 7.0, 2.0), 2, None, 10.0),         # the busiest took 7 s; two elements a tuple; three threads
    (8.0, (2.0, 7.0, 2.0), 1, None, 0.0),          # all have one core, and were faster than they could be
    (8.0, (5.0, 5.0, 2.0), 2, None, 20.0),         # 6 s on each of two cores
    (8.5, (2.0, 7.0, 2.0), 3, (3.0, 0.0), 22.5),   # a block that was parsed is no element; a third of a thread more
])
def test_what_a_run_takes_longer_than_its_threads_is_lost_by_what_is_handed_over(seconds, threads, cores, parser, ns):
    said = summary(10**8, dict(enumerate(threads)), parser) | {"seconds": 99.0}  # it looked at clocks all the time
    untold = {"in": 2 * 10**7, "seconds": seconds / 5}
    for_one_thread = {"in": 10**7, "seconds": 1.0, "cpu_seconds": 1.0}
    plan = pipeline.plan(GRAPH, None)
    assert lost(GRAPH, plan, for_one_thread, said, untold, cores) == pytest.approx(ns)
    beside = for_one_thread | {"seconds": 1.01}  # 0.1 s for ten times as many tuples, which are not the threads'
    more = {1: 2.0, 2: 0.5, 3: 1 / 3}[cores]  # threads that a core has beyond one
    assert lost(GRAPH, plan, beside, said, untold, cores) == pytest.approx(max(0.0, ns - 0.5 / more))


def test_threads_that_have_a_core_each_tell_nothing_of_those_that_share_one():
    said = summary(10**8, {0: 2.0, 1: 7.0, 2: 2.0})
    told = {"in": 10**8, "seconds": 9.0, "cpu_seconds": 9.0}
    assert lost(GRAPH, pipeline.plan(GRAPH, None), told, said, told, 3) is None


@pytest.mark.parametrize(("reader", "shared"), [(1.5, 15.0), (3.0, 30.0), (0.3, 7.0)])
def test_sending_where_workers_share_the_core_is_what_the_reader_takes_there(reader, shared):
    """Less than to another core or more, but no less than what the channel takes alone."""
    crowded = stages(0.0, (reader, 7.0, 2.0))
    assert sending(7.0, crowded) == {"emit_shared_ns": pytest.approx(shared)}


@pytest.mark.parametrize(("routings", "found"), [
    (("all", "one"), {"emit_all_ns": 15.0}), (("all", "all"), {"emit_all_ns": 15.0}),
    (("key", "all"), {"emit_shared_ns": 15.0})])
def test_sending_to_all_is_what_the_reader_takes_that_only_sends_so(routings, found):
    """Of the edges behind it nothing is told."""
    plan = pipeline.plan(GRAPH, None)
    edges = tuple(replace(edge, routing=routing) for edge, routing in zip(plan.edges, routings, strict=True))
    crowded = replace(stages(0.0, (1.5, 7.0, 2.0)), plan=replace(plan, edges=edges))
    assert sending(7.0, crowded) == pytest.approx(found)


def test_nothing_is_known_of_a_reader_that_sends_both_ways():
    plan = pipeline.plan(GRAPH, None)
    edges = tuple(replace(edge, source=0, routing=routing)
                  for edge, routing in zip(plan.edges, ("key", "all"), strict=True))
    assert sending(7.0, replace(stages(0.0, (1.5, 7.0, 2.0)), plan=replace(plan, edges=edges))) == {}


@pytest.mark.parametrize("reading", [0.0, 3.0, 50.0])
def test_steps_of_the_thread_that_reads_take_no_more_than_it_does_beside_sending(reading):
    """It took 20 ns for a tuple, of which 7 went to sending, whatever was left over for it in one thread."""
    assert most_within_reader(CHANNELS, stages(reading, (2.0, 7.0, 2.0))) == pytest.approx(13.0)


def test_parsing_in_a_thread_of_its_own_is_neither_sending_nor_reading():
    """It takes 17 ns; what the reader parsed in that thread's place is none of its own work."""
    assert parsing(summary(10**8, {}, (1.5, 0.2))) == {"s": pytest.approx(17.0)}
    assert parsing(summary(10**8, {})) == parsing(None) == {}
    found = stages(0.0, (2.2, 7.0, 2.0), (1.5, 0.2))
    assert most_within_reader(CHANNELS, found) == pytest.approx(13.0)
    assert with_crossings(CHANNELS, found, 0.0) == with_crossings(CHANNELS, stages(0.0, (2.0, 7.0, 2.0)), 0.0)


@pytest.mark.parametrize(("reading", "fetch"), [(0.0, 13.0), (9.0, 13.0), (15.0, 15.0)])
def test_what_the_reader_takes_beyond_sending_is_fetching_what_was_parsed(reading, fetch):
    """20 ns in all, 7 of them for sending; never less than what one thread had left over for reading."""
    found = stages(reading, (2.2, 7.0, 2.0), (1.5, 0.2))
    own = with_fetching(found.own, CHANNELS, found)
    assert own["s"] == StepCosts(tuple=pytest.approx(reading + 17.0), parse=pytest.approx(17.0),
                                 fetch=pytest.approx(fetch))
    assert own["w"] == found.own["w"]
    crossed = with_crossings(CHANNELS, Stages(found.plan, own, found.counts, found.busy, found.read), 0.0)
    assert crossed["emit_ns"] == pytest.approx(7.0), "sending is no dearer for it"


def test_nothing_is_fetched_where_nothing_is_parsed_ahead():
    found = stages(3.0, (2.0, 7.0, 2.0))
    assert with_fetching(found.own, CHANNELS, found) == found.own


@pytest.mark.parametrize(("reader", "emit"), [(2.0, 7.0), (0.4, 4.0)])
def test_sending_takes_no_more_than_the_thread_that_sends(reader, emit):
    costs = within_reader(CHANNELS, stages(0.0, (reader, 7.0, 2.0)))
    assert costs == {"emit_ns": pytest.approx(emit), "take_ns": 2.0}


def ran(seconds: float, *threads: float) -> dict:
    stages = {"stages": [{"cpu_seconds": one} for one in threads]} if threads else {}
    return {"in": 10**8, "cpu_seconds": seconds} | stages


def test_the_middle_run_counts():
    runs = [ran(9.0), ran(3.0), ran(4.0)]
    assert usual(runs) is runs[2] and scatter(runs) == pytest.approx(60.0)
    parsers = {"parsers": [{"source": "s", "threads": 1, "cpu_seconds": 2.0, "by_reader": 1.0}]}
    parsed = [ran(9.0, 1.0) | parsers, ran(9.0, 4.0), ran(9.0, 1.0)]  # what the reader parses is in its time
    assert usual(parsed) is parsed[0]
    waiting = [ran(9.0, 1.0, 2.0), ran(5.0, 4.0, 1.0), ran(7.0, 2.0, 2.0)]  # what threads waited does not count
    assert usual(waiting) is waiting[2] and scatter(waiting) == pytest.approx(20.0)
    assert usual([]) is None and scatter([]) == 0.0
