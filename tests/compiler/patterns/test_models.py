"""Each pattern's model against the simulation, and against the equations of 002."""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest
from dfc.compiler.patterns import PATTERNS
from dfc.compiler.patterns.crowding import counting, handing, lost
from dfc.compiler.patterns.forced import why_not
from dfc.compiler.patterns.function import Function
from dfc.compiler.patterns.load import Costs, Load, Machine, fastest
from dfc.compiler.select.traffic import skewed
from dfc.compiler.simulate.scalability import Operator, play_once
from dfc.dsl.span import NOWHERE
from dfc.dsl.typed import Pattern

from tests.compiler.patterns.reference import FUNCTION, LOAD, MACHINE, OPERATOR, operator


def settings():
    for module in PATTERNS.values():
        if module.applies(FUNCTION) is None:
            for workers in (1, 2, 6):
                yield from (one for one in module.configurations(LOAD, workers) if why_not(FUNCTION, one) is None)


def second_maps():
    """Synchronous partitioning, for a function that goes over the window twice."""
    for workers in (1, 2, 6):
        yield from (one for one in PATTERNS["window_partitioning"].configurations(LOAD, workers)
                    if one.reduce == "synchronous")


# A stateless step: a tuple is a window of one, and there are no keys.
STATELESS = Operator("priced", Function("priced", stateless=True, keyed=False),
                     Load(Costs(tuple=2000.0)), skewed(1, 0.0), before=0.0, after=0.0)
CHEAP = operator(costs=Costs(tuple=40.0, window=9e3, merge=500.0))
COMBINABLE = operator(costs=Costs(tuple=30.0, window=400.0, merge=400.0), shares_panes=True)


def text(pattern) -> str:
    parts = (pattern.name, pattern.workers, pattern.merge, pattern.merge_workers, pattern.style, pattern.batch,
             pattern.outer, pattern.inner_workers, pattern.reduce, pattern.partition)
    return "-".join(str(part) for part in parts if part is not None)


@pytest.mark.parametrize("pattern", list(settings()), ids=text)
@pytest.mark.parametrize("one", [OPERATOR, CHEAP], ids=["expensive", "cheap"])
def test_throughput_is_that_of_the_simulation(one, pattern):
    model = PATTERNS[pattern.name].cost(one.load, MACHINE, pattern)
    assert play_once(one, MACHINE, pattern).rate == pytest.approx(model.rate, rel=0.1)


@pytest.mark.parametrize("pattern", list(second_maps()), ids=text)
@pytest.mark.parametrize("one", [OPERATOR, CHEAP], ids=["expensive", "cheap"])
def test_throughput_of_a_synchronous_reduce(one, pattern):
    model = PATTERNS[pattern.name].cost(one.load, MACHINE, pattern)
    assert {stage.name for stage in model.stages} >= {"reduce", "second workers"}
    assert play_once(one, MACHINE, pattern).rate == pytest.approx(model.rate, rel=0.1)


@pytest.mark.parametrize("workers", [1, 2, 6, 12])
@pytest.mark.parametrize("a_tuple", [5.0, 60.0, 2000.0])
def test_throughput_of_a_farm(a_tuple, workers):
    one = replace(STATELESS, load=replace(STATELESS.load, costs=Costs(tuple=a_tuple)))
    (pattern,) = PATTERNS["farm"].configurations(one.load, workers)
    model = PATTERNS["farm"].cost(one.load, MACHINE, pattern)
    assert play_once(one, MACHINE, pattern).rate == pytest.approx(model.rate, rel=0.1)


@pytest.mark.parametrize("workers", [1, 2, 6])
@pytest.mark.parametrize("name", ["key_partitioning", "window_farming", "pane_farming", "window_partitioning"])
def test_throughput_of_what_shares_panes(name, workers):
    for pattern in PATTERNS[name].configurations(COMBINABLE.load, workers):
        model = PATTERNS[name].cost(COMBINABLE.load, MACHINE, pattern)
        assert play_once(COMBINABLE, MACHINE, pattern).rate == pytest.approx(model.rate, rel=0.15), pattern


