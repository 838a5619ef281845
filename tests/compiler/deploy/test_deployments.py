"""Deployments on a cloud: what they are worth, that every algorithm keeps the goal, and which is better than which."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import pytest
from dfc.compiler.deploy.classes import classes_of
from dfc.compiler.deploy.exact import Proved, exact
from dfc.compiler.deploy.genetic import Breeding, genetic
from dfc.compiler.deploy.greedy import centralised, downstream_costs, sharded
from dfc.compiler.deploy.model import Alternate, Dataflow, Deployment, Element, Goals, Machine, Placed, worth
from dfc.compiler.deploy.samples import MACHINES, diamond, linear_road, usual_goals
from dfc.compiler.deploy.search import Problem, Search
from dfc.compiler.deploy.text import as_data, from_data, table

SMALL, LARGE = Machine("small", 1, 1.0, 0.06), Machine("large", 4, 2.0, 0.40)
CASES = [pytest.param(flow, rate, id=f"{flow.__name__}-{rate}", marks=() if rate == 10 else pytest.mark.slow)
         for flow in (linear_road, diamond) for rate in (2, 5, 10, 20, 50)]


def chain(*costs: float, rate: float = 10.0, selectivity: float = 1.0) -> Dataflow:
    elements = tuple(Element(f"e{i}", (Alternate("only", 1.0, cost, selectivity),)) for i, cost in enumerate(costs))
    edges = tuple((i, i + 1) for i in range(len(costs) - 1))
    return Dataflow(elements, edges, (rate, *[0.0] * (len(costs) - 1)))


def test_throughput_is_what_comes_out_over_what_could():
    flow = chain(0.1, 0.1)
    assert flow.throughput((0, 0), [1.0, 1.0])[0] == pytest.approx(1.0)
    assert flow.throughput((0, 0), [0.8, 0.5])[0] == pytest.approx(0.5)
    assert flow.throughput((0, 0), [0.4, 0.5])[1] == pytest.approx([0.4, 1.0])


def test_bandwidth_narrows_the_flow_between_machines_only():
    flow = Dataflow(chain(0.01, 0.01).elements, ((0, 1),), (10.0, 0.0), message_bytes=1000.0)
    slow = Machine("slow", 2, 1.0, 0.1, bandwidth=5000.0)
    together = Deployment((0, 0), (Placed(slow, (0, 1)),))
    apart = Deployment((0, 0), (Placed(slow, (0,)), Placed(slow, (1,))))
    goals = Goals(1.0, best_cost=1.0, worst_cost=0.5)
    assert worth(flow, together, goals).throughput == pytest.approx(1.0)
    assert worth(flow, apart, goals).throughput == pytest.approx(0.5)


def test_a_started_hour_is_paid_in_full():
    deployment = Deployment((0,), (Placed(LARGE, (0,)), Placed(SMALL, (0,))))
    assert deployment.cost(1.2) == pytest.approx(2 * 0.46)


def test_profit_is_zero_on_the_line_of_break_even_costs():
    flow, goals = diamond(10), Goals(1.0, best_cost=10.0, worst_cost=4.0)
    least, most = flow.value_range
    assert goals.profit(flow, most, 10.0) == pytest.approx(0.0)
    assert goals.profit(flow, least, 4.0) == pytest.approx(0.0)
    assert goals.profit(flow, most, 4.0) == pytest.approx(most - least)


def test_what_an_alternate_costs_includes_what_it_causes():
    costs = downstream_costs(chain(1.0, 2.0, 4.0, selectivity=0.5))
    assert [row[0] for row in costs] == pytest.approx([1.0 + 0.5 * (2.0 + 0.5 * 4.0), 2.0 + 0.5 * 4.0, 4.0])


@pytest.mark.parametrize(("flow", "rate"), CASES)
def test_exact_genetic_centralised_sharded_in_this_order(flow, rate):
    pytest.importorskip("ortools")
    dataflow, goals = flow(rate), usual_goals(rate)
    search = Search(Problem(dataflow, MACHINES, goals), range(1, 5), 60.0)
    search.run(("sh", "ce", "ga", "exact"))
    worths = [worth(dataflow, search.found[name].deployment, goals) for name in ("sh", "ce", "ga", "exact")]
    assert all(w.meets(goals) for w in worths), worths
    profits = [w.profit for w in worths]
    assert all(a <= b + 1e-9 for a, b in zip(profits, profits[1:], strict=False)), profits
    assert search.found["exact"].gap == 0.0 and search.found["exact"].complete
    assert profits[3] - profits[2] <= 0.05 * abs(profits[3])


def brute_force(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, most: int) -> float:
    """The best profit of all deployments of up to `most` machines, every core in use."""
    best = -math.inf
    for count in range(1, most + 1):
        for chosen_machines in combinations_with_replacement(machines, count):
            cores = [m for m in chosen_machines for _ in range(m.cores)]
            for owners in product(range(len(dataflow.elements)), repeat=len(cores)):
                placed = tuple(Placed(m, (e,)) for m, e in zip(cores, owners, strict=True))
                power = Deployment((0,) * len(dataflow.elements), placed).power(len(dataflow.elements))
                for chosen in dataflow.choices():
                    if min(power) > 0 and dataflow.throughput(chosen, power)[0] >= goals.throughput - 1e-9:
                        cost = sum(m.price for m in chosen_machines) * math.ceil(goals.hours)
                        best = max(best, goals.profit(dataflow, dataflow.value(chosen), cost))
    return best


def test_exact_finds_what_trying_everything_finds():
    pytest.importorskip("ortools")
    two = Element("two", (Alternate("good", 1.0, 0.5, 1.0), Alternate("quick", 0.6, 0.2, 1.0)))
    dataflow = Dataflow((two, Element("one", (Alternate("only", 1.0, 0.3, 1.0),))), ((0, 1),), (4.0, 0.0))
    machines, goals = (SMALL, Machine("pair", 2, 1.5, 0.15)), Goals(1.0, best_cost=0.6, worst_cost=0.3)
    assert worth(dataflow, exact(dataflow, machines, goals).best, goals).profit == pytest.approx(
        brute_force(dataflow, machines, goals, 4))


def test_the_same_seed_gives_the_same_deployment():
    dataflow, goals, how = linear_road(10), usual_goals(10), Breeding(generations=40)
    assert genetic(dataflow, MACHINES, goals, 7, how) == genetic(dataflow, MACHINES, goals, 7, how)


def test_exact_without_time_keeps_what_it_was_given_and_says_how_far_it_may_be_off():
    pytest.importorskip("ortools")
    dataflow, goals = linear_road(20), usual_goals(20)
    given = genetic(dataflow, MACHINES, goals, 3, Breeding(generations=20))
    answer = exact(dataflow, MACHINES, goals, seconds=0.0, starts=[given])
    assert answer.profit == worth(dataflow, answer.best, goals).profit >= worth(dataflow, given, goals).profit
    assert answer.bound > answer.profit and answer.gap > 0
    best = exact(dataflow, MACHINES, goals)
    assert best.gap == 0 and answer.profit <= best.profit <= answer.bound


def test_a_gap_is_relative_to_the_profit():
    nothing = Deployment((), ())
    assert Proved(nothing, 0.5, 0.5).gap == 0.0
    assert Proved(nothing, -0.5, -0.4).gap == pytest.approx(0.2)


# --- classes that others stand for ---------------------------------------------------------------------


def test_classes_that_cost_no_less_than_others_together_are_left_out():
    classes = classes_of(MACHINES)
    assert [m.name for m in classes.kept] == ["m1.small", "m3.xlarge"]
    by = {stand.machine.name: (stand.by.name, stand.each, stand.count) for stand in classes.stands}
    assert by == {"m1.medium": ("m1.small", 2, 2), "m1.large": ("m1.small", 2, 4), "m1.xlarge": ("m1.small", 2, 8),
                  "m3.2xlarge": ("m3.xlarge", 1, 2)}
    twice = (SMALL, Machine("again", 1, 1.0, 0.06))
    assert len(classes_of(twice).kept) == 1
    assert classes_of((SMALL, LARGE)).kept == (SMALL, LARGE)


def test_splitting_and_joining_keep_power_and_price():
    classes, flow = classes_of(MACHINES), linear_road(50)
    for found in (centralised(flow, MACHINES, usual_goals(50)), sharded(flow, MACHINES, usual_goals(50))):
        split = classes.split(found)
        joined = classes.joined(split)
        assert {p.machine for p in split.placed} <= set(classes.kept)
        assert split.power(8) == pytest.approx(found.power(8))
        assert joined.power(8) == pytest.approx(found.power(8))
        assert joined.cost(1) == pytest.approx(split.cost(1)) and split.cost(1) <= found.cost(1) + 1e-9
        assert len(joined.placed) <= len(split.placed)
        assert all(len(p.cores) <= p.machine.cores for p in (*split.placed, *joined.placed))


# --- searches that are interrupted ----------------------------------------------------------------------


class Stop(Exception):
    pass


def test_an_interrupted_search_goes_on_and_finds_the_same():
    problem, seeds = Problem(diamond(10), MACHINES, usual_goals(10)), range(1, 4)
    whole = Search(problem, seeds, 1.0)
    whole.run(("ce", "ga"))
    said = []

    def told(words: str) -> None:
        said.append(words)
        if "population 2" in words and "generation 3 " in words:
            raise Stop

    cut = Search(problem, seeds, 1.0, told=told)
    with pytest.raises(Stop):
        cut.run(("ce", "ga"))
    assert cut.found["ga"].seeds == (1,) and not cut.found["ga"].complete and "best profit -0." in said[-1]
    assert "(interrupted)" in table(problem, list(cut.found.values()))

    again, ran = Search(problem, seeds, 1.0), []
    again.found.update({one.algorithm: one for one in from_data(problem, as_data(problem, list(cut.found.values())))})
    again.told = ran.append
    again.run(("ce", "ga"))
    assert again.found["ga"].deployment == whole.found["ga"].deployment
    assert again.found["ga"].seeds == (1, 2, 3) and not any("population 3" in words for words in ran)


def test_data_of_another_problem_is_none_to_go_on_from():
    problem = Problem(diamond(20), MACHINES, usual_goals(20))
    search = Search(problem, (1,), 1.0)
    search.run(("sh",))
    data = as_data(problem, list(search.found.values()))
    assert from_data(problem, data)[0].deployment == search.found["sh"].deployment
    with pytest.raises(ValueError, match="another problem"):
        from_data(Problem(diamond(21), MACHINES, usual_goals(20)), data)


def test_the_order_in_which_populations_end_does_not_matter():
    problem, seeds = Problem(linear_road(5), MACHINES, usual_goals(5)), (1, 2, 3)
    how = Breeding(generations=5)
    found = {seed: genetic(problem.dataflow, problem.machines, problem.goals, seed, how) for seed in seeds}
    answers = []
    for order in ((1, 2, 3), (3, 1, 2), (2, 3, 1)):
        search = Search(problem, seeds, 1.0, populations=lambda _, left, order=order: ((s, found[s]) for s in order))
        search.run(("ga",))
        answers.append((search.found["ga"].deployment, search.found["ga"].seed))
    assert answers[0] == answers[1] == answers[2]


def test_the_heuristics_stand_8000_messages_a_second():
    dataflow, goals = linear_road(8000), usual_goals(8000)
    for algorithm in (sharded, centralised):
        assert worth(dataflow, algorithm(dataflow, MACHINES, goals), goals).throughput >= goals.throughput - 1e-9
