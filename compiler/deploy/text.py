"""Deployments as a table for people, as data for programs, and back from data to go on with."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from .model import Dataflow, Deployment, Placed, worth
from .search import Found, Problem

SCHEMA = 2


def table(problem: Problem, found: Sequence[Found]) -> str:
    dataflow, goals = problem.dataflow, problem.goals
    lines = [f"relative throughput at least {goals.throughput:g} for {goals.hours:g} h; break-even at "
             f"{goals.best_cost:.2f} with the best alternates, {goals.worst_cost:.2f} with the worst", "",
             f"{'':<8}{'profit':>8}{'throughput':>12}{'value':>8}{'cost':>10}{'cores':>7}{'seconds':>9}  machines"]
    for one in found:
        w = worth(dataflow, one.deployment, goals)
        lines.append(f"{one.algorithm:<8}{w.profit:>8.3f}{w.throughput:>12.3f}{w.value:>8.3f}{w.cost:>10.2f}"
                     f"{w.cores:>7}{one.seconds:>9.2f}  {_machines(one.deployment)}{how_sure(one)}")
    best = max(found, key=lambda one: problem.profit(one.deployment))
    lines += ["", f"{best.algorithm} gives most. Its alternates and cores:"]
    power = best.deployment.power(len(dataflow.elements))
    for i in dataflow.working:
        element = dataflow.elements[i]
        active = element.alternates[best.deployment.chosen[i]]
        lines.append(f"  {element.name:<24}{active.name:<20}{power[i]:>8.2f} reference cores")
    return "\n".join(lines) + "\n"


def how_sure(found: Found) -> str:
    if found.gap is not None:
        return " (proved)" if found.complete else f" (within {100 * found.gap:.1f} %: the time was up)"
    return "" if found.complete else " (interrupted)"


def _machines(deployment: Deployment) -> str:
    counts = Counter(place.machine.name for place in deployment.placed)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


# --- as data ------------------------------------------------------------------------------------------


def as_data(problem: Problem, found: Sequence[Found]) -> dict[str, object]:
    goals = problem.goals
    return {"schema": SCHEMA, "problem": fingerprint(problem), "hours": goals.hours, "throughput": goals.throughput,
            "break_even": {"best": goals.best_cost, "worst": goals.worst_cost},
            "deployments": [_as_data(problem, one) for one in found]}


def fingerprint(problem: Problem) -> str:
    """Equal for equal elements, rates, machines and goals."""
    return hashlib.sha256(repr(problem).encode()).hexdigest()[:16]


def _as_data(problem: Problem, found: Found) -> dict[str, object]:
    elements, w = problem.dataflow.elements, worth(problem.dataflow, found.deployment, problem.goals)
    search = {"gap": found.gap} if found.gap is not None else \
        {"seeds": list(found.seeds), "seed": found.seed} if found.algorithm == "ga" else {}
    return {"algorithm": found.algorithm, "complete": found.complete, **search, "seconds": round(found.seconds, 3),
            "profit": w.profit, "throughput": w.throughput, "value": w.value, "cost": w.cost,
            "alternates": {e.name: e.alternates[c].name
                           for e, c in zip(elements, found.deployment.chosen, strict=True) if len(e.alternates) > 1},
            "machines": [{"vm": p.machine.name, "cores": [elements[i].name for i in p.cores]}
                         for p in found.deployment.placed]}


def from_data(problem: Problem, data: dict) -> list[Found]:
    """Raises KeyError, TypeError, ValueError or IndexError when the data is none that `as_data` has made of the
    problem."""
    if data["schema"] != SCHEMA or data["problem"] != fingerprint(problem):
        raise ValueError("of another problem")
    return [Found(one["algorithm"], _deployment(problem.dataflow, problem, one), float(one["seconds"]),
                  bool(one["complete"]), one.get("gap"), tuple(map(int, one.get("seeds", ()))), int(one.get("seed", 0)))
            for one in data["deployments"]]


def _deployment(dataflow: Dataflow, problem: Problem, data: dict) -> Deployment:
    names = {element.name: i for i, element in enumerate(dataflow.elements)}
    machines = {machine.name: machine for machine in problem.machines}
    chosen = tuple([a.name for a in e.alternates].index(data["alternates"][e.name]) if len(e.alternates) > 1 else 0
                   for e in dataflow.elements)
    return Deployment(chosen, tuple(Placed(machines[one["vm"]], tuple(names[name] for name in one["cores"]))
                                    for one in data["machines"]))
