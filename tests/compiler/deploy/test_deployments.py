"""Deployments on a cloud: what they are worth, that every algorithm keeps the goal, and which is better than which."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import pytest
from dfc.compiler.deploy.exact import exact
from dfc.compiler.deploy.genetic import Breeding, genetic, restarted
from dfc.compiler.deploy.greedy import centralised, downstream_costs, sharded
from dfc.compiler.deploy.model import Alternate, Dataflow, Deployment, Element, Goals, Machine, Placed, worth
from dfc.compiler.deploy.samples import MACHINES, diamond, linear_road, usual_goals

SMALL, LARGE = Machine("small", 1, 1.0, 0.06), Machine("large", 4, 2.0, 0.40)
CASES = [(flow, rate) for flow in (linear_road, diamond) for rate in (10,)]


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


@pytest.mark.parametrize(("flow", "rate"), CASES, ids=[f"{flow.__name__}-{rate}" for flow, rate in CASES])
def test_exact_genetic_centralised_sharded_in_this_order(flow, rate):
    pytest.importorskip("ortools")
    dataflow, goals = flow(rate), usual_goals(rate)
    found = [sharded(dataflow, MACHINES, goals), centralised(dataflow, MACHINES, goals),
             restarted(dataflow, MACHINES, goals, seeds=(1, 2), how=Breeding(generations=120)),
             exact(dataflow, MACHINES, goals)]
    worths = [worth(dataflow, deployment, goals) for deployment in found]
    assert all(w.meets(goals) for w in worths), worths
    profits = [w.profit for w in worths]
    assert all(a <= b + 1e-9 for a, b in zip(profits, profits[1:], strict=False)), profits


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
    assert worth(dataflow, exact(dataflow, machines, goals), goals).profit == pytest.approx(
        brute_force(dataflow, machines, goals, 4))


def test_the_same_seed_gives_the_same_deployment():
    dataflow, goals, how = linear_road(10), usual_goals(10), Breeding(generations=40)
    assert genetic(dataflow, MACHINES, goals, 7, how) == genetic(dataflow, MACHINES, goals, 7, how)


def test_the_heuristics_stand_8000_messages_a_second():
    dataflow, goals = linear_road(8000), usual_goals(8000)
    for algorithm in (sharded, centralised):
        assert worth(dataflow, algorithm(dataflow, MACHINES, goals), goals).throughput >= goals.throughput - 1e-9
