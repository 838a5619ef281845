"""Deployments as a table for people and as data for programs."""

from __future__ import annotations

from collections import Counter

from .model import Dataflow, Deployment, Goals, worth

SCHEMA = 1
Found = list[tuple[str, Deployment, float, bool]]  # algorithm, what it found, seconds, whether it was cut short


def table(dataflow: Dataflow, goals: Goals, found: Found) -> str:
    lines = [f"relative throughput at least {goals.throughput:g} for {goals.hours:g} h; break-even at "
             f"{goals.best_cost:.2f} with the best alternates, {goals.worst_cost:.2f} with the worst", "",
             f"{'':<8}{'profit':>8}{'throughput':>12}{'value':>8}{'cost':>10}{'cores':>7}{'seconds':>9}  machines"]
    for name, deployment, seconds, cut in found:
        w = worth(dataflow, deployment, goals)
        lines.append(f"{name:<8}{w.profit:>8.3f}{w.throughput:>12.3f}{w.value:>8.3f}{w.cost:>10.2f}{w.cores:>7}"
                     f"{seconds:>9.2f}  {_machines(deployment)}{' (time was up)' if cut else ''}")
    best = max(found, key=lambda row: worth(dataflow, row[1], goals).profit)
    lines += ["", f"{best[0]} gives most. Its alternates and cores:"]
    power = best[1].power(len(dataflow.elements))
    for i in dataflow.working:
        element = dataflow.elements[i]
        active = element.alternates[best[1].chosen[i]]
        lines.append(f"  {element.name:<24}{active.name:<20}{power[i]:>8.2f} reference cores")
    return "\n".join(lines) + "\n"


def _machines(deployment: Deployment) -> str:
    counts = Counter(place.machine.name for place in deployment.placed)
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def as_data(dataflow: Dataflow, goals: Goals, found: Found) -> dict[str, object]:
    return {"schema": SCHEMA, "hours": goals.hours, "throughput": goals.throughput,
            "break_even": {"best": goals.best_cost, "worst": goals.worst_cost},
            "deployments": [_deployment(dataflow, goals, *row) for row in found]}


def _deployment(dataflow: Dataflow, goals: Goals, name: str, deployment: Deployment, seconds: float,
                cut: bool) -> dict[str, object]:
    w = worth(dataflow, deployment, goals)
    return {"algorithm": name, "complete": not cut, "profit": w.profit, "throughput": w.throughput, "value": w.value,
            "cost": w.cost,
            "alternates": {e.name: e.alternates[c].name
                           for e, c in zip(dataflow.elements, deployment.chosen, strict=True) if len(e.alternates) > 1},
            "machines": [{"vm": p.machine.name, "cores": [dataflow.elements[i].name for i in p.cores]}
                         for p in deployment.placed]}
