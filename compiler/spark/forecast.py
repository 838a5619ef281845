"""Weights of the forecaster that would have foretold the recorded rates best, one step ahead.

The recurrences are those of runtime_c/control/forecast.c, without season; every pair of weights of a grid is followed
at once, and the grid is refined around the best."""

from __future__ import annotations

import numpy as np

from .rates import short

MOST_STEPS = 4000  # the last ones of a long trace
_LEAST_STEPS = 50
_REFINED = 3


def fitted(rates: np.ndarray, step: float) -> dict[str, object] | None:
    """Level and trend, their root mean square error beside that of the last value; None for a short series."""
    series = rates[-MOST_STEPS:].astype(np.float64)
    if len(series) < _LEAST_STEPS or not series.any():
        return None
    level, trend, width = np.linspace(0.05, 1, 20), np.linspace(0, 1, 21), 0.05
    for _ in range(_REFINED):
        errors = squared_errors(series, level[:, None], trend[None, :])
        at = np.unravel_index(int(np.argmin(errors)), errors.shape)
        best = float(level[at[0]]), float(trend[at[1]]), float(errors[at])
        width /= 5
        level = np.clip(best[0] + width * np.arange(-5, 6), 0.01, 1)
        trend = np.clip(best[1] + width * np.arange(-5, 6), 0, 1)
    last = float(np.mean(np.diff(series)[1:] ** 2))
    return {"level": short(round(best[0], 3)), "trend": short(round(best[1], 3)), "step": step, "steps": len(series),
            "error": short(best[2] ** 0.5), "error_of_last": short(last ** 0.5)}


def squared_errors(series: np.ndarray, level: np.ndarray, trend: np.ndarray) -> np.ndarray:
    """Mean squares of one-step errors, from the third value on."""
    smoothed = np.full(np.broadcast(level, trend).shape, series[0])
    slope, total = np.zeros_like(smoothed), np.zeros_like(smoothed)
    for number, value in enumerate(series[1:], 1):
        ahead = np.maximum(smoothed + slope, 0.0)
        if number > 1:
            total += (value - ahead) ** 2
        before, smoothed = smoothed, level * value + (1 - level) * (smoothed + slope)
        slope = trend * (smoothed - before) + (1 - trend) * slope
    return total / max(1, len(series) - 2)
