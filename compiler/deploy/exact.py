"""The best deployment there is: for each choice of alternates the cheapest machines, by OR-Tools' CP-SAT.

Cores of one class are alike, so the model only counts: machines of each class, and cores of each class for each
element. Classes that others can stand for are left out (`classes.py`). What flows is a variable too: an element works
off at most what comes in and what its cores can do. Bandwidth is not in the model; `model.worth` judges the result
with it, and one that is then too narrow is not taken.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .classes import Classes, classes_of
from .greedy import centralised
from .model import Dataflow, Deployment, Goals, Machine, Placed, worth

UNIT = 10 ** 6  # what flows, as a share of what is asked for, in these parts
FINE = 10 ** 4  # coefficients, relative to the largest of their line
MONEY = 10 ** 4  # parts of a price


class NotInstalled(Exception):
    """OR-Tools is not there."""


@dataclass(frozen=True)
class Proved:
    """The best deployment that was found, its profit, and the profit that no deployment exceeds."""

    best: Deployment
    profit: float
    bound: float

    @property
    def gap(self) -> float:
        """0 when the best is proved; else how far above it the bound is, relative to it."""
        if self.bound <= self.profit + 1e-9:
            return 0.0
        return (self.bound - self.profit) / max(abs(self.profit), 1e-9)


def exact(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, seconds: float = 60.0,
          starts: Iterable[Deployment] = (), told: Callable[[int, int, float], None] = lambda at, of, best: None,
          ) -> Proved:
    """Begins with the best of CE and `starts` as the one to beat; choices that can't beat it are closed by it. When
    its time is up, choices that are still open keep their bound."""
    search = _Search(dataflow, classes_of(machines), goals, time.monotonic() + seconds)
    return search.run([centralised(dataflow, machines, goals), *starts], told)


@dataclass
class _Found:
    deployment: Deployment | None  # cheaper than the limit
    least: float                   # no deployment of this choice costs less, unless it costs more than the limit


class _Search:
    def __init__(self, dataflow: Dataflow, classes: Classes, goals: Goals, deadline: float):
        self.dataflow, self.classes, self.goals, self.deadline = dataflow, classes, goals, deadline
        self.machines, self.hours = classes.kept, math.ceil(goals.hours)
        self.prices = [max(1, round(m.price * MONEY)) for m in self.machines]

    def run(self, starts: list[Deployment], told: Callable[[int, int, float], None]) -> Proved:
        wide = [d for d in starts if self._is_wide(d)] or starts[:1]
        best = max(wide, key=self._profit)
        most, bound = self._profit(best), -math.inf
        choices = sorted(self.dataflow.choices(), key=lambda chosen: -self.dataflow.value(chosen))
        for done, chosen in enumerate(choices):
            told(done, len(choices), most)
            value = self.dataflow.value(chosen)
            found = self._cheapest(chosen, self._break_even(value, most), best)
            bound = max(bound, self.goals.profit(self.dataflow, value, found.least))
            deployment = found.deployment and self.classes.joined(found.deployment)
            if deployment is not None and self._is_wide(deployment) and self._profit(deployment) > most:
                best, most = deployment, self._profit(deployment)
        told(len(choices), len(choices), most)
        return Proved(best, most, max(bound, most))

    def _profit(self, deployment: Deployment) -> float:
        return worth(self.dataflow, deployment, self.goals).profit

    def _is_wide(self, deployment: Deployment) -> bool:
        return worth(self.dataflow, deployment, self.goals).meets(self.goals)

    def _break_even(self, value: float, profit: float) -> float:
        """The cost below which a deployment of this value gives more than `profit`."""
        free = self.goals.profit(self.dataflow, value, 0.0)
        slope = free - self.goals.profit(self.dataflow, value, 1.0)
        return (free - profit) / slope

    def _cheapest(self, chosen: tuple[int, ...], limit: float, best: Deployment) -> _Found:
        """The cheapest deployment that costs at most `limit`."""
        try:
            from ortools.sat.python import cp_model
        except ImportError as missing:
            raise NotInstalled from missing
        room, seconds = int(limit / self.hours * MONEY + 1e-6), self.deadline - time.monotonic()
        if room <= 0:
            return _Found(None, limit)
        if seconds <= 0:
            return _Found(None, 0.0)
        model = cp_model.CpModel()
        cores, price = self._counted(model, room)
        _add_flow(model, self.dataflow, self.machines, self.goals, chosen, cores)
        if best.chosen == chosen:
            self._hint(model, best, cores)
        model.minimize(price)
        solver = cp_model.CpSolver()
        solver.parameters.max_time_in_seconds = seconds
        solver.parameters.num_workers = 1  # the same answer every time
        solver.parameters.random_seed = 1
        state = solver.solve(model)
        if state == cp_model.INFEASIBLE:
            return _Found(None, limit)
        least = min(limit, solver.best_objective_bound * self.hours / MONEY)
        if state not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return _Found(None, least)
        return _Found(self._place(chosen, [[solver.value(x) for x in row] for row in cores]), least)

    def _counted(self, model, room: int) -> tuple[list[list], object]:
        """Cores of each class for each element, and the price of the machines that have them."""
        most = [room // price for price in self.prices]
        started = [model.new_int_var(0, count, f"machines of {m.name}")
                   for m, count in zip(self.machines, most, strict=True)]
        cores = [[model.new_int_var(0, m.cores * count, f"cores of {m.name} for {e.name}")
                  for m, count in zip(self.machines, most, strict=True)] for e in self.dataflow.elements]
        for i in self.dataflow.working:
            model.add(sum(cores[i]) >= 1)
        for c, machine in enumerate(self.machines):
            model.add(sum(row[c] for row in cores) <= machine.cores * started[c])
        price = sum(price * count for price, count in zip(self.prices, started, strict=True))
        model.add(price <= room)
        return cores, price

    def _hint(self, model, best: Deployment, cores: list[list]) -> None:
        for c, machine in enumerate(self.machines):
            used = [e for place in self.classes.split(best).placed if place.machine == machine for e in place.cores]
            for i, row in enumerate(cores):
                model.add_hint(row[c], used.count(i))

    def _place(self, chosen: tuple[int, ...], counted: list[list[int]]) -> Deployment:
        """Cores to machines, neighbours in the dataflow together."""
        placed: list[Placed] = []
        for c, machine in enumerate(self.machines):
            wanted = [i for i in range(len(self.dataflow.elements)) for _ in range(counted[i][c])]
            placed += [Placed(machine, tuple(wanted[start:start + machine.cores]))
                       for start in range(0, len(wanted), machine.cores)]
        return Deployment(chosen, tuple(placed))


def _add_flow(model, dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, chosen: tuple[int, ...],
              cores: list[list]) -> None:
    """u[i]: the share of the messages that element i gets when nothing is short, which it works off. Roundings widen
    the flow, by less than one in FINE, so that what is proved holds without them."""
    into, _ = dataflow.demand(chosen)
    alternates = [e.alternates[c] for e, c in zip(dataflow.elements, chosen, strict=True)]
    u = [model.new_int_var(0, UNIT, f"flow through {e.name}") for e in dataflow.elements]
    slowest = min(m.speed for m in machines)
    for i, alternate in enumerate(alternates):
        arriving = [(dataflow.rates[i], None)] + [(alternates[p].selectivity * into[p], u[p])
                                                  for p in dataflow.predecessors[i]]
        scale = FINE / max(into[i], 1e-9)
        model.add(FINE * u[i] <= sum(math.ceil(rate * scale) * (UNIT if flow is None else flow)
                                     for rate, flow in arriving))
        if alternate.cost > 0 and into[i] > 0:
            needed = into[i] * alternate.cost / slowest
            model.add(math.floor(needed * FINE) * u[i]
                      <= sum(math.ceil(m.speed / slowest * FINE) * UNIT * x
                             for m, x in zip(machines, cores[i], strict=True)))
    outputs = dataflow.outputs
    model.add(sum(u[i] for i in outputs) >= math.ceil(goals.throughput * UNIT * len(outputs)))
