"""What a search ends with, complete or interrupted: the candidates that can be compared, the front, the recommendation;
as a plan file and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...dsl import typed
from ...dsl.span import NOWHERE
from ..artifacts.plan_file import OperatorPlan, PlanFile
from ..report.units import clock_text, time_text
from .judge import front, recommended
from .runs import Runs, key_of

# figure, heading, digits behind the point
COLUMNS = (("violations", "missed s", 1), ("cores", "cores", 2), ("power", "power %", 1),
           ("reconfigurations", "changes", 1), ("settling", "settling s", 1), ("value", "value", 3))


@dataclass(frozen=True)
class Outcome:
    """`figures` are means over `seeds` of the candidates that were played with all of them, by key; `others` those of
    candidates that were dropped before."""

    app: str
    scene: Mapping[str, Any]
    candidates: Mapping[str, Mapping[str, Any]]
    figures: Mapping[str, Mapping[str, float]]
    others: Mapping[str, Mapping[str, float]]
    standing: str
    best: str
    front: Sequence[str]
    resource: str
    seconds: int
    seeds: int
    runs: int
    budget: int
    assumed: Sequence[str]

    @property
    def complete(self) -> bool:
        return self.runs >= self.budget


def conclude(app: str, scene: Mapping[str, Any], runs: Runs, standing: Mapping[str, Any], resource: str, budget: int,
             assumed: Sequence[str]) -> Outcome | None:
    """Of an interrupted search those count that were played as often as any other; None: nothing can be compared."""
    first = key_of(standing)
    seeds = {key: runs.seeds_of(key) for key in runs.candidates}
    most = min(max((count for key, count in seeds.items() if key != first), default=0), seeds.get(first, 0))
    if most == 0:
        return None
    figures = {key: runs.mean(key, most) for key, count in seeds.items() if count >= most}
    others = {key: runs.mean(key, count) for key, count in seeds.items() if 0 < count < most}
    seconds = len(scene["operators"][0]["rates"])
    return Outcome(app, scene, dict(runs.candidates), figures, others, first,
                   recommended(figures, first, resource, seconds), front(figures, resource), resource, seconds, most,
                   len(runs), budget, assumed)


def plan_file(outcome: Outcome, about: Mapping[str, Any]) -> PlanFile:
    chosen = outcome.candidates[outcome.best]
    operators = {name: OperatorPlan(_pattern(one["pattern"]), one["alternate"], one["least"], one["most"])
                 for name, one in chosen["operators"].items()}
    return PlanFile(outcome.app, outcome.scene["cores"], operators, chosen["control"], outcome.figures[outcome.best],
                    outcome.figures[outcome.standing],
                    {**about, "seconds": outcome.seconds, "seeds": outcome.seeds, "runs": outcome.runs})


def _pattern(settings: Mapping[str, Any]) -> typed.Pattern:
    return typed.Pattern(settings["name"], NOWHERE,
                         **{name: value for name, value in settings.items() if name != "name"})


# --- text -------------------------------------------------------------------------------------------


def operators_text(candidate: Mapping[str, Any]) -> str:
    """`predict: key_partitioning from 4 workers (1 to 12), average`."""
    said = []
    for name, one in candidate["operators"].items():
        pattern, span = one["pattern"], f"{one['least']} to {one['most']}"
        batch = f", batch {pattern['batch']}" if pattern.get("batch", 1) > 1 else ""
        alternate = f", {one['alternate']}" if one["alternate"] else ""
        said.append(f"{name}: {pattern['name']} from {pattern['workers']} worker{'s' * (pattern['workers'] > 1)} "
                    f"({span}){batch}{alternate}")
    return "; ".join(said)


def control_text(candidate: Mapping[str, Any]) -> str:
    """`mpc gamma 0.4 horizon 2, every 1 s, forecast holt_winters`."""
    control = candidate["control"]
    words = [control["policy"], *(f"{name} {value if isinstance(value, str) else f'{value:g}'}"
                                  for name, value in control["parameters"].items())]
    if control["policy"] == "static":
        return "static"
    return f"{' '.join(words)}, every {control['step']:g} s, cooldown {control['safety']['cooldown']}, forecast " \
           f"{control['forecast']['method']}"


def summary(outcome: Outcome) -> list[str]:
    rows = [("as compiled now", outcome.standing), ("recommended", outcome.best)]
    widths = [max(len(head), 8) for _, head, _ in COLUMNS]
    heads = "  ".join(f"{head:>{width}}" for (_, head, _), width in zip(COLUMNS, widths, strict=True))
    ended = "" if outcome.complete else f" of {outcome.budget}"
    lines = [f"{outcome.app}: {clock_text(outcome.seconds)} of recorded load, {outcome.scene['cores']} cores, "
             f"{outcome.runs}{ended} runs; means of {outcome.seeds} seed{'s' * (outcome.seeds > 1)}", "",
             f"{'':15}  {heads}"]
    for title, key in rows:
        cells = "  ".join(f"{outcome.figures[key][name]:>{width}.{digits}f}"
                          for (name, _, digits), width in zip(COLUMNS, widths, strict=True))
        lines.append(f"{title:15}  {cells}")
    lines.append("")
    for title, key in rows if outcome.best != outcome.standing else rows[:1]:
        candidate = outcome.candidates[key]
        lines.append(f"{title + ':':16} {operators_text(candidate)}; {control_text(candidate)}")
    if outcome.best == outcome.standing:
        lines.append("nothing better was found")
    lines.append(f"{len(outcome.front)} on the trade-off front of {len(outcome.figures)} that were played with every "
                 "seed")
    lines += ["", "assumed:", *(f"  {what}" for what in outcome.assumed)] if outcome.assumed else []
    return lines


def latency_text(outcome: Outcome, key: str) -> str:
    return time_text(outcome.figures[key]["latency_p95"])
