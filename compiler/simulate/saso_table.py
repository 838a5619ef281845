"""The results of an experiment as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .experiment import Experiment, Interval, Result
from .trial import Operator

# figure, heading, factor
COLUMNS = (("reconfigurations", "reconf.", 1.0), ("violations", "violations", 1.0), ("workers", "workers", 1.0),
           ("power", "power %", 1.0), ("amplitude", "amplitude", 1.0), ("settling", "settling s", 1.0),
           ("latency", "mean ms", 1e3), ("latency_p95", "p95 ms", 1e3))


def to_text(app: str, experiment: Experiment, results: Sequence[Result], seeds: int, assumed: Sequence[str]) -> str:
    seconds = len(experiment.operators[0].arrivals.rates)
    lines = [f"{app}: {seconds} s, {seeds} seed{'s' * (seeds > 1)}, {experiment.cores} cores; mean"
             + (" ± half of the 95 % confidence interval" if seeds > 1 else "")]
    for operator in experiment.operators:
        own = [result for result in results if result.operator == operator.name]
        lines += ["", described(operator, own), "", *table(own)]
    lines += ["", "violations: seconds that missed the goal; power: of all cores at the highest frequency, by the "
              "model; amplitude: mean distance of neighbouring settings;",
              "settling: from missing the goal to keeping it"]
    lines += ["", "assumed:", *(f"  {what}" for what in assumed)] if assumed else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def latency_goals(operator: Operator, results: Sequence[Result]) -> list[float]:
    """Seconds, of the lines of the table: `--set goal` may have replaced the program's."""
    found = dict.fromkeys(step.goal for result in results for step in result.first.steps[:1])
    return [goal for goal in found or (operator.goals.latency,) if goal == goal]


def described(operator: Operator, results: Sequence[Result]) -> str:
    bounds = " or ".join(f"{goal * 1e3:g}" for goal in latency_goals(operator, results))
    goals = [f"{'mean' if not operator.goals.quantile else f'{operator.goals.quantile:g} quantile of'} latency at most "
             f"{bounds} ms"] if bounds else []
    if operator.goals.throughput == operator.goals.throughput:
        goals.append(f"throughput at least {operator.goals.throughput:g}")
    keys = operator.arrivals.keys
    return (f"{operator.name}: {len(keys)} keys, the heaviest {keys.max():.2%}; "
            f"{' and '.join(goals) or 'no goal'}")


def table(results: Sequence[Result]) -> list[str]:
    width = max(len("policy"), *(len(result.variant) for result in results))
    rows = [[cell(result.figures[name], factor) for name, _, factor in COLUMNS] for result in results]
    widths = [max(len(heading), *(len(row[at]) for row in rows)) for at, (_, heading, _) in enumerate(COLUMNS)]
    heads = "  ".join(f"{heading:>{size}}" for (_, heading, _), size in zip(COLUMNS, widths, strict=True))
    return [f"{'policy':{width}}  {heads}",
            *(f"{result.variant:{width}}  "
              + "  ".join(f"{word:>{size}}" for word, size in zip(row, widths, strict=True))
              for result, row in zip(results, rows, strict=True))]


def cell(interval: Interval, factor: float = 1.0) -> str:
    if math.isnan(interval.mean):
        return "-"
    half = "" if math.isnan(interval.half) else f" ± {_short(interval.half * factor)}"
    return _short(interval.mean * factor) + half


def _short(value: float) -> str:
    if abs(value) < 1e-9:  # what is left of rounding
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def to_data(app: str, experiment: Experiment, results: Sequence[Result], seeds: int, assumed: Sequence[str]) -> dict:
    return {"app": app, "cores": experiment.cores, "seeds": seeds,
            "seconds": len(experiment.operators[0].arrivals.rates), "assumed": list(assumed),
            "results": [{"operator": one.operator, "policy": one.variant,
                         **{name: {"mean": _known(found.mean), "half_interval": _known(found.half)}
                            for name, found in one.figures.items()}} for one in results]}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
