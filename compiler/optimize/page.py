"""The page of a search: why this plan. One HTML file that loads nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..report.chart import PAGE, Sheet, Theme, xml
from ..report.scatter import Dot, scatter
from ..report.style import STYLE
from ..report.units import UNKNOWN, clock_text, rate_text, time_text
from ..simulate.trial import Operator, Played
from .outcome import COLUMNS, Outcome, control_text, latency_text, operators_text

Timeline = Sequence[tuple[Operator, Played]]
_RESOURCES = {"cores": "cores in use, on average", "power": "power, % of all cores at the highest frequency"}
_MOST_ROWS = 60
_WORDS = {"violations": "accuracy: seconds that missed a goal", "cores": "overshoot: cores in use",
          "power": "overshoot: power, % of all cores", "reconfigurations": "stability: changes",
          "settling": "settling: seconds from missing a goal to keeping it", "value": "value of the alternates in use"}


def page(outcome: Outcome, before: Timeline, after: Timeline) -> str:
    """`before` and `after`: the first seed's run of the plan as it stands and of the recommended one."""
    title = f"{outcome.app}: search for a plan"
    body = [f"<h1>{xml(title)}</h1>", f"<p>{xml(_about(outcome))}</p>", _cards(outcome), "<h2>By how much</h2>",
            _compared(outcome), "<h2>What is given for what</h2>",
            f"<figure>{front_picture(outcome)}</figure>", _front_table(outcome),
            "<h2>The recorded load, before and after</h2>"]
    body += [f"<figure>{timeline(name, before[at], after[at])}</figure>" for at, name in
             enumerate(one["name"] for one in outcome.scene["operators"])]
    body += ["<h2>Assumed</h2>", "<ul>" + "".join(f"<li>{xml(what)}</li>" for what in outcome.assumed) + "</ul>"]
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{xml(title)}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n")


def _about(outcome: Outcome) -> str:
    goals = outcome.scene["operators"][0]["goals"]
    wanted = [f"latency at most {time_text(goals['latency'])}"] if goals["latency"] is not None else []
    wanted += [f"throughput at least {goals['throughput']:g}"] if goals["throughput"] is not None else []
    wanted += [f"as little {outcome.resource} as possible"]
    ended = "" if outcome.complete else ", interrupted; `--resume` goes on"
    return (f"{clock_text(outcome.seconds)} of recorded load on {outcome.scene['cores']} cores, played by the "
            f"simulator with the controllers that programs run; {outcome.runs} of {outcome.budget} runs{ended}. "
            f"Goals: {', '.join(wanted)}. Figures are means of {outcome.seeds} seeds, for the operators together.")


def _cards(outcome: Outcome) -> str:
    old, new = outcome.figures[outcome.standing], outcome.figures[outcome.best]
    cards = [("seconds that miss a goal", f"{old['violations']:.1f} → {new['violations']:.1f}"),
             ("cores in use", f"{old['cores']:.2f} → {new['cores']:.2f}"),
             ("changes", f"{old['reconfigurations']:.0f} → {new['reconfigurations']:.0f}"),
             ("95 % of results within", f"{latency_text(outcome, outcome.standing)} → "
                                        f"{latency_text(outcome, outcome.best)}")]
    return "<dl>" + "".join(f"<div><dt>{xml(name)}</dt><dd>{xml(value)}</dd></div>" for name, value in cards) + "</dl>"


def _compared(outcome: Outcome) -> str:
    old, new = outcome.figures[outcome.standing], outcome.figures[outcome.best]
    rows = [(_WORDS[name], f"{old[name]:.{digits}f}", f"{new[name]:.{digits}f}", _change(old[name], new[name]))
            for name, _, digits in COLUMNS]
    told = [("operators", *(operators_text(outcome.candidates[key]) for key in (outcome.standing, outcome.best)), ""),
            ("controller", *(control_text(outcome.candidates[key]) for key in (outcome.standing, outcome.best)), "")]
    return _table(("", "as compiled now", "recommended", "change"), rows) + \
        _table(("", "as compiled now", "recommended"), [row[:3] for row in told], numbers=False)