@pytest.mark.parametrize("pattern", [one for one in (*settings(), *second_maps()) if one.workers in (1, 6)], ids=text)
def test_latency_at_half_load_is_near_that_of_the_simulation(pattern):
    rate = 0.5 * PATTERNS[pattern.name].cost(LOAD, MACHINE, pattern).rate
    model = PATTERNS[pattern.name].cost(replace(LOAD, rate=rate), MACHINE, pattern)
    played = play_once(operator(rate=rate), MACHINE, pattern, rate)
    assert played.latency == pytest.approx(model.latency, rel=0.35)


def of(name: str, workers: int, **settings) -> Pattern:
    return Pattern(name, NOWHERE, workers=workers, **settings)


FREE = Machine(cores=10**6, emit=0, take=0, collect=0, hop=0, routing="balanced")
BARE = replace(LOAD, costs=replace(LOAD.costs, tuple=0.0))


@pytest.mark.parametrize(("pattern", "expected"), [
    (of("window_farming", 7), 7 * 200 / 7.52e-3),  # n·δ/T_F
    (of("key_partitioning", 7), 7 * 200 / 7.52e-3),
    (of("pane_farming", 7, merge="collector"), 7 * 200 / 1.5e-3),  # n·σ_p/T_G
    (of("window_partitioning", 7), 7 * 200 / 7.5e-3),  # n·δ/T_G, G over the window
], ids=lambda value: getattr(value, "name", ""))
def test_without_other_costs_the_rate_is_that_of_equation_4_4(pattern, expected):
    assert PATTERNS[pattern.name].cost(BARE, FREE, pattern).rate == pytest.approx(expected)


def test_latencies_of_section_4_5_and_4_6():
    latency = {name: PATTERNS[name].cost(BARE, FREE, of(name, 10)).latency for name in
               ("window_farming", "key_partitioning", "pane_farming", "window_partitioning")}
    assert latency["window_farming"] == latency["key_partitioning"] == pytest.approx(7.52e6)
    assert latency["pane_farming"] == pytest.approx(1.52e6)
    assert latency["window_partitioning"] == pytest.approx(0.75e6 + 2e4 * 10 / 5)


def test_key_partitioning_stops_at_the_heaviest_key():
    skewed = replace(BARE, p_max=0.16, spread=0.04)
    rates = [PATTERNS["key_partitioning"].cost(skewed, FREE, of("key_partitioning", n)).rate for n in (1, 6, 7, 24)]
    assert rates[1] == pytest.approx(6 * rates[0]) and rates[3] == rates[2] == pytest.approx(rates[0] / 0.16)
    assert PATTERNS["key_partitioning"].most_workers(skewed) == 7
    assert list(PATTERNS["key_partitioning"].configurations(skewed, 8)) == []


def test_threads_share_the_cores():
    two = PATTERNS["window_farming"].cost(LOAD, replace(MACHINE, cores=2), of("window_farming", 8))
    assert two.limit == "cores" and two.rate == pytest.approx(2 * 200 / 7.52e-3, rel=0.01)
    played = play_once(OPERATOR, replace(MACHINE, cores=2), two.pattern)
    assert played.rate == pytest.approx(two.rate, rel=0.05)


def test_the_emitter_becomes_the_limit():
    slow = PATTERNS["key_partitioning"].cost(replace(LOAD, costs=Costs(tuple=5, window=100)), MACHINE,
                                             of("key_partitioning", 8))
    assert slow.limit == "emitter" and slow.rate == pytest.approx(1e9 / MACHINE.emit)


