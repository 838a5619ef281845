"""The pattern of the day and of the week, where the trace is long enough to have it twice. Hours and days are UTC."""

from __future__ import annotations

import numpy as np

from .rates import coarser, short

_HOUR, _DAY = 3600.0, 86400.0
_MONDAY = 3  # the first of January 1970 was a Thursday


def seasons(counts: np.ndarray, every: float, start: float) -> dict[str, object]:
    """`start` is the time of the first bin, in seconds since 1970. Values are relative to the mean."""
    found: dict[str, object] = {}
    for name, slot, slots, first in (("daily", _HOUR, 24, 0), ("weekly", _DAY, 7, _MONDAY)):
        skipped = int(-(-start // slot) * slot - start) / every  # to the first whole hour or day
        whole = coarser(counts[round(skipped):], max(1, round(slot / every))) / slot
        if every <= slot and len(whole) >= 2 * slots:
            found[name] = _pattern(whole, slots, int(-(-start // slot)) + first)
    return found


def _pattern(rates: np.ndarray, slots: int, first: int) -> dict[str, object]:
    """`strength` is the share of the variance that the pattern explains."""
    phase = (np.arange(len(rates)) + first) % slots
    means = np.array([rates[phase == one].mean() for one in range(slots)])
    total = rates.var()
    left = (rates - means[phase]).var()
    mean = rates.mean() or 1.0
    return {"relative": [short(one / mean) for one in means.tolist()],
            "strength": short(max(0.0, 1 - left / total)) if total > 0 else 0.0}
