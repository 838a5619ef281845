"""Decision logs as a program writes them, made by hand."""

from __future__ import annotations

import json
from pathlib import Path

GOALS = {"latency": 0.007, "quantile": None, "throughput": None, "value": None, "minimize": "cores"}


def line(kind: str, uptime: float, **more) -> dict:
    return {"schema": 1, "kind": kind, "uptime": uptime, **more}


def start(**more) -> dict:
    return line("start", 0.0, time=1.7e9, fused=False, shadow=False, step_seconds=1.0, **{
        "app": "trading", "version": "1 abc", "goals": GOALS, "configuration": {"schema": 1}, **more})


def program(step: int, latency: float | None = 0.005, rate: float | None = 100.0, **more) -> dict:
    names = ("mean", "p50", "p90", "p95", "p99", "p999", "max")
    told = {name: None if latency is None else latency * (1 + 0.2 * i) for i, name in enumerate(names)}
    return line("program", float(step), step=step, time=1.7e9 + step, rate=rate, **{
        "tuples": 100 * step, "results": step, "late": 0, "malformed": 0, "faults": 0, "shed": 0, "frequency": None,
        "power": None, "power_is_measured": False, "latency": {"count": 1, **told}, **more})


def setting(workers: int = 1, alternate: str | None = None, frequency: int = 0, shed: float = 0.0) -> dict:
    return {"workers": workers, "frequency": frequency, "alternate": alternate, "shed": shed}


def prediction(latency: float | None, **more) -> dict:
    return {"setting": setting(), "utilisation": 0.5, "latency": latency, "throughput": None, "power": None,
            "cost": None, **more}


def step(number: int, before: dict | None = None, after: dict | None = None, latency: float | None = 0.005,
         reason: str = "stays", **more) -> dict:
    before = before or setting()
    measured = {name: None for name in ("interarrival", "interarrival_sd", "service_sd", "result_spacing_cv", "waiting",
                                        "latency_quantile", "blocked", "imbalance", "power")}
    measured |= {"step": 1.0, "arrivals": 10.0, "service": 0.01, "latency": latency, "results": 10.0, "backlog": 0.0,
                 "busy": 0.5, "alternate_service": [], "alternate_selectivity": [], "moved": False}
    outcome = {"expected": prediction(0.004), "utilisation": 0.5, "latency": latency, "throughput": 1.0,
               "error": 0.2}
    return line("step", float(number), step=number, reason=reason, before=before, **{
        "operator": "predict", "policy": "mpc", "measured": measured, "outcome": outcome, "forecast": 11.0,
        "expected": prediction(0.004), "alternatives": [], "decision": after or before, "after": after or before,
        "acted": True, "fell_back": False, "held": "", **more})


def event(uptime: float, what: str, detail: str = "") -> dict:
    return line("event", uptime, event=what, detail=detail)


def write(path: Path, *rows: dict, rest: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + rest)
    return path


def story() -> list[dict]:
    """Ten steps: the goal is missed in the third and fourth; a second worker is added, and taken away in the eighth."""
    rows = [start()]
    for number in range(1, 11):
        late = number in (3, 4)
        before = setting(2 if 5 <= number <= 8 else 1)
        after = setting(2 if 4 <= number <= 7 else 1)
        why = {4: "one more worker: 9 ms are expected", 8: "one worker is enough"}.get(number, "stays")
        rows += [program(number, 0.009 if late else 0.005), step(number, before, after, 0.009 if late else 0.005, why)]
    return [*rows, event(10.0, "end", "the input has ended")]
