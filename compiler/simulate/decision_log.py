"""Simulated runs as decision logs: the lines that a program writes with `--log`, so that `dfc report` reads both.

A line counts triggers where a program's counts tuples, and of the latencies it knows the mean and what the goal names.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..report.log import LOG_NAME, SCHEMA
from .control_library import NAN, Goals, Limits, Setting

_QUANTILES = {0.5: "p50", 0.9: "p90", 0.95: "p95", 0.99: "p99", 0.999: "p999", 1.0: "max"}


@dataclass(frozen=True, slots=True)
class Noted:
    """One control step of one operator. `foretold` is what was expected of it when it began; `held` why what was wanted
    was not done."""

    time: float
    measured: Mapping[str, float | Sequence[float]]
    before: Setting
    wanted: Setting
    after: Setting
    rebalanced: bool
    forecast: float
    foretold: Mapping[str, float] | None
    expected: Mapping[str, float]
    reason: str
    held: str
    fell_back: bool
    throughput: float  # of `measured`, as the goal counts it
    error: float


@dataclass(slots=True)
class Log:
    """All control steps of one operator in one run."""

    policy: str
    step: float
    goals: Goals
    limits: Limits
    alternates: tuple[str, ...] = ()
    steps: list[Noted] = field(default_factory=list)


def write_logs(folder: Path, app: str, logs: Mapping[tuple[str, str], Log]) -> None:
    """`logs`: by variant and operator. A folder for each variant."""
    for variant in dict.fromkeys(variant for variant, _ in logs):
        own = {operator: log for (name, operator), log in logs.items() if name == variant}
        place = folder / re.sub(r"[^\w.=,+-]+", "_", variant)
        place.mkdir(exist_ok=True)
        rows = [_start(app, next(iter(own.values()))), *_steps(own)]
        rows.append({"schema": SCHEMA, "kind": "event", "uptime": rows[-1]["uptime"], "event": "end", "detail": ""})
        (place / LOG_NAME).write_text("".join(json.dumps(_known(row)) + "\n" for row in rows), encoding="utf-8")


def _start(app: str, log: Log) -> dict:
    goals = log.goals
    minimize = None if goals.minimize == "nothing" else goals.minimize
    return {"schema": SCHEMA, "kind": "start", "uptime": 0.0, "time": 0.0, "app": app, "version": "simulated",
            "fused": False, "shadow": False, "step_seconds": log.step, "configuration": {},
            "goals": {"latency": goals.latency, "quantile": goals.quantile or NAN, "throughput": goals.throughput,
                      "value": goals.value, "minimize": minimize}}


def _steps(own: Mapping[str, Log]) -> list[dict]:
    rows, tuples, results = [], 0, 0
    for number, together in enumerate(zip(*(log.steps for log in own.values()), strict=True), 1):
        tuples += round(sum(one.measured["arrivals"] for one in together))
        results += round(sum(one.measured["results"] for one in together))
        rows.append(_program(number, together, list(own.values())[-1], tuples, results))
        rows += [_step(number, operator, log, one) for (operator, log), one in zip(own.items(), together, strict=True)]
    return rows


def _program(number: int, together: Sequence[Noted], log: Log, tuples: int, results: int) -> dict:
    """Of the whole program: latencies are those of the last operator."""
    last = together[-1]
    latency = dict.fromkeys(_QUANTILES.values(), NAN) | {"count": last.measured["results"],
                                                         "mean": last.measured["latency"]}
    if log.goals.quantile in _QUANTILES:
        latency[_QUANTILES[log.goals.quantile]] = last.measured["latency_quantile"]
    frequencies = log.limits.frequencies
    return {"schema": SCHEMA, "kind": "program", "uptime": last.time, "step": number, "time": last.time,
            "rate": sum(one.measured["arrivals"] for one in together) / last.measured["step"], "tuples": tuples,
            "results": results, "late": 0, "malformed": 0, "faults": 0, "shed": 0,
            "frequency": frequencies[last.before.frequency] if len(frequencies) > 1 else NAN,
            "power": sum(one.measured["power"] for one in together), "power_is_measured": False, "latency": latency}


def _step(number: int, operator: str, log: Log, one: Noted) -> dict:
    measured = one.measured
    latency = measured["latency_quantile"] if log.goals.quantile else measured["latency"]
    foretold = None if one.foretold is None else {"setting": _setting(one.before, log), **one.foretold}
    return {"schema": SCHEMA, "kind": "step", "uptime": one.time, "step": number, "operator": operator,
            "policy": log.policy, "measured": dict(measured),
            "outcome": {"expected": foretold, "utilisation": measured["busy"], "latency": latency,
                        "throughput": one.throughput, "error": one.error},
            "before": _setting(one.before, log), "forecast": one.forecast,
            "expected": {"setting": _setting(one.wanted, log), **one.expected}, "alternatives": [],
            "decision": _setting(one.wanted, log), "after": _setting(one.after, log), "acted": one.after != one.before,
            "rebalanced": one.rebalanced, "heavy_keys": 0, "fell_back": one.fell_back, "reason": one.reason,
            "held": one.held}


def _setting(setting: Setting, log: Log) -> dict:
    named = setting.alternate < len(log.alternates)
    return {"workers": setting.workers, "frequency": setting.frequency,
            "alternate": log.alternates[setting.alternate] if named else None, "shed": setting.shed}


def _known(value: object) -> object:
    """null where a number is not known."""
    if isinstance(value, dict):
        return {name: _known(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_known(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