def test_only_active_workers_and_merge_workers_without_keys_get_copies():
    cost = PATTERNS["window_farming"].cost
    active, agnostic = (cost(LOAD, MACHINE, of("window_farming", 12, style=style)) for style in ("active", "agnostic"))
    assert (active.replication, agnostic.replication) == (12, 1)
    assert active.memory > 10 * agnostic.memory
    merging = of("pane_farming", 6, merge="shuffled", merge_workers=3)
    assert PATTERNS["pane_farming"].cost(LOAD, MACHINE, merging).replication == 1
    assert PATTERNS["pane_farming"].cost(replace(LOAD, keys=1, p_max=1.0), MACHINE, merging).replication == 3


@pytest.mark.parametrize("name", ["window_farming", "window_partitioning", "nesting"])
@pytest.mark.parametrize(("window", "panes"), [(1000, 5), (400, 2)])
def test_one_worker_without_shared_panes_is_slower_than_none(name, window, panes):
    """Neighbouring windows share nothing there, and the emitter's work comes on top."""
    load = replace(COMBINABLE.load, window=window, panes=panes)
    one = {"inner_workers": 1} if name == "nesting" else {"style": "agnostic"} if name == "window_farming" else {}
    rates = [PATTERNS[other].cost(load, MACHINE, of(other, 1, **settings)).rate for other, settings in
             ((name, one), ("sequential", {}))]
    assert rates[0] < rates[1]


@pytest.mark.parametrize("name", [name for name in PATTERNS if name != "farm"])
def test_work_does_not_vanish(name):
    """However it is divided, all threads together have at least the work of one: a pattern shares out, and links cost.
    Only pane farming has less where one thread would fold every window from its tuples."""
    random = Random(seed := int(os.environ.get("DFC_TEST_SEED", "7")))
    print("seed", seed)
    for _ in range(300):
        load = _any_load(random, pane_farming=name == "pane_farming")
        one = sum(stage.work for stage in PATTERNS["sequential"].cost(load, MACHINE, of("sequential", 1)).stages)
        for workers in (1, 2, 4, 7):
            for pattern in PATTERNS[name].configurations(load, workers):
                found = PATTERNS[name].cost(load, MACHINE, pattern)
                assert sum(stage.work for stage in found.stages) >= one * (1 - 1e-9), (load, pattern)


def _any_load(random: Random, pane_farming: bool):
    """Costs of any size and windows of any shape, in a store that shares panes, computes them, or keeps all tuples."""
    a_tuple, merge = (10 ** random.uniform(0, 4) for _ in range(2))
    kind = random.choice(["shares", "computes"] + ["keeps"] * (not pane_farming))
    slide = random.choice([0.2, 1, 2, 7, 100])
    panes = float(random.choice([1, 2, 3, 10, 100]))
    parts, pane = _any_parts(random), 10 ** random.uniform(0, 5)
    if kind == "computes":  # calibration measures these in panes only
        pane = parts["pane"] or pane
    whole = merge if kind == "shares" else merge + panes * pane
    return replace(LOAD, costs=Costs(tuple=a_tuple, window=whole, merge=merge, **parts),
                   window=slide * panes, slide=slide, panes=panes, shares_panes=kind == "shares",
                   computes_panes=kind == "computes")


def _any_parts(random: Random) -> dict[str, float]:
    """What is measured of the parts of an operator, or not: in other runs than the whole, so that it need not fit."""
    return {name: random.choice([0.0, 10 ** random.uniform(0, 5)]) for name in ("keep", "pane", "keep_whole", "whole")}


FEW = replace(MACHINE, cores=2)


