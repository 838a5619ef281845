"""Logs of dfc programs as rows: of each operator and control step what was measured, of each step its counters.

What is read is what docs/CONTROL.md describes; lines that are cut off are counted, as in a report."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pyarrow as pa
from dfc.compiler.failure import Failure
from dfc.compiler.report.log import Decision, read_log

STEPS = pa.schema([("run", pa.string()), ("operator", pa.string()), ("alternate", pa.string()), ("time", pa.float64()),
                   ("rate", pa.float64()), ("service", pa.float64()), ("throughput", pa.float64()),
                   ("utilisation", pa.float64()), ("latency", pa.float64()), ("workers", pa.int64())])
COUNTERS = pa.schema([("run", pa.string()), ("step", pa.string()), ("kind", pa.string()), ("taken", pa.int64()),
                      ("given", pa.int64()), ("seconds", pa.float64())])


def decision_rows(path: Path, app: str) -> tuple[pa.Table, int]:
    """All control steps, and the number of lines that could not be read."""
    run = read_log(path)
    found = run.start.get("app", app)
    if found != app:
        raise Failure(f"`{path}` is a log of `{found}`, and this program is `{app}`")
    rows = [_row(str(path), name, one) for name, all_ in sorted(run.operators.items()) for one in all_]
    return pa.Table.from_pylist(rows, STEPS), run.unread


def _row(run: str, operator: str, one: Decision) -> dict:
    values = {"time": one.time, "rate": one.rate, "service": one.service, "throughput": one.selectivity,
              "utilisation": one.utilisation, "latency": one.latency}
    return {"run": run, "operator": operator, "alternate": one.before.alternate, "workers": one.before.workers,
            **{name: None if math.isnan(value) else value for name, value in values.items()}}


def summary_rows(path: Path, app: str) -> tuple[pa.Table, int]:
    """The counters that `--stats` prints; there are no lines to leave out."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["app"] != app:
            raise Failure(f"`{path}` is a summary of `{data['app']}`, and this program is `{app}`")
        rows = [{"run": str(path), "step": str(one["name"]), "kind": str(one["kind"]), "taken": int(one["in"]),
                 "given": int(one["out"]), "seconds": float(data["seconds"])} for one in data["steps"]]
    except (KeyError, TypeError, ValueError, OSError):
        raise Failure(f"`{path}` is no summary that this dfc reads") from None
    return pa.Table.from_pylist(rows, COUNTERS), 0
