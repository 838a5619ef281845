"""What a controller gets to see of a simulated operator: the measurements of one control step, named as in policy.h."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .plant import Slice

NAN = math.nan


@dataclass(slots=True)
class Measured:
    """`values` are fields of dfrt_measured; `loads` are utilisations of the workers in use; `weights` of the parts, NaN
    where nothing came."""

    values: dict[str, float | Sequence[float]]
    loads: np.ndarray
    weights: np.ndarray


def measure(slices: Sequence[Slice], quantile: float) -> Measured:
    """`quantile` is the one that the goal names."""
    first, last = slices[0], slices[-1]
    step = last.end - first.start
    workers = last.workers
    arrivals, done, latencies, waits, services = (_joined(slices, name) for name in (
        "arrivals", "done", "latencies", "waits", "services"))
    gaps = np.diff(arrivals)
    loads = sum(one.loads for one in slices)[:workers] / step
    weights = sum(one.weights for one in slices) / step
    values = {
        "step": step, "arrivals": float(len(arrivals)),
        "interarrival": _mean(gaps), "interarrival_sd": _deviation(gaps),
        "service": _mean(services), "service_sd": _deviation(services),
        "result_spacing_cv": _variation(np.diff(done)), "waiting": _mean(waits), "latency": _mean(latencies),
        "latency_quantile": quantile_of(latencies, quantile) if quantile else NAN,
        "results": float(len(done)), "backlog": float(last.backlog),
        "blocked": sum(float(one.held.max()) * (one.end - one.start) for one in slices) / step,
        "imbalance": float(loads.max() / loads.mean()) if loads.sum() > 0 else NAN,
        "busy": float(min(1.0, sum(one.busy[:workers].sum() for one in slices) / (workers * step))),
    }
    return Measured(values, loads, np.where(weights > 0, weights, NAN))


def quantile_of(values: np.ndarray, share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    if not len(values):
        return NAN
    place = min(len(values) - 1, max(0, math.ceil(share * len(values)) - 1))
    return float(np.partition(values, place)[place])


def _joined(slices: Sequence[Slice], name: str) -> np.ndarray:
    arrays = [getattr(one, name) for one in slices]
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else NAN


def _deviation(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else NAN


def _variation(values: np.ndarray) -> float:
    mean = _mean(values)
    return _deviation(values) / mean if mean > 0 else NAN
