"""A program as a dataflow to deploy: its steps with what they cost, the machines of its `cloud` block, its goals."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.profile import Profile
from ..failure import Usage
from ..select.traffic import StepLoad, loads_of, record_bytes, wanted_rate
from .greedy import sharded
from .model import Alternate, Dataflow, Element, Goals, Machine, worth

CHEAP = 0.001  # of all work: a step below it needs no core of its own
SECOND = 1e9


def machines_of(program: typed.Program) -> tuple[Machine, ...]:
    found = []
    for block in program.blocks:
        if block.kind == "vm":
            settings = dict(block.settings)
            missing = [name for name in ("cores", "price") if name not in settings]
            if missing:
                place = f"{program.file}:{block.span.line}"
                raise Usage(f"{place}: vm {block.names[0]} needs `{missing[0]}` to be deployed on")
            found.append(Machine(block.names[0], int(settings["cores"]), float(settings.get("speed", 1.0)),
                                 float(settings["price"]), float(settings.get("bandwidth", 1e8))))
    if not found:
        raise Usage(f"{program.file}: no machines to deploy on; name them in a block "
                    "`cloud { vm small { cores: 1, speed: 1.0, price: 0.06 } }`")
    return tuple(found)


def dataflow_of(graph: Graph, profile: Profile | None, rates: Mapping[str, float]) -> Dataflow:
    """`rates`: tuples a second of sources, before those of the profile."""
    loads = loads_of(graph, profile)
    names = [step.name for step in graph.steps]
    sources = [step.name for step in graph.steps if isinstance(step.body, typed.Source)]
    for name in rates:
        if name not in sources:
            raise Usage(f"`{name}` is not a source of this program; it has {', '.join(sources)}")
    wanted = wanted_rate(graph, profile)
    total = sum(load.work for load in loads.values())
    elements, arriving = [], []
    for step in graph.steps:
        load = loads[step.name]
        elements.append(Element(step.name, _alternates(step, load, load.work < CHEAP * total)))
        arriving.append(_rate(step, load, rates, wanted) if step.name in sources else 0.0)
    edges = tuple((names.index(source), i) for i, step in enumerate(graph.steps) for source in step.inputs)
    largest = max((record_bytes(step.record) for step in graph.steps), default=8)
    return Dataflow(tuple(elements), edges, tuple(arriving), float(largest))


def _rate(step: typed.Step, load: StepLoad, rates: Mapping[str, float], wanted: float | None) -> float:
    if step.name in rates:
        return rates[step.name]
    if wanted is None:
        raise Usage(f"how fast `{step.name}` brings tuples is not known: say `--rate {step.name}=N`, or give a profile")
    return wanted * load.tuples_in


def _alternates(step: typed.Step, load: StepLoad, cheap: bool) -> tuple[Alternate, ...]:
    given = load.tuples_out / load.tuples_in if load.tuples_in > 0 else 1.0
    cost = 0.0 if cheap or load.tuples_in == 0 else load.work / load.tuples_in / SECOND
    if not isinstance(step.body, typed.Operator):
        return (Alternate(step.name, 1.0, cost, given),)
    best = max(a.value for a in step.body.alternates)
    windows = 1.0 if step.body.window is None else given
    return tuple(Alternate(a.name, a.value / best if best > 0 else 1.0,
                           cost if a.cost is None else a.cost * windows / SECOND,
                           given if a.selectivity is None else a.selectivity)
                 for a in step.body.alternates)


def goals_of(graph: Graph, dataflow: Dataflow, machines: tuple[Machine, ...], hours: float,
             break_even: tuple[float, float] | None) -> Goals:
    """The throughput goal of the program; without break-even costs, those of a careless deployment and half of it."""
    wanted = [g.bound for g in graph.program.goals if g.metric == "throughput"]
    throughput = max(wanted, default=0.8)
    if break_even is not None:
        return Goals(hours, throughput, 0.05, *break_even)
    careless = worth(dataflow, sharded(dataflow, machines, Goals(hours, throughput, 0.05, 1.0, 0.5)),
                     Goals(hours, throughput, 0.05, 1.0, 0.5)).cost
    return Goals(hours, throughput, 0.05, careless, careless / 2 if not math.isclose(careless, 0.0) else 0.0)