def _change(old: float, new: float) -> str:
    if not math.isfinite(old) or not math.isfinite(new) or old == 0:
        return UNKNOWN
    return f"{(new - old) / old:+.0%}"


def front_picture(outcome: Outcome, theme: Theme = PAGE) -> str:
    """Violations over resources; the front is solid. What missed more than half of the time, and more than the plan as
    it stands, is not shown."""
    shown = {outcome.standing, *outcome.front}
    most = max(outcome.seconds / 2, outcome.figures[outcome.standing]["violations"])
    dots = []
    for key, figures in (outcome.others | outcome.figures).items():
        if key in shown or figures["violations"] <= most:
            ring = "recommended" if key == outcome.best else "as compiled now" if key == outcome.standing else ""
            words = f"{_figures_text(figures)}\n{operators_text(outcome.candidates[key])}\n" \
                    f"{control_text(outcome.candidates[key])}"
            dots.append(Dot(figures[outcome.resource], figures["violations"],
                            outcome.candidates[key]["control"]["policy"], words, key in outcome.front, ring))
    return scatter("Trade-off front", _RESOURCES[outcome.resource], "seconds that missed a goal", dots, theme)


def _figures_text(figures: Mapping[str, float]) -> str:
    return ", ".join(f"{head} {figures[name]:.{digits}f}" for name, head, digits in COLUMNS)


def _front_table(outcome: Outcome) -> str:
    rows = []
    for key in outcome.front[:_MOST_ROWS]:
        mark = " (recommended)" if key == outcome.best else " (as compiled now)" if key == outcome.standing else ""
        candidate = outcome.candidates[key]
        rows.append((f"{control_text(candidate)}; {operators_text(candidate)}{mark}",
                     *(f"{outcome.figures[key][name]:.{digits}f}" for name, _, digits in COLUMNS)))
    left = len(outcome.front) - len(rows)
    more = f"<p class=soft>{left} more are left out.</p>" if left > 0 else ""
    return _table(("on the front", *(head for _, head, _ in COLUMNS)), rows) + more


def timeline(name: str, before: tuple[Operator, Played], after: tuple[Operator, Played], theme: Theme = PAGE) -> str:
    """Rate, workers and latency of one operator, as it is and as it would be."""
    end = max(one.steps[-1].time for _, one in (before, after))
    sheet = Sheet(f"{name} under the recorded load", end, theme)
    rates = [(step.time, rate) for step, rate in zip(after[1].steps, after[1].rates, strict=True)]
    panel = sheet.panel("triggers a second", top=max(rate for _, rate in rates) * 1.05, form=rate_text)
    panel.line(rates, theme.curves[7], width=1.2)
    told = (("as compiled now", before[1], theme.curves[1]), ("recommended", after[1], theme.curves[0]))
    most = max(step.workers for _, one, _ in told for step in one.steps)
    panel = sheet.panel("workers", top=most * 1.1, form=lambda value: f"{value:g}", whole=True)
    for words, one, colour in told:
        panel.line([(step.time, step.workers) for step in one.steps], colour)
        panel.key(colour, words)
    _latencies(sheet, told, before[0].goals.latency, theme)
    return sheet.svg()


def _latencies(sheet: Sheet, told: Iterable[tuple[str, Played, str]], goal: float, theme: Theme) -> None:
    told = list(told)
    known = [step.latency for _, one, _ in told for step in one.steps if 0 < step.latency < math.inf]
    if not known:
        return
    top, bottom = max([*known, goal] if goal == goal else known) * 1.2, min(known) * 0.8
    panel = sheet.panel("latency", height=130, top=top, bottom=bottom, form=time_text)
    for _, one, colour in told:
        panel.line([(step.time, step.latency if step.latency > 0 else math.nan) for step in one.steps], colour)
    if goal == goal:
        panel.rule(goal, "goal")


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]], numbers: bool = True) -> str:
    """What stands behind the first column are numbers, or words."""
    def row(kind: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(f"<{kind}{' class=n' if at and numbers else ''}>{xml(text)}</{kind}>"
                                for at, text in enumerate(cells)) + "</tr>"

    return "<div class=wide><table>" + row("th", head) + "".join(row("td", one) for one in rows) + "</table></div>"
