"""The best deployment there is: for each choice of alternates the cheapest machines, by OR-Tools' CP-SAT.

Cores of one class are alike, so the model only counts: machines of each class, and cores of each class for each
element. What flows is a variable too: an element works off at most what comes in and what its cores can do. Bandwidth
is not in the model; `model.worth` judges the result with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from .greedy import centralised
from .model import Dataflow, Deployment, Goals, Machine, Placed, worth

UNIT = 10 ** 6  # what flows, as a share of what is asked for, in these parts
FINE = 10 ** 4  # coefficients, relative to the largest of their line


class NotInstalled(Exception):
    """OR-Tools is not there."""


class Unfinished(Exception):
    """The time was up before every choice of alternates was decided."""

    def __init__(self, best: Deployment):
        super().__init__("the exact search ran out of time")
        self.best = best


def exact(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, seconds: float = 60.0,
          told: Callable[[int, int], None] = lambda done, of: None) -> Deployment:
    """Begins with CE's deployment as the one to beat; choices that can't beat it are closed by their bound."""
    best = centralised(dataflow, machines, goals)
    most, deadline, complete = worth(dataflow, best, goals).profit, time.monotonic() + seconds, True
    choices = sorted(dataflow.choices(), key=lambda chosen: -dataflow.value(chosen))
    for done, chosen in enumerate(choices):
        told(done, len(choices))
        limit = _break_even(dataflow, goals, dataflow.value(chosen), most)
        found, closed = _cheapest(dataflow, machines, goals, chosen, limit, deadline - time.monotonic())
        complete = complete and closed
        if found is not None and worth(dataflow, found, goals).profit > most:
            best, most = found, worth(dataflow, found, goals).profit
    told(len(choices), len(choices))
    if not complete:
        raise Unfinished(best)
    return best


def _break_even(dataflow: Dataflow, goals: Goals, value: float, profit: float) -> float:
    """The cost below which a deployment of this value gives more than `profit`."""
    free = goals.profit(dataflow, value, 0.0)
    slope = free - goals.profit(dataflow, value, 1.0)
    return (free - profit) / slope


def _cheapest(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, chosen: tuple[int, ...], limit: float,
              seconds: float) -> tuple[Deployment | None, bool]:
    """The cheapest deployment below `limit`, if there is one, and whether that is certain."""
    try:
        from ortools.sat.python import cp_model
    except ImportError as missing:
        raise NotInstalled from missing
    hours, cents = math.ceil(goals.hours), [round(m.price * 10_000) for m in machines]
    room = int(limit / hours * 10_000)
    if room <= 0:
        return None, True
    if seconds <= 0:
        return None, False
    model = cp_model.CpModel()
    started = [model.new_int_var(0, room // max(1, price), f"machines of {m.name}")
               for m, price in zip(machines, cents, strict=True)]
    cores = [[model.new_int_var(0, m.cores * (room // max(1, price)), f"cores of {m.name} for {e.name}")
              for m, price in zip(machines, cents, strict=True)] for e in dataflow.elements]
    for i in dataflow.working:
        model.add(sum(cores[i]) >= 1)
    for c, machine in enumerate(machines):
        model.add(sum(row[c] for row in cores) <= machine.cores * started[c])
    model.add(sum(price * count for price, count in zip(cents, started, strict=True)) <= room)
    _add_flow(model, dataflow, machines, goals, chosen, cores)
    model.minimize(sum(price * count for price, count in zip(cents, started, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1  # the same answer every time
    solver.parameters.random_seed = 1
    state = solver.solve(model)
    certain = state in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    if state not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None, certain
    counted = [[solver.value(x) for x in row] for row in cores]
    return _place(dataflow, machines, chosen, counted), certain


def _add_flow(model, dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, chosen: tuple[int, ...],
              cores: list[list]) -> None:
    """u[i]: the share of the messages that element i gets when nothing is short, which it works off."""
    into, _ = dataflow.demand(chosen)
    alternates = [e.alternates[c] for e, c in zip(dataflow.elements, chosen, strict=True)]
    u = [model.new_int_var(0, UNIT, f"flow through {e.name}") for e in dataflow.elements]
    for i, alternate in enumerate(alternates):
        arriving = [(dataflow.rates[i], None)] + [(alternates[p].selectivity * into[p], u[p])
                                                  for p in dataflow.predecessors[i]]
        scale = FINE / max(into[i], 1e-9)
        model.add(FINE * u[i] <= sum(math.ceil(rate * scale) * (UNIT if flow is None else flow)
                                     for rate, flow in arriving))
        if alternate.cost > 0 and into[i] > 0:
            needed = into[i] * alternate.cost / min(m.speed for m in machines)
            speeds = [m.speed / min(m.speed for m in machines) for m in machines]
            model.add(math.floor(needed * FINE) * u[i]
                      <= sum(math.floor(speed * FINE) * UNIT * x for speed, x in zip(speeds, cores[i], strict=True)))
    outputs = dataflow.outputs
    model.add(sum(u[i] for i in outputs) >= math.ceil(goals.throughput * UNIT * len(outputs)))


def _place(dataflow: Dataflow, machines: tuple[Machine, ...], chosen: tuple[int, ...],
           counted: list[list[int]]) -> Deployment:
    """Cores to machines, neighbours in the dataflow together."""
    placed: list[Placed] = []
    for c, machine in enumerate(machines):
        wanted = [i for i in range(len(dataflow.elements)) for _ in range(counted[i][c])]
        placed += [Placed(machine, tuple(wanted[start:start + machine.cores]))
                   for start in range(0, len(wanted), machine.cores)]
    return Deployment(chosen, tuple(placed))
