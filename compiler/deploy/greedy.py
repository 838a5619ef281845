"""The heuristics CE and SH: alternates by value for their cost, then cores one by one where the flow is narrowest.

SH looks at each element alone and leaves what it has packed. CE counts what an alternate causes downstream, and packs
again (004 Alg. 1, Tab. 1). Two things differ from 004: CE also tries SH's choice of alternates and keeps what gives
more profit, so that it never falls behind; and it packs again by exchanging the loosest machines for cheaper ones.
"""

from __future__ import annotations

from .model import Dataflow, Deployment, Goals, Machine, worth
from .packing import Packing


def sharded(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals) -> Deployment:
    chosen = _choose(dataflow, _own_costs(dataflow))
    return Packing(dataflow, machines, goals, chosen, foresees=False).fill().deployment()


def centralised(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals) -> Deployment:
    choices = dict.fromkeys(_choose(dataflow, costs(dataflow)) for costs in (downstream_costs, _own_costs))
    return max((Packing(dataflow, machines, goals, chosen).fill().repack().deployment() for chosen in choices),
               key=lambda deployment: worth(dataflow, deployment, goals).profit)


def _own_costs(dataflow: Dataflow) -> list[list[float]]:
    return [[a.cost for a in e.alternates] for e in dataflow.elements]


def downstream_costs(dataflow: Dataflow) -> list[list[float]]:
    """Of each alternate: its own cost, and that of its results in all elements behind it with their best alternates."""
    costs: list[list[float]] = [[] for _ in dataflow.elements]
    least = [0.0] * len(dataflow.elements)
    for i in reversed(range(len(dataflow.elements))):
        behind = sum(least[s] for s in dataflow.successors[i])
        costs[i] = [a.cost + a.selectivity * behind for a in dataflow.elements[i].alternates]
        least[i] = costs[i][_best(dataflow, i, costs[i])]
    return costs


def _choose(dataflow: Dataflow, costs: list[list[float]]) -> tuple[int, ...]:
    return tuple(_best(dataflow, i, costs[i]) for i in range(len(dataflow.elements)))


def _best(dataflow: Dataflow, element: int, costs: list[float]) -> int:
    alternates = dataflow.elements[element].alternates
    return max(range(len(alternates)), key=lambda j: alternates[j].value / costs[j] if costs[j] > 0 else float("inf"))
