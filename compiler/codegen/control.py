"""The controller configuration: goals, limits and policies of the program as JSON with a schema version."""

from __future__ import annotations

import json

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.plan import Plan
from .names import c_string

SCHEMA = 1


def control_configuration(graph: Graph, plan: Plan) -> str:
    program = graph.program
    data = {
        "schema": SCHEMA,
        "app": program.name,
        "goals": [{"metric": g.metric, "statistic": g.statistic, "op": g.op, "bound": g.bound, "weight": g.weight}
                  for g in program.goals],
        "minimize": list(program.minimize),
        "control": [{"policy": c.policy, "operator": c.operator, "settings": _settings(c.settings)}
                    for c in program.controls],
        "resources": [{"kind": b.kind, "names": list(b.names), "settings": _settings(b.settings)}
                      for b in program.blocks],
        "operators": [_operator(step, plan) for step in graph.steps if isinstance(step.body, typed.Operator)],
        "segments": [{"number": s.number, "kind": s.kind, "steps": list(s.steps)} for s in plan.segments],
    }
    return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def _operator(step: typed.Step, plan: Plan) -> dict[str, object]:
    active = {a.operator: a.alternate for a in plan.alternates}
    return {"name": step.name, "active": active.get(step.name, step.body.alternates[0].name),
            "alternates": [{"name": a.name, "value": a.value, "cost_ns": a.cost, "selectivity": a.selectivity}
                           for a in step.body.alternates]}


def _settings(settings: tuple[tuple[str, object], ...]) -> dict[str, object]:
    return dict(settings)


def notice(program: typed.Program) -> str:
    """Until a controller exists a program that asks for one runs with fixed settings, and says so once."""
    asks = [c for c in program.controls if c.policy != "off"] or program.goals or program.minimize or program.blocks
    if not asks:
        return "NULL"
    return c_string("goals, control and resources are not acted on yet: this run has fixed settings "
                    "(--workers, --alternate)")