# Each tuple has a result: a worker takes what it is given, and the collector its result. What all get goes over once.
# Two workers make four threads, two a core; with three that merge there are five more than cores, or six with a dealer.
@pytest.mark.parametrize(("name", "settings", "handed"), [
    ("key_partitioning", {}, 2 * 6.0), ("window_farming", {"style": "agnostic"}, 2 * 80.0),
    ("window_farming", {"style": "active"}, 2 * 6.0), ("window_partitioning", {}, 2 * 80.0),
    ("pane_farming", {"merge": "collector"}, 2 * 40.0), ("pane_farming", {"merge": "ring"}, 2 * 70.0),
    ("pane_farming", {"merge": "shuffled", "merge_workers": 3}, 2.5 * 3 * 40.0),
    ("pane_farming", {"merge": "farm", "merge_workers": 3}, 3 * 4 * 40.0),
])
def test_what_is_handed_over_costs_more_where_threads_share_cores(name, settings, handed):
    """By what it is, a tuple, a pane or a window, and by the number of workers."""
    cheap = operator(costs=Costs(tuple=12.0, window=28.0, merge=28.0), shares_panes=True, slide=1.0, window=3.0,
                     panes=3.0)
    pattern = of(name, 2, **settings)
    losing = replace(FEW, crowded={"tuples": {1: 4.0, 3: 8.0}, "panes": {1: 40.0}, "turns": {1: 70.0},
                                   "windows": {2: 80.0, 4: 99.0}})
    free = replace(FEW, crowded={what: {1: 0.0} for what in losing.crowded})
    slower, faster = (1e9 / play_once(cheap, machine, pattern).rate for machine in (losing, free))
    assert slower - faster == pytest.approx(handed, rel=0.01)


@pytest.mark.parametrize(("merge", "handed"), [("shuffled", 3.0), ("farm", 4.0)])
@pytest.mark.parametrize("merging", [2, 6])
def test_what_all_merge_workers_read_goes_over_once(merge, handed, merging):
    """A pane to its worker, its result to those who merge, through another thread or not, and the window's result."""
    one = replace(LOAD, keys=1, p_max=1.0)
    pattern = of("pane_farming", 2, merge=merge, merge_workers=merging)
    more, less = (sum(stage.work for stage in PATTERNS["pane_farming"].cost(one, machine, pattern).stages)
                  for machine in (counting(MACHINE), MACHINE))
    assert (more - less) * one.slide == pytest.approx(handed)


@pytest.mark.parametrize(("name", "settings"), [("key_partitioning", {}), ("window_farming", {"style": "active"})])
@pytest.mark.parametrize(("cores", "sending"), [(4, 50.0), (3, 30.0), (2, 30.0)])
def test_tuples_for_workers_that_share_the_senders_core_cost_what_they_cost_there(name, settings, cores, sending):
    """The sender is the busiest; three workers and it have four cores, or share them. Those that all get all tuples
    get them from one place."""
    cheap = operator(costs=Costs(tuple=1.0), slide=10.0, window=10.0, panes=1.0)
    machine = replace(MACHINE, cores=cores, take=1.0, emit=50.0, emit_shared=30.0,
                      crowded={what: {1: 0.0} for what in ("tuples", "windows")})
    pattern = of(name, 3, **settings)
    assert 1e9 / PATTERNS[name].cost(cheap.load, machine, pattern).rate == pytest.approx(sending)
    assert 1e9 / play_once(cheap, machine, pattern).rate == pytest.approx(sending, rel=0.02)


@pytest.mark.parametrize(("workers", "cores", "ns"), [(3, 4, 50.0), (3, 3, 90.0), (2, 2, 90.0), (1, 1, 30.0)])
def test_tuples_for_all_workers_cost_what_they_cost_there(workers, cores, ns):
    """Nothing else costs anything. One worker gets what it would get anyway."""
    cheap = operator(costs=Costs(), slide=10.0, window=10.0, panes=1.0)
    machine = replace(MACHINE, cores=cores, take=0.0, collect=0.0, emit=50.0, emit_shared=30.0, emit_all=90.0,
                      crowded={"tuples": {1: 0.0}})
    pattern = of("window_farming", workers, style="active")
    assert 1e9 / PATTERNS["window_farming"].cost(cheap.load, machine, pattern).rate == pytest.approx(ns)
    assert 1e9 / play_once(cheap, machine, pattern).rate == pytest.approx(ns, rel=0.02)


