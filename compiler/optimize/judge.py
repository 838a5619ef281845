"""Which candidates are better: the trade-off front of the SASO properties, and the point of it for a program's goals.

Accuracy is seconds that missed a goal, overshoot the cores or the power in use, stability the changes, settling the
time until a goal is kept again (report/saso.py); where there are alternates, or tuples may be shed, also what that
costs in value.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

from ..report.saso import mean
from ..simulate.task import FIGURES

Figures = Mapping[str, float]
NEAR = 0.01  # of all seconds: candidates that miss the goals by so much more are as accurate as the best
_FEW_CORES = 0.01


def averaged(runs: Sequence[Figures]) -> dict[str, float]:
    return {name: mean(run[name] for run in runs) for name in FIGURES}


def resource_of(minimize: str | None) -> str:
    return "power" if minimize == "power" else "cores"


def objectives(figures: Figures, resource: str) -> tuple[float, ...]:
    """All of them are to be small."""
    kept = figures["value"] * (1 - figures["shed"])
    found = (figures["violations"], figures[resource], figures["reconfigurations"], figures["settling"], 1 - kept)
    return tuple(math.inf if math.isnan(value) else value for value in found)


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True)) and tuple(one) != tuple(other)


def layers(points: Mapping[Hashable, Sequence[float]]) -> dict[Hashable, int]:
    """0 for the front, 1 for what would be the front without it, and so on (nondominated sorting)."""
    found: dict[Hashable, int] = {}
    left = dict(points)
    while left:
        front = [key for key, one in left.items() if not any(dominates(other, one) for other in left.values())]
        found |= dict.fromkeys(front, len(set(found.values())))
        for key in front:
            del left[key]
    return found


def ranked(found: Mapping[str, Figures], resource: str, seconds: float) -> list[str]:
    """Best first: by layer, within one by what is recommended; ties by the candidates' names."""
    points = {key: objectives(one, resource) for key, one in found.items()}
    layer = layers(points)
    return sorted(found, key=lambda key: (layer[key], *_preference(found[key], resource, seconds), key))


def front(found: Mapping[str, Figures], resource: str) -> list[str]:
    """From the fewest violations to the fewest resources."""
    points = {key: objectives(one, resource) for key, one in found.items()}
    layer = layers(points)
    return sorted((key for key in points if layer[key] == 0), key=lambda key: (*points[key], key))


def recommended(found: Mapping[str, Figures], standing: str, resource: str, seconds: float) -> str:
    """Of those that miss the goals about as rarely as any, and not more often than the standing plan, the one that
    keeps the most value, then the one with the fewest resources, then the one that changes least."""
    least = min(one["violations"] for one in found.values())
    allowed = min(least + NEAR * seconds, max(found[standing]["violations"], least))
    near = {key: one for key, one in found.items() if one["violations"] <= allowed + 1e-9}
    most = max(_kept(one) for one in near.values())
    near = {key: one for key, one in near.items() if _kept(one) >= most - 0.01}
    return min(near, key=lambda key: (round(near[key][resource] / _step(near, resource)), near[key]["violations"],
                                      near[key]["reconfigurations"], near[key]["settling"], key))


def _kept(figures: Figures) -> float:
    return figures["value"] * (1 - figures["shed"])


def _step(found: Mapping[str, Figures], resource: str) -> float:
    """Resources that differ by less than a hundredth are alike."""
    return _FEW_CORES * max(1.0, min(one[resource] for one in found.values()))


def _preference(figures: Figures, resource: str, seconds: float) -> tuple[float, ...]:
    missed = figures["violations"]
    return (round(missed / max(NEAR * seconds, 1.0)), -round(_kept(figures), 2), figures[resource], missed,
            figures["reconfigurations"])
