"""One run of a search, told in plain data, so that it can be written down, sent to another machine and played there.

A *scene* is what all runs of a search share: for each operator its rates, keys, limits and goals, and for each pattern
(*way*) how its triggers reach the workers, what they cost and whether results keep their order. A *candidate* says what
is tried: a pattern with its degree, the least and the most workers and the alternate of each operator, and the
controller of all of them. Its names are those of control.json. Together with a seed they give the figures of a run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..report.saso import saso
from .control_library import BALANCED, NAN, Controls, Goals, Limits, Options, Setting
from .plant import FLUENT, Costs
from .trace import Arrivals, Trace, make_trace
from .trial import Operator, Played, Variant, play

FIGURES = ("violations", "cores", "power", "reconfigurations", "amplitude", "settling", "value", "shed", "latency_p95")
_MOST_TRACES = 8
_HOPELESS = 20.0  # seconds of load that wait: such a candidate is out, and playing on would take ever longer
_traces: dict[tuple, Trace] = {}


def play_candidate(scene: Mapping[str, Any], candidate: Mapping[str, Any], seed: int,
                   controls: Controls) -> dict[str, float]:
    """Of all operators together: seconds that missed a goal, cores and changes are added up, settling is the longest,
    power, value (of the best one's) and shed tuples are shares. NaN: nothing was measured. A run that ended early
    missed the goals to its end."""
    runs = play_whole(scene, candidate, seed, controls)
    figures = _figures(runs)
    # Every candidate's power is told against all cores, also where it may not use all of them.
    scales = [controls.power(one.limits, one.limits.workers_most, len(one.limits.frequencies) - 1)
              / controls.power(one.limits, scene["cores"], len(one.limits.frequencies) - 1) for one, _ in runs]
    return figures | {"power": figures["power"] * _mean(scales)}


def play_whole(scene: Mapping[str, Any], candidate: Mapping[str, Any], seed: int,
               controls: Controls) -> list[tuple[Operator, Played]]:
    """The operators with all that happened to them."""
    operators = [_operator(one, candidate["operators"][one["name"]]) for one in scene["operators"]]
    traces = [_trace(scene["digest"], number, one, seed) for number, one in enumerate(operators)]
    played = play(operators, _variant(candidate["control"]), traces, controls, scene["cores"],
                  changes=tuple(scene["changes"]), hopeless=_HOPELESS)
    return [(one, played[one.name]) for one in operators]


def _trace(digest: str, number: int, operator: Operator, seed: int) -> Trace:
    """Equal for all candidates that divide the stream into equal triggers; the last ones are kept."""
    key = (digest, number, operator.arrivals.slide, seed)
    if key not in _traces:
        while len(_traces) >= _MOST_TRACES:
            del _traces[next(iter(_traces))]
        _traces[key] = make_trace(operator.arrivals, seed * 1000 + number)
    return _traces[key]


def _operator(one: Mapping[str, Any], chosen: Mapping[str, Any]) -> Operator:
    way = one["ways"][chosen["pattern"]["name"]]
    limits = _limits(one["limits"], chosen)
    arrivals = Arrivals(one["rates"], np.asarray(one["keys"], dtype=float), way["slide"], one["service_cv"])
    alternate = one["alternates"].index(chosen["alternate"]) if chosen["alternate"] else 0
    workers = min(max(chosen["pattern"]["workers"], limits.workers_least), limits.workers_most)
    costs = Costs(tuple(way["service"]), queue=one["queue"] / way["slide"], overhead=way["overhead"])
    return Operator(one["name"], arrivals, costs, limits, Goals(**_known(one["goals"])),
                    Setting(workers, len(limits.frequencies) - 1, alternate), ordered=way["ordered"],
                    dealt=(chosen["pattern"].get("batch") or 1) if way["dealt"] else 0)


def _limits(given: Mapping[str, Any], chosen: Mapping[str, Any]) -> Limits:
    lists = {name: tuple(NAN if value is None else value for value in given[name])
             for name in ("frequencies", "voltages", "values", "costs")}
    return Limits(chosen["most"], chosen["least"], service_threads=given["service_threads"],
                  shed_most=given["shed_most"], **lists)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _variant(control: Mapping[str, Any]) -> Variant:
    forecast, safety, balance = control["forecast"], control["safety"], control["rebalance"]
    options = Options(control["policy"], _known(control["parameters"]), forecast["method"],
                      **{name: NAN if forecast.get(name) is None else forecast[name]
                         for name in ("level", "trend", "seasonal", "smoothing")},
                      season=forecast.get("season") or 0, cooldown=safety["cooldown"], warmup=safety["warmup"],
                      trust=NAN if safety.get("trust") is None else safety["trust"])
    method = balance["method"] or BALANCED
    return Variant("", options, control["step"], balancer=None if method == "off" else method,
                   imbalance=0.1 if balance.get("imbalance") is None else balance["imbalance"],
                   protocol=control["migration"] or FLUENT)


def _figures(runs: list[tuple[Operator, Played]]) -> dict[str, float]:
    judged = [saso(one.steps) for _, one in runs]
    unplayed = [len(operator.arrivals.rates) - one.steps[-1].time for operator, one in runs]
    lengths = [_mean_length(one) for _, one in runs]
    came = sum(one.arrivals for _, one in runs)
    found = {
        "violations": sum(one.violations * length + rest
                          for one, length, rest in zip(judged, lengths, unplayed, strict=True)),
        "cores": sum(one.workers for one in judged),
        "power": _mean([one.power for one in judged]),
        "reconfigurations": float(sum(one.reconfigurations for one in judged)),
        "amplitude": sum(one.amplitude for one in judged),
        "settling": max(one.settling + rest for one, rest in zip(judged, unplayed, strict=True)),
        "value": _mean([math.fsum(one.values) / len(one.values) / (max(operator.limits.values) or 1.0)
                        for operator, one in runs]),
        "shed": sum(one.shed for _, one in runs) / came if came else 0.0,
        "latency_p95": max(one.latency_p95 for _, one in runs),
    }
    return {name: float(found[name]) for name in FIGURES}


def _mean_length(played: Played) -> float:
    """Seconds of a slice that was judged."""
    return played.steps[-1].time / len(played.steps)


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
