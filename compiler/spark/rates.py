"""How tuples come: rates at several resolutions, and how bursty they are.

The index of dispersion is the variance of counts over their mean: 1 when tuples come by chance, thousands in bursty
traffic (001 §2.2, measured over 1 s). The Hurst exponent says how slowly bursts average out: the variance of means over
m slots falls like m^(2H−2); 0.5 is chance, towards 1 it looks the same at every time scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

RESOLUTIONS = (0.001, 0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 86400.0)  # seconds
MOST_BINS = 1 << 21  # of the finest resolution
MOST_POINTS = 1000  # of a series in the profile
_LEAST_COUNTS, _LEAST_MEANS = 16, 64  # below, a variance says nothing
_QUANTILES = (0.05, 0.5, 0.95, 0.99)
_HURST_FROM = 0.1  # seconds: below, chance hides what is behind it


def finest(span: float, unit: float) -> float:
    """The resolution to count at, of `span` seconds in units of so many seconds."""
    usable = [one for one in RESOLUTIONS if one >= unit * 0.999 and span / one <= MOST_BINS]
    return usable[0] if usable else max(RESOLUTIONS[-1], unit)


def counts_of(bins: Mapping[int, int]) -> np.ndarray:
    """All bins from the first to the last, those without tuples too."""
    at = np.fromiter(bins.keys(), np.int64, len(bins))
    counts = np.zeros(int(at.max()) + 1 if len(at) else 0, np.int64)
    counts[at] = np.fromiter(bins.values(), np.int64, len(bins))
    return counts


def coarser(counts: np.ndarray, times: int) -> np.ndarray:
    """Whole bins only: the last, which the trace does not fill, is left out."""
    whole = len(counts) // times * times
    return counts[:whole].reshape(-1, times).sum(axis=1)


def arrivals(counts: np.ndarray, every: float, gaps: Sequence[tuple[int, int, float, float]]) -> dict[str, object]:
    """Everything about one source; `every` is the seconds of a bin."""
    whole = counts[:-1] if len(counts) > 1 else counts
    scales = [(one, max(1, round(one / every))) for one in RESOLUTIONS if one >= every * 0.999]
    by_scale = {one: coarser(whole, times) for one, times in scales if len(whole) // times >= 2}
    return {"gaps": gap_figures(gaps),
            "scales": [_scale(one, found) for one, found in by_scale.items()],
            "dispersion": index_of_dispersion(by_scale), "hurst": hurst(whole, every),
            "series": [{"seconds": one, "rates": [_short(count / one) for count in found.tolist()]}
                       for one, found in by_scale.items() if 8 <= len(found) <= MOST_POINTS]}


def gap_figures(gaps: Sequence[tuple[int, int, float, float]]) -> dict[str, float] | None:
    """Times between tuples; in the order of pieces, since sums of floats depend on it."""
    ordered = sorted(gaps)
    count = sum(one[1] for one in ordered)
    if count < 2:
        return None
    mean = math.fsum(one[2] for one in ordered) / count
    variance = max(0.0, math.fsum(one[3] for one in ordered) - count * mean * mean) / (count - 1)
    return {"mean": _short(mean), "sigma": _short(math.sqrt(variance)),
            "cv": _short(math.sqrt(variance) / mean) if mean > 0 else None}


def _scale(seconds: float, counts: np.ndarray) -> dict[str, object]:
    rates = counts / seconds
    found = {"seconds": seconds, "bins": len(counts), "dispersion": _dispersion(counts),
             "lowest": _short(rates.min()), "highest": _short(rates.max())}
    return found | {f"p{round(100 * one):02}": _short(np.quantile(rates, one)) for one in _QUANTILES}


def _dispersion(counts: np.ndarray) -> float | None:
    mean = counts.mean()
    return _short(counts.var(ddof=1) / mean) if len(counts) >= _LEAST_COUNTS and mean > 0 else None


def index_of_dispersion(by_scale: Mapping[float, np.ndarray]) -> dict[str, object] | None:
    """Over one second, as in 001, or the next coarser resolution; with the time it was estimated from."""
    for seconds, counts in by_scale.items():
        found = _dispersion(counts) if seconds >= 1 else None
        if found is not None:
            return {"value": found, "seconds": seconds, "span": _short(seconds * len(counts))}
    return None


def hurst(counts: np.ndarray, every: float) -> dict[str, object] | None:
    """By the variance of means over growing times, with those times: the estimation window."""
    base = max(1, math.ceil(_HURST_FROM / every - 1e-9))
    counts = coarser(counts, base).astype(np.float64)
    scales = sorted({round(10 ** (power / 2)) for power in range(0, 16)})
    usable = [one for one in scales if len(counts) // one >= _LEAST_MEANS]
    variances = [coarser(counts, one).var() / one ** 2 for one in usable]
    if len(usable) < 4 or min(variances) <= 0:
        return None
    slope = np.polyfit(np.log(usable), np.log(variances), 1)[0]
    return {"value": _short(min(max(1 + float(slope) / 2, 0.0), 1.0)), "from": _short(every * base),
            "to": _short(every * base * usable[-1])}


def _short(value: float) -> float:
    """Six digits: more would be noise, and would differ between machines."""
    return float(f"{value:.6g}")


short = _short