@pytest.mark.parametrize(("cores", "parsing", "ns"), [
    (4, 0.0, 17.0),  # the operator's thread: taking, the tuple, a tenth of a result and of what is behind it
    (2, 0.0, 17.0), (1, 0.0, 26.0 + 8.0),  # both threads on one core: and one of them too many
    (4, 60.0, 34.5), (2, 60.0, 43.0 + 4.0)])    # a parser, whom the reader helps; all three on two cores
def test_what_has_a_thread_beside_the_reader_is_no_worker(cores, parsing, ns):
    one = replace(operator(costs=Costs(tuple=8.0, window=40.0), slide=10.0, window=10.0, panes=1.0), before=3.0,
                  after=40.0, alone=5.0, parsing=parsing, helps=True)
    machine = Machine(cores=cores, emit=6.0, take=1.0, collect=99.0, crowded={"tuples": {1: 8.0}})
    played = play_once(one, machine, of("sequential", None), apart=True)
    assert 1e9 / played.rate == pytest.approx(ns, rel=0.02) and played.threads == 2 + (parsing > 0)


def test_a_tuple_to_all_loses_what_one_to_one_does_where_nothing_else_is_known():
    what = handing(of("window_farming", 2, style="active"))
    assert lost(replace(FEW, crowded={"tuples": {1: 4.0}, "copies": {2: 9.0}}), what, 2, 4) == 9.0
    assert lost(replace(FEW, crowded={"tuples": {1: 4.0}}), what, 2, 4) == 4.0


@pytest.mark.parametrize(("workers", "ns"), [(1, 4.0), (2, 4.0), (3, 6.0), (4, 8.0), (9, 8.0)])
def test_between_numbers_of_workers_losses_are_interpolated(workers, ns):
    assert lost(replace(FEW, crowded={"panes": {4: 8.0, 2: 4.0}}), "panes", workers, 4) == pytest.approx(ns)


@pytest.mark.parametrize(("threads", "ns"), [(1, 0.0), (2, 0.0), (3, 4.0), (4, 8.0), (7, 20.0)])
def test_the_more_threads_a_core_has_the_more_is_lost(threads, ns):
    assert lost(replace(FEW, crowded={"tuples": {1: 8.0}}), "tuples", 1, threads) == pytest.approx(ns)


def test_what_was_not_measured_loses_a_waking_for_each_block():
    assert lost(Machine(cores=4, hop=2560.0, crowded={"panes": {1: 40.0}}), "tuples", 2, 5) == pytest.approx(5.0)


def test_the_busiest_stage_decides():
    found = PATTERNS["pane_farming"].cost(replace(LOAD, costs=replace(LOAD.costs, merge=9e6, window=16.5e6)), MACHINE,
                                          of("pane_farming", 6, merge="collector"))
    assert found.limit == "collector" and fastest(found.stages, 10**6)[1] == "collector"
    spread = PATTERNS["pane_farming"].cost(replace(LOAD, costs=replace(LOAD.costs, merge=9e6, window=16.5e6)), MACHINE,
                                           of("pane_farming", 6, merge="shuffled", merge_workers=6))
    assert spread.rate > 3 * found.rate


@pytest.mark.parametrize(("merge", "workers"), [(20e3, 1), (20e3, 6), (1e6, 12)])
def test_a_ring_merges_one_after_the_other(merge, workers):
    """Many workers divide G and H, until H alone, which is done by turns, takes all the time."""
    operator = replace(OPERATOR, load=replace(LOAD, costs=replace(LOAD.costs, merge=merge)))
    found = PATTERNS["pane_farming"].cost(operator.load, MACHINE, of("pane_farming", workers, merge="ring"))
    pane = LOAD.pane
    assert found.rate == pytest.approx(200e9 / max((pane + merge) / workers, merge), rel=0.01)
    played = play_once(operator, MACHINE, found.pattern)
    assert played.rate == pytest.approx(found.rate, rel=0.1)
