"""`dfc simulate`: every operator of a program that can have a pattern, by degree and by skew of its keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ...dsl import typed
from ...dsl.span import NOWHERE
from ..artifacts.graph import Graph
from ..artifacts.step_text import pattern_text
from ..patterns import PATTERNS
from ..patterns.load import Machine
from ..select.compose import Model, Unit
from ..select.reading import in_blocks
from ..select.search import Request, model_of, rate_text, time_text
from ..select.traffic import Keys
from .scalability import Operator, Point, degree_of, played_patterns, scaling_table, scenario_keys, series, with_keys

_DEGREES = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 48, 64, 96, 128, 192, 256)
KNOWN = "as known"


def simulate(graph: Graph, request: Request, scenario: str | None, rate: float | None) -> dict:
    """For each operator the points of every pattern by degree, and the scaling for three distributions of keys."""
    model, _ = model_of(graph, request)
    degrees = degrees_up_to(request.cores)
    machine = Machine(**{**_fields(model.machine), "cores": 10**6})  # a core for each thread
    rate = rate if rate is not None else model.wanted
    return {"app": graph.program.name, "cores": request.cores, "keys": scenario or KNOWN,
            "assumed": sorted({what for load in model.loads.values() for what in load.assumed}),
            "operators": [_operator(model, unit, machine, degrees, scenario, rate, request.forced.get(unit.name))
                          for unit in model.units]}


def degrees_up_to(cores: int) -> list[int]:
    return [*(degree for degree in _DEGREES if degree < cores), cores]


def _fields(machine: Machine) -> dict:
    return {name: getattr(machine, name) for name in machine.__dataclass_fields__}


def _operator(model: Model, unit: Unit, machine: Machine, degrees: Sequence[int], scenario: str | None,
              rate: float | None, forced: typed.Pattern | None) -> dict:
    operator = replace(operator_of(model, unit), forced=forced)
    if forced is not None and (degree := degree_of(forced)) is not None:
        degrees = (degree,)
    if scenario is not None and operator.function.keyed:
        operator = with_keys(operator, scenario_keys(operator.keys.count, scenario))
    own_rate = None if rate is None else rate * unit.tuples_in
    patterns = {title: [_point(one) for one in series(operator, title, routing, machine, degrees, own_rate)]
                for title, routing in played_patterns(operator).items()}
    found = {"name": unit.name, "keys": operator.keys.count, "p_max": operator.keys.p_max, "patterns": patterns,
             "forced": forced is not None}
    if operator.function.keyed and scenario is None:
        ends = sorted({max(degrees[0], degrees[-1] // 2), degrees[-1]})
        table = scaling_table(operator, machine, ends, ("uniform", "0.03", "0.16"))
        found["scaling"] = {title: {name: {one.degree: round(one.scaling, 2) for one in points}
                                    for name, points in scenarios.items()} for title, scenarios in table.items()}
        found["scaling_degrees"] = ends
    return found


def operator_of(model: Model, unit: Unit) -> Operator:
    """The unit with the work of the threads around it: what comes before it in its tuples, what comes after in its
    results. Of several threads that parse the busiest one counts."""
    load = model.loads[unit.name]
    place = unit.segment
    single = [segment for segment in model.segments if not segment.replicated]
    reading = model.segments[0].steps[:model.segments[0].steps.index(unit.name)] if place == 0 else ()
    before = [model.loads[name] for segment in single if segment.number < place for name in segment.steps]
    before += [model.loads[name] for name in reading]
    after = sum(model.loads[name].beside for segment in single if segment.number >= place for name in segment.steps
                if name != unit.name and name not in reading)
    parser = max(model.loads.values(), key=lambda one: one.parsing)
    results = unit.tuples_in / unit.load.slide
    keys = Keys(unit.load.keys, unit.load.p_max, _top(model, unit))
    return Operator(unit.name, load.function, unit.load, keys, sum(one.beside for one in before) / unit.tuples_in,
                    after / results, parser.parsing / unit.tuples_in, in_blocks(parser.step),
                    sum(one.work for one in before) / unit.tuples_in, free_patterns(model, unit))


def free_patterns(model: Model, unit: Unit) -> frozenset[str]:
    """The patterns with which its results are taken as they come. Windows that share their panes stay together."""
    names = ("key_partitioning",) if model.sharing(unit.name) else PATTERNS
    fitting = (name for name in names if PATTERNS[name].applies(model.loads[unit.name].function) is None)
    return frozenset(name for name in fitting
                     if unit.name in model.freely_collected({unit.name: typed.Pattern(name, NOWHERE)}))


def _top(model: Model, unit: Unit) -> tuple[float, ...]:
    """The heaviest keys as the load knows them: of Zipf's law with the same heaviest one."""
    return scenario_keys(unit.load.keys, str(unit.load.p_max)).top if unit.load.keys > 1 else (1.0,)


def _point(point: Point) -> dict:
    return {"workers": point.degree, "pattern": pattern_text(point.pattern), "rate": round(point.rate, 1),
            "scaling": round(point.scaling, 3), "model_rate": round(point.model_rate, 1), "threads": point.threads,
            "latency_ns": round(point.latency, 1) if math.isfinite(point.latency) else None,
            "latency_at_rate": round(point.at_rate, 1)}


# --- text -------------------------------------------------------------------------------------------


def to_text(found: dict) -> str:
    cores = found["cores"]
    lines = [f"{found['app']}: simulated for up to {cores} worker{'s' * (cores > 1)}, each thread on a core of its own"]
    for operator in found["operators"]:
        lines += ["", f"{operator['name']}: {operator['keys']} key{'s' * (operator['keys'] > 1)}, the heaviest "
                  f"{operator['p_max']:.2%} ({found['keys']}){', with what is forced' * operator['forced']}"]
        lines += _series_lines(operator)
        if "scaling" in operator:
            lines += _scaling_lines(operator)
    if not found["operators"]:
        lines += ["", "nothing here can be replicated"]
    lines += ["", "assumed: " + "; ".join(found["assumed"])] if found["assumed"] else []
    return "\n".join(lines) + "\n"


def _series_lines(operator: dict) -> list[str]:
    lines = []
    for title, points in operator["patterns"].items():
        lines += ["", f"  {title}", "    workers  threads    tuples/s  scaling  latency (at)"]
        lines += [f"    {point['workers']:>7}  {point['threads']:>7}  {rate_text(point['rate']):>10}"
                  f"  {point['scaling']:>7.2f}  {_latency(point)}{_settings(operator, point)}" for point in points]
    return lines


def _settings(operator: dict, point: dict) -> str:
    """Of a forced pattern, whose settings somebody wants to see."""
    return f"  {point['pattern']}" if operator["forced"] else ""


def _latency(point: dict) -> str:
    if point["latency_ns"] is None:
        return "can't take the rate"
    return f"{time_text(point['latency_ns'])} ({rate_text(point['latency_at_rate'])})"


def _scaling_lines(operator: dict) -> list[str]:
    names = {"uniform": "uniform", "0.03": "skewed 0.03", "0.16": "very skewed 0.16"}
    width = max(len(title) for title in operator["scaling"])
    lines = ["", "  scaling by keys (workers:times one worker)",
             f"    {'':{width}}  " + "  ".join(f"{name:20}" for name in names.values())]
    for title, scenarios in operator["scaling"].items():
        cells = (", ".join(f"{n}:{times:.2f}" for n, times in scenarios[name].items()) for name in names)
        lines.append(f"    {title:{width}}  " + "  ".join(f"{cell:20}" for cell in cells).rstrip())
    return [line.rstrip() for line in lines]
