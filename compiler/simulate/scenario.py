"""From a program to what is simulated: its elastic operators with their load, keys, limits and goals. What the program
and the profile do not tell is assumed, and said."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from dfc.compiler.failure import Usage

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.profile import Keys, Profile
from ..patterns.function import chosen_alternate
from ..patterns.load import SECOND, Load
from ..select.compose import Model, Unit
from ..select.costs import DEFAULT, cost_of
from ..select.search import Request, model_of, time_text
from ..select.traffic import StepLoad, key_shares, skewed, with_heaviest
from .control_library import NAN, Goals, Limits, Setting
from .plant import Costs
from .program import operator_of
from .rates import read_keys, read_rates
from .scalability import played_patterns
from .trace import Arrivals
from .trial import SLOTS, Operator

SERVICE_THREADS = 3.0  # reading, merging and controlling, beside the workers (000)
SERVICE_CV = 0.1
_START_LOAD = 0.8  # of the workers that a run begins with
LINK_TUPLES = 16 * 512
_MOST_KEYS = 16_384  # that are told apart of those that a profile counted


@dataclass(frozen=True, slots=True)
class Workload:
    """The words of the command line. `service`: NAME → seconds, the name being of an operator, of an alternate, or
    empty for all that have none of their own. `overhead`: seconds, as in Costs."""

    rates: str
    keys: str | None = None
    service: Mapping[str, float] = field(default_factory=dict)
    service_cv: float = SERVICE_CV
    overhead: float = 0.0


def operators_of(graph: Graph, request: Request, workload: Workload,
                 resources: Mapping[str, object]) -> tuple[tuple[Operator, ...], list[str]]:
    """The operators, and what was assumed about them. `resources`: those of the controller configuration."""
    model, _ = model_of(graph, request)
    rates = read_rates(workload.rates)
    units = [unit for unit in model.units if _elastic(model, unit)]
    if not units:
        raise Usage(f"{graph.program.name} has no operator whose degree can change: none has keys or is stateless")
    _check_names(workload.service, [model.loads[unit.name].step for unit in units])
    assumed = [f"a trigger's work varies by {workload.service_cv:g} (coefficient of variation)"]
    shares = _least_shares(resources, request.cores, len(units))
    found = tuple(_operator(graph, request, model, unit, rates, workload, share, assumed)
                  for unit, share in zip(units, shares, strict=True))
    found = _fitting(found, request.cores)
    limits, costs = found[0].limits, found[0].costs
    if len(limits.frequencies) > 1:
        volts = "" if resources["voltages"] else "; the voltage grows like the frequency"
        assumed.append(f"computing takes inversely as long as the frequency is high{volts}")
    assumed += [f"{SERVICE_THREADS:g} threads beside the workers draw power",
                f"moving a key takes {time_text(costs.take_out * SECOND)} out and {time_text(costs.put_in * SECOND)} "
                f"in; a worker wakes in {time_text(costs.wake * SECOND)}"]
    return found, list(dict.fromkeys(assumed))


def _least_shares(resources: Mapping[str, object], cores: int, count: int) -> list[dict[str, object]]:
    """The resources of each operator: the least of the cores is divided evenly, what is left over to the first ones."""
    least = min(resources["cores"]["least"] or 1, cores)
    return [{**resources, "cores": {**resources["cores"], "least": max(1, least // count + (number < least % count))}}
            for number in range(count)]


def _check_names(service: Mapping[str, float], steps: Sequence[typed.Step]) -> None:
    known = [name for step in steps for name in (step.name, *(one.name for one in alternates_of(step) if one))]
    for name in service:
        if name and name not in known:
            raise Usage(f"--service {name}=…: no such operator or alternate; there are {', '.join(known)}")


def _fitting(operators: Sequence[Operator], cores: int) -> tuple[Operator, ...]:
    """They begin with no more workers than there are cores: the ones with most give some up."""
    workers = [operator.start.workers for operator in operators]
    while sum(workers) > max(cores, len(workers)):
        workers[workers.index(max(workers))] -= 1
    return tuple(replace(operator, start=operator.start._replace(workers=count))
                 for operator, count in zip(operators, workers, strict=True))


def _elastic(model: Model, unit: Unit) -> bool:
    return bool({"key_partitioning", "farm"} & set(played_patterns(operator_of(model, unit))))


def _operator(graph: Graph, request: Request, model: Model, unit: Unit, rates: Sequence[float], workload: Workload,
              resources: Mapping[str, object], assumed: list[str]) -> Operator:
    load = model.loads[unit.name]
    slide = unit.load.slide
    keys = keys_of(load, workload.keys, assumed, request.profile)
    alternates = alternates_of(load.step)
    seconds = tuple(service_of(request, load, alternate, workload.service, assumed) for alternate in alternates)
    limits = limits_of(resources, request.cores, alternates)
    arrivals = Arrivals(tuple(rate * unit.tuples_in for rate in rates), keys, slide, workload.service_cv)
    alternate = alternates.index(chosen_alternate(load.step.body)) if alternates[0] is not None else 0
    busy = arrivals.rates[0] / slide * seconds[alternate]
    workers = min(limits.workers_most, max(limits.workers_least, math.ceil(busy / _START_LOAD)))
    costs = Costs(seconds, queue=LINK_TUPLES / slide, overhead=workload.overhead)
    return Operator(unit.name, arrivals, costs, limits, goals_of(graph.program),
                    Setting(workers, len(limits.frequencies) - 1, alternate),
                    ordered=unit.name not in model.freely_collected({}),
                    alternates=tuple(one.name for one in alternates if one is not None))


def alternates_of(step: typed.Step) -> tuple[typed.Alternate | None, ...]:
    return step.body.alternates if isinstance(step.body, typed.Operator) else (None,)


def service_of(request: Request, load: StepLoad, alternate: typed.Alternate | None, given: Mapping[str, float],
               assumed: list[str], part: Callable[[Load], float] | None = None) -> float:
    """Seconds for a trigger: as given, else by the cost model, with the tuples that lead to it. `part`: nanoseconds of
    what a worker does of it, where others do the rest."""
    for name in (alternate.name if alternate else "", load.step.name, ""):
        if name in given:
            return given[name]
    step = load.step if alternate is None else replace(load.step, body=replace(load.step.body, alternates=(alternate,)))
    cost = cost_of(step, load.function, load.load.window, load.load.slide, load.load.panes, request.profile)
    mine = replace(load.load, costs=cost.costs)
    seconds = (part(mine) if part else mine.ending + cost.costs.tuple * mine.slide) / SECOND
    what = f"`{load.step.name}`" + (f" by `{alternate.name}`" if alternate else "")
    if cost.origin == DEFAULT:
        assumed.append(f"{time_text(seconds * SECOND)} for a trigger of {what}, by its kind")
    if cost.origin == DEFAULT and alternate and isinstance(alternate.body, typed.CFunction):
        assumed.append(f"nobody has said what the functions in C of `{load.step.name}` take: --service NAME=TIME does, "
                       "`cost` in the program, or `dfc calibrate` and --profile")
    return seconds


def keys_of(load: StepLoad, asked: str | None, assumed: list[str], profile: Profile | None = None) -> np.ndarray:
    """Shares: of a file, by a word, as the profile has them, or as the model knows them. Without keys there are slots,
    all alike."""
    if not load.function.keyed:
        return np.full(SLOTS, 1 / SLOTS)
    if asked is None:
        assumed += [what for what in load.assumed if "keys" in what]
        seen = profile.operators[load.step.name].keys if profile and load.step.name in profile.operators else None
        shares = key_shares(_folded(seen) if seen is not None else _known(load))
    elif asked == "uniform":
        shares = key_shares(skewed(load.load.keys, 0.0))
    elif asked.startswith("zipf:"):
        shares = key_shares(skewed(load.load.keys, float(asked.removeprefix("zipf:"))))
    elif _is_number(asked):
        shares = key_shares(with_heaviest(load.load.keys, float(asked)))
    else:
        shares = read_keys(asked)
    return np.asarray(shares, dtype=float)


def _folded(keys: Keys) -> Keys:
    """Of very many keys the lightest ones stand for several each: which worker has them is decided by slots anyway."""
    return replace(keys, count=min(keys.count, max(_MOST_KEYS, len(keys.top))))


def _known(load: StepLoad):
    keys, heaviest = load.load.keys, load.load.p_max
    return with_heaviest(keys, heaviest) if heaviest > 1.01 / keys else skewed(keys, 0.0)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def limits_of(resources: Mapping[str, object], cores: int, alternates: Sequence[typed.Alternate | None]) -> Limits:
    """Without frequencies there is one, and only ratios matter. A voltage that is not known is NaN."""
    frequencies = tuple(resources["frequencies"]) or (1.0,)
    return Limits(cores, min(resources["cores"]["least"] or 1, cores), frequencies,
                  tuple(resources["voltages"]) or (NAN,) * len(frequencies), SERVICE_THREADS,
                  tuple(one.value if one else 1.0 for one in alternates),
                  tuple(one.cost / SECOND if one and one.cost is not None else NAN for one in alternates),
                  resources["shed"], resources["power"])


_QUANTILES = {"mean": 0.0, "": 0.0, "max": 1.0}


def goals_of(program: typed.Program) -> Goals:
    found = Goals(minimize=program.minimize[0] if program.minimize else "nothing")
    for goal in program.goals:
        if goal.metric == "latency":
            digits = goal.statistic.removeprefix("p")
            quantile = _QUANTILES[goal.statistic] if goal.statistic in _QUANTILES else float(f"0.{digits}")
            found = replace(found, latency=goal.bound / SECOND, quantile=quantile)
        else:
            found = replace(found, **{goal.metric: goal.bound})
    return found
