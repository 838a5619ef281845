"""From a program and its recorded rates to what is played: the scene of all runs, and the plan that there is without a
search (simulate/task.py says what stands in them)."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.plan import Plan, patterns_of
from ..artifacts.plan_file import settings_of
from ..failure import Usage
from ..patterns import PATTERNS
from ..patterns.load import Load
from ..select.compose import Model, Unit
from ..select.search import Request, model_of
from ..simulate.program import free_patterns
from ..simulate.scenario import LINK_TUPLES, Workload, alternates_of, goals_of, keys_of, limits_of, service_of
from ..simulate.task import NAN

# Patterns whose workers can become more and fewer while a program runs, and what a worker does for a trigger of them.
WAYS = ("key_partitioning", "farm", "window_farming", "pane_farming")
_KEEPING_UP = 0.95  # of what comes has to go out in every second, where the program has no goal


def make_scene(graph: Graph, request: Request, rates: Sequence[float], workload: Workload,
               configuration: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The scene, and what was assumed. `configuration` is the controllers' (control.json) without a search."""
    model, _ = model_of(graph, request)
    assumed = [f"a trigger's work varies by {workload.service_cv:g} (coefficient of variation)"]
    units = [(unit, ways) for unit in model.units if (ways := _ways(model, request, unit))]
    if not units:
        raise Usage(f"{graph.program.name} has no operator whose degree can change: there is nothing to search for")
    goals = _goals(graph.program, assumed)
    operators = [_operator(model, request, unit, ways, rates, workload, configuration["resources"], goals, assumed)
                 for unit, ways in units]
    manager = configuration["manager"]
    scene = {"cores": request.cores, "changes": [manager["changes_a_step"], manager["most_changes"]],
             "operators": operators}
    scene["digest"] = hashlib.sha256(json.dumps(scene, sort_keys=True).encode()).hexdigest()[:16]
    return scene, list(dict.fromkeys(assumed))


def _ways(model: Model, request: Request, unit: Unit) -> list[str]:
    """What the simulator can play and the code generator can make; a pattern that the program names is the only one.
    Windows that share their panes stay together."""
    forced = request.forced.get(unit.name)
    if forced is not None:
        return [forced.name] if forced.name in WAYS and (forced.style or "agnostic") == "agnostic" else []
    names = WAYS[:1] if model.sharing(unit.name) else WAYS
    return [name for name in names if PATTERNS[name].applies(model.loads[unit.name].function) is None]


def _operator(model: Model, request: Request, unit: Unit, ways: Sequence[str], rates: Sequence[float],
              workload: Workload, resources: Mapping[str, Any], goals: Mapping[str, Any],
              assumed: list[str]) -> dict[str, Any]:
    load = model.loads[unit.name]
    alternates = alternates_of(load.step)
    limits, free = limits_of(resources, request.cores, alternates), free_patterns(model, unit)
    return {"name": unit.name, "rates": [rate * unit.tuples_in for rate in rates],
            "keys": keys_of(load, workload.keys, assumed, request.profile).tolist(),
            "service_cv": workload.service_cv, "queue": LINK_TUPLES, "goals": dict(goals),
            "alternates": [one.name for one in alternates if one is not None],
            "limits": {"least": limits.workers_least, "service_threads": limits.service_threads,
                       "shed_most": limits.shed_most,
                       **{name: _plain(getattr(limits, name))
                          for name in ("frequencies", "voltages", "values", "costs")}},
            "ways": {name: _way(request, load, alternates, name, workload, assumed)
                     | {"ordered": name not in free} for name in ways}}


def _way(request: Request, load, alternates: Sequence[typed.Alternate | None], name: str, workload: Workload,
         assumed: list[str]) -> dict[str, Any]:
    """Farmed windows are worked on whole, panes are put together by the thread behind the workers."""
    def service(part=None) -> list[float]:
        return [service_of(request, load, one, workload.service, assumed, part) for one in alternates]

    slide, overhead = load.load.slide, workload.overhead
    if name == "window_farming":
        return {"slide": slide, "dealt": True, "overhead": overhead, "service": service(_whole)}
    if name == "pane_farming":
        merge = load.load.costs.merge / 1e9
        return {"slide": slide / load.load.panes_a_slide, "dealt": True, "overhead": overhead + merge,
                "service": service(_pane)}
    return {"slide": slide, "dealt": False, "overhead": overhead, "service": service()}


def _whole(load: Load) -> float:
    return load.whole


def _pane(load: Load) -> float:
    return load.pane


def _goals(program: typed.Program, assumed: list[str]) -> dict[str, Any]:
    goals = goals_of(program)
    found = {name: getattr(goals, name) for name in goals.__dataclass_fields__}
    if math.isnan(goals.latency) and math.isnan(goals.throughput):
        found["throughput"] = _KEEPING_UP
        assumed.append(f"the program has no goal for latency or throughput: a second counts as missed when less than "
                       f"{_KEEPING_UP:.0%} of what came goes out")
    return {name: None if value is NAN or value != value else value for name, value in found.items()}


def _plain(values: Sequence[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


# --- without a search -------------------------------------------------------------------------------


def standing_plan(scene: Mapping[str, Any], plan: Plan, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """What `dfc compile` decides, as a candidate."""
    patterns = patterns_of(plan.decisions, plan.layout)
    alternates = {one.operator: one.alternate for one in plan.alternates}
    operators = {one["name"]: {"pattern": _standing_pattern(one, patterns.get(one["name"])),
                               "alternate": alternates.get(one["name"]) or next(iter(one["alternates"]), None),
                               "least": one["limits"]["least"], "most": scene["cores"]} for one in scene["operators"]}
    names = [one["name"] for one in scene["operators"]]
    entry = next(one for one in configuration["operators"] if one["name"] == names[0])
    control = {"step": configuration["step"], **{part: entry[part] for part in (
        "policy", "parameters", "forecast", "safety", "migration", "rebalance")}}
    if control["policy"] == "off":  # nothing changes then
        control |= {"policy": "static", "parameters": {}}
        for chosen in operators.values():
            chosen["least"] = chosen["most"] = chosen["pattern"]["workers"]
    return {"operators": operators, "control": control}


def _standing_pattern(one: Mapping[str, Any], pattern: typed.Pattern | None) -> dict[str, Any]:
    """In one thread, or by a pattern that is not simulated, it is taken for one worker of the first way."""
    if pattern is None or pattern.name not in one["ways"]:
        return {"name": next(iter(one["ways"])), "workers": 1}
    return {"name": pattern.name, **settings_of(pattern)}
