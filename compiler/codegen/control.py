"""The controller configuration: goals, limits, policies and safety rules of the program as JSON with a schema version.

Times are seconds, frequencies hertz. `control.schema.json` beside this file says what may stand in it; the program has
the text as its standard and reads another one with `--control FILE`.
"""

from __future__ import annotations

import json
import math

from ...dsl import typed
from ...dsl.settings import POLICIES
from ..artifacts.graph import Graph
from ..artifacts.plan import Plan

SCHEMA = 2
_SECOND = 10 ** 9  # nanoseconds
_STEP = 1.0
_COOLDOWN, _WARMUP = 2, 1  # steps
_FREQUENCY_STEP = 100_000_000
_MOST_FREQUENCIES = 64
_SHARED = ("step", "shadow", "cooldown", "warmup", "rebalance", "imbalance", "migration", "log")
_FORECAST = ("level", "trend", "seasonal", "smoothing")


def control_configuration(graph: Graph, plan: Plan) -> str:
    program = graph.program
    settings = [dict(c.settings) for c in program.controls]
    step = min((s["step"] / _SECOND for s in settings if "step" in s), default=_STEP)
    step = plan.file.control["step"] if plan.file is not None else step
    data = {
        "schema": SCHEMA,
        "app": program.name,
        "step": step,
        "shadow": any(s.get("shadow", False) for s in settings),
        "log": next((s["log"] for s in settings if "log" in s), None),
        "goals": [{"metric": g.metric, "statistic": g.statistic or None,
                   "bound": g.bound / _SECOND if g.metric == "latency" else g.bound, "weight": g.weight}
                  for g in program.goals],
        "minimize": program.minimize[0] if program.minimize else None,
        "resources": _resources(program),
        "manager": {"changes_a_step": 1, "most_changes": 4},
        "operators": [_operator(program, step_, plan, step) for step_ in graph.steps
                      if step_.name in _controllable(graph, plan)],
        "segments": [{"number": s.number, "kind": s.kind, "steps": list(s.steps)} for s in plan.segments],
    }
    return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def _controllable(graph: Graph, plan: Plan) -> frozenset[str]:
    """Operators, which may have alternates, and steps that give a replicated segment its degree."""
    operators = {step.name for step in graph.steps if isinstance(step.body, typed.Operator)}
    return frozenset(operators | {s.steps[0] for s in plan.segments if s.replicated and s.steps})


# --- the machine ------------------------------------------------------------------------------------


def _resources(program: typed.Program) -> dict[str, object]:
    given = next((dict(b.settings) for b in program.blocks if b.kind == "resources"), {})
    cores, frequencies = given.get("cores"), _frequencies(given.get("frequency"))
    least, most = cores if isinstance(cores, tuple) else (1, cores)
    return {"cores": {"least": least, "most": most}, "frequencies": frequencies,
            "voltages": _voltages(given.get("voltage"), len(frequencies)), "shed": given.get("shed", 0),
            "power": _highest(given.get("power", 0))}


def _highest(given: object) -> float:
    return given[1] if isinstance(given, tuple) else given


def _frequencies(given: object) -> list[float]:
    if given is None:
        return []
    low, high, *step = given if isinstance(given, tuple) else (given, given)
    by = max(step[0] if step else _FREQUENCY_STEP, (high - low) / (_MOST_FREQUENCIES - 1))
    count = math.floor((high - low) / by + 1e-9) + 1 if by else 1
    return [float(low + i * by) for i in range(count)]


def _voltages(given: object, count: int) -> list[float]:
    """One for each frequency, evenly from the lowest to the highest; none where the program says nothing."""
    if given is None or count == 0:
        return []
    low, high, *_ = given if isinstance(given, tuple) else (given, given)
    return [low + (high - low) * i / max(count - 1, 1) for i in range(count)]


# --- operators --------------------------------------------------------------------------------------


def _operator(program: typed.Program, step: typed.Step, plan: Plan, seconds: float) -> dict[str, object]:
    policy, settings = _policy(program, step.name)
    found = {
        "name": step.name,
        "policy": policy,
        "parameters": _parameters(policy, settings),
        "workers": {"least": None, "most": None},  # those of the cores
        "safety": {"cooldown": _steps(settings.get("cooldown"), seconds, _COOLDOWN),
                   "warmup": _steps(settings.get("warmup"), seconds, _WARMUP), "trust": None},
        "forecast": _forecast(settings, dict(plan.forecast)),
        "migration": settings.get("migration", "fluent"),
        "rebalance": {"method": settings.get("rebalance", "balanced"), "imbalance": settings.get("imbalance")},
        "alternates": [{"name": a.name, "value": a.value, "cost": a.cost and a.cost / _SECOND,
                        "selectivity": a.selectivity} for a in step.body.alternates] if
        step.name in {a.operator for a in plan.alternates} else [],
    }
    return found | _searched(plan, step.name)


def _searched(plan: Plan, operator: str) -> dict[str, object]:
    """What a search found goes before what the program says."""
    chosen = plan.file.operators.get(operator) if plan.file is not None else None
    if chosen is None:
        return {}
    return {"workers": {"least": chosen.least, "most": chosen.most},
            **{name: value for name, value in plan.file.control.items() if name != "step"}}


def _policy(program: typed.Program, name: str) -> tuple[str, dict[str, object]]:
    """Its own, else the program's; a program that has goals but says nothing of control gets `auto`."""
    chosen = {c.operator: c for c in program.controls}
    control = chosen.get(name, chosen.get(None))
    if control is not None:
        return control.policy, dict(control.settings)
    return "auto" if program.goals or program.minimize else "off", {}


def _steps(duration: int | None, seconds: float, standard: int) -> int:
    return standard if duration is None else math.ceil(duration / _SECOND / seconds - 1e-9)


def _forecast(settings: dict[str, object], fitted: dict[str, float]) -> dict[str, object]:
    """What the program says goes before what was fitted to its traces."""
    method = {"last_value": "last"}.get(settings.get("forecast"), settings.get("forecast", "holt_winters"))
    known = {**fitted, **settings} if method == "holt_winters" else settings
    return {"method": method, **{name: known.get(name) for name in _FORECAST}, "season": settings.get("season", 0)}


def _parameters(policy: str, settings: dict[str, object]) -> dict[str, object]:
    """What the policy alone knows; a range has two parameters."""
    found: dict[str, object] = {}
    for name, value in settings.items():
        if name in (*_SHARED, *_FORECAST, "forecast", "season"):
            continue
        if isinstance(value, tuple):
            found |= {f"{name}_low": value[0], f"{name}_high": value[1]}
        elif POLICIES[policy][name].span:
            found[f"{name}_high"] = value
        else:
            found[name] = value / _SECOND if POLICIES[policy][name].kind == "duration" else value
    return found
