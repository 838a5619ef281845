"""What is deployed and what a deployment is worth: dataflow, machines, relative throughput, value, cost, profit.

The definitions are those of 004: value Γ (eq. 3), relative throughput Ω (eq. 4–7), cost μ by started hours (eq. 2),
profit Θ = Γ − (σ·(μ − C_max) + 1), zero on the line between the two break-even costs (eq. 8 and 9).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product


class _once:
    """A property that is worked out once. The standard library's has a lock inside, which can't travel to executors."""

    def __init__(self, function: Callable[[Dataflow], object]):
        self.function = function

    def __get__(self, instance: Dataflow, owner: type | None = None) -> object:
        value = instance.__dict__[self.function.__name__] = self.function(instance)
        return value


@dataclass(frozen=True)
class Alternate:
    name: str
    value: float        # relative to the best alternate of its element, 0…1
    cost: float         # seconds a message takes on a core of speed 1
    selectivity: float  # messages out for one in


@dataclass(frozen=True)
class Element:
    name: str
    alternates: tuple[Alternate, ...]


@dataclass(frozen=True)
class Dataflow:
    """Elements in an order in which edges go forward; `rates` are the messages a second from outside."""

    elements: tuple[Element, ...]
    edges: tuple[tuple[int, int], ...]
    rates: tuple[float, ...]
    message_bytes: float = 100.0

    @_once
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(a for a, b in self.edges if b == i) for i in range(len(self.elements)))

    @_once
    def successors(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(b for a, b in self.edges if a == i) for i in range(len(self.elements)))

    @_once
    def outputs(self) -> tuple[int, ...]:
        return tuple(i for i, after in enumerate(self.successors) if not after)

    @_once
    def working(self) -> tuple[int, ...]:
        """Elements that need cores: those that cost nothing run where their input comes from."""
        return tuple(i for i, e in enumerate(self.elements) if any(a.cost > 0 for a in e.alternates))

    def value(self, chosen: tuple[int, ...]) -> float:
        values = [self.elements[i].alternates[chosen[i]].value for i in self.working]
        return sum(values) / len(values)

    @_once
    def value_range(self) -> tuple[float, float]:
        """With the worst and with the best alternate everywhere."""
        values = [[a.value for a in self.elements[i].alternates] for i in self.working]
        return sum(map(min, values)) / len(values), sum(map(max, values)) / len(values)

    def choices(self) -> product:
        return product(*(range(len(e.alternates)) for e in self.elements))

    def demand(self, chosen: tuple[int, ...]) -> tuple[list[float], list[float]]:
        """Messages a second into each element, and out of it, when nothing is short."""
        into, out = list(self.rates), [0.0] * len(self.elements)
        for i, element in enumerate(self.elements):
            into[i] += sum(out[p] for p in self.predecessors[i])
            out[i] = into[i] * element.alternates[chosen[i]].selectivity
        return into, out

    def throughput(self, chosen: tuple[int, ...], power: list[float],
                   bandwidth: dict[tuple[int, int], float] | None = None) -> tuple[float, list[float]]:
        """Ω, and the share of its input that each element can work off, with so much core speed for each.

        Nothing is reached while an element has no core at all, however little it would contribute."""
        asked = self.demand(chosen)[1]
        into, out, shares = list(self.rates), [0.0] * len(self.elements), [1.0] * len(self.elements)
        for i, element in enumerate(self.elements):
            alternate = element.alternates[chosen[i]]
            into[i] += sum(self._flow(out[p], bandwidth, p, i) for p in self.predecessors[i])
            done = min(into[i], power[i] / alternate.cost) if alternate.cost > 0 else into[i]
            shares[i] = done / into[i] if into[i] > 0 else 1.0
            out[i] = done * alternate.selectivity
        reached = [out[i] / asked[i] if asked[i] > 0 else 1.0 for i in self.outputs]
        complete = all(power[i] > 0 for i in self.working)
        return sum(reached) / len(reached) if complete else 0.0, shares

    def flow(self, chosen: tuple[int, ...]) -> Flow:
        """Made once for each choice; a search asks it many thousand times."""
        if chosen not in self._flows:
            self._flows[chosen] = Flow(self, chosen)
        return self._flows[chosen]

    @_once
    def _flows(self) -> dict[tuple[int, ...], Flow]:
        return {}

    def _flow(self, out: float, bandwidth: dict[tuple[int, int], float] | None, source: int, target: int) -> float:
        if bandwidth is None:
            return out
        return min(out, bandwidth.get((source, target), math.inf) / self.message_bytes)


class Flow:
    """Relative throughput for one choice of alternates, without bandwidth: `Dataflow.throughput` with all that does not
    depend on the power worked out before."""

    def __init__(self, dataflow: Dataflow, chosen: tuple[int, ...]):
        alternates = [e.alternates[c] for e, c in zip(dataflow.elements, chosen, strict=True)]
        self.steps = tuple((i, dataflow.rates[i], 1.0 / a.cost if a.cost > 0 else math.inf, a.selectivity,
                            dataflow.predecessors[i]) for i, a in enumerate(alternates))
        asked = dataflow.demand(chosen)[1]
        self.ends = tuple((i, asked[i]) for i in dataflow.outputs if asked[i] > 0)
        self.idle = len(dataflow.outputs) - len(self.ends)  # outputs that nothing is asked of
        self.working = dataflow.working

    def throughput(self, power: list[float]) -> float:
        if min([power[i] for i in self.working]) <= 0:
            return 0.0
        out = [0.0] * len(self.steps)
        for i, rate, speed, selectivity, before in self.steps:
            for p in before:
                rate += out[p]
            out[i] = min(rate, power[i] * speed) * selectivity if speed != math.inf else rate * selectivity
        reached = self.idle + sum([out[i] / asked for i, asked in self.ends])
        return reached / (len(self.ends) + self.idle)


@dataclass(frozen=True)
class Machine:
    """A class of virtual machines."""

    name: str
    cores: int
    speed: float             # of one core
    price: float             # for a started hour
    bandwidth: float = 1e6   # bytes a second to any other machine

    @property
    def power(self) -> float:
        return self.cores * self.speed


@dataclass(frozen=True)
class Goals:
    """What is wanted of a deployment, and for how long."""

    hours: float
    throughput: float = 0.8
    tolerance: float = 0.05
    best_cost: float = math.nan   # at which the best alternates break even
    worst_cost: float = math.nan  # at which the worst ones do

    def profit(self, dataflow: Dataflow, value: float, cost: float) -> float:
        least, most = dataflow.value_range
        span = self.best_cost - self.worst_cost
        slope = (most - least) / span if most > least and span > 0 else most / self.best_cost
        return value - (slope * (cost - self.best_cost) + most)


@dataclass(frozen=True)
class Placed:
    """One machine that runs: the element on each core in use."""

    machine: Machine
    cores: tuple[int, ...]


@dataclass(frozen=True)
class Deployment:
    chosen: tuple[int, ...]  # by element: its active alternate
    placed: tuple[Placed, ...]

    def cost(self, hours: float) -> float:
        return sum(p.machine.price for p in self.placed) * math.ceil(hours)

    def power(self, count: int) -> list[float]:
        power = [0.0] * count
        for place in self.placed:
            for element in place.cores:
                power[element] += place.machine.speed
        return power

    def bandwidth(self, dataflow: Dataflow) -> dict[tuple[int, int], float]:
        """Bytes a second from element to element: all pairs of machines together, enlarged by what stays inside."""
        shares = self._shares(len(dataflow.elements))
        return {edge: _between(shares[edge[0]], shares[edge[1]], self.placed) for edge in dataflow.edges
                if set(edge) <= set(dataflow.working)}

    def _shares(self, count: int) -> list[dict[int, float]]:
        """By element: which part of its work each machine does."""
        power, total = [dict[int, float]() for _ in range(count)], self.power(count)
        for v, place in enumerate(self.placed):
            for element in place.cores:
                power[element][v] = power[element].get(v, 0.0) + place.machine.speed / total[element]
        return power


def _between(source: dict[int, float], target: dict[int, float], placed: tuple[Placed, ...]) -> float:
    inside = sum(share * target.get(v, 0.0) for v, share in source.items())
    if inside >= 1.0 - 1e-12:
        return math.inf
    slowest = min(placed[v].machine.bandwidth for v in (*source, *target)) if source and target else 0.0
    pairs = len(source) * len(target) - len(source.keys() & target.keys())
    return slowest * pairs / (1.0 - inside)


@dataclass(frozen=True)
class Worth:
    throughput: float
    value: float
    cost: float
    profit: float
    cores: int

    def meets(self, goals: Goals) -> bool:
        return self.throughput >= goals.throughput - goals.tolerance


def worth(dataflow: Dataflow, deployment: Deployment, goals: Goals) -> Worth:
    """What a deployment gives: the one judge of all algorithms."""
    power = deployment.power(len(dataflow.elements))
    throughput, _ = dataflow.throughput(deployment.chosen, power, deployment.bandwidth(dataflow))
    value, cost = dataflow.value(deployment.chosen), deployment.cost(goals.hours)
    cores = sum(len(p.cores) for p in deployment.placed)
    return Worth(throughput, value, cost, goals.profit(dataflow, value, cost), cores)
