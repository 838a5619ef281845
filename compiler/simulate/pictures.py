"""Pictures of an experiment: what came, and for each policy the workers, the frequency and the latency, second by
second (first seed); and one HTML page with the table. Everything stands in the files themselves."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from dfc.compiler.failure import Usage

from .decision_log import write_logs
from .experiment import Experiment, Result
from .saso_table import COLUMNS, cell, described, latency_goals
from .trial import Operator

COLOURS = ("#2563a8", "#d9822b", "#2e7d4f", "#c0392b", "#7a4fa3", "#1b8a8f", "#8a6d1b", "#b0488a")
INK, SOFT, GRID, GOAL = "#1f2933", "#5f6b76", "#e3e8ec", "#c0392b"
_WIDTH, _HEIGHT, _LEFT, _GAP = 900, 130, 70, 34
_STYLE = ("body{font:15px/1.5 Helvetica,Arial,'Liberation Sans',sans-serif;color:#1f2933;max-width:960px;"
          "margin:2em auto;padding:0 1em}table{border-collapse:collapse;font-size:13px}"
          "td,th{padding:.25em .7em;text-align:right;"
          "border-bottom:1px solid #e3e8ec}td:first-child,th:first-child{text-align:left}"
          "svg{max-width:100%;height:auto}")

Line = tuple[str, str, Sequence[float]]  # title, colour, a value for each step


def write_pictures(folder: str, app: str, experiment: Experiment, results: Sequence[Result]) -> None:
    """index.html, a picture for each operator, runs.json with the steps of the first seed, and a folder for each
    variant with its decision log."""
    out = Path(folder)
    try:
        out.mkdir(parents=True, exist_ok=True)
        parts = []
        for operator in experiment.operators:
            own = [one for one in results if one.operator == operator.name]
            picture = draw(operator, own)
            (out / f"{operator.name}.svg").write_text(picture, encoding="utf-8")
            parts += [f"<h2>{escape(described(operator, own))}</h2>", html_table(own), picture]
        (out / "index.html").write_text(page(f"{app}, simulated", parts), encoding="utf-8")
        write_logs(out, app, {(one.variant, one.operator): one.first.log for one in results})
        (out / "runs.json").write_text(json.dumps(_runs(results)) + "\n", encoding="utf-8")
    except OSError as error:
        raise Usage(f"{folder}: {error.strerror}") from None


def _runs(results: Sequence[Result]) -> list[dict]:
    return [{"operator": one.operator, "policy": one.variant, "decisions": one.first.reasons,
             "steps": [{name: None if isinstance(value, float) and math.isnan(value) else value
                        for name, value in asdict(step).items()} for step in one.first.steps]} for one in results]


def page(title: str, parts: Sequence[str]) -> str:
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
            f"<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>\n" + "\n".join(parts) + "\n</body></html>\n")


def html_table(results: Sequence[Result]) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for _, heading, _ in COLUMNS)
    rows = "".join(f"<tr><td>{escape(one.variant)}</td>"
                   + "".join(f"<td>{escape(cell(one.figures[name], factor))}</td>" for name, _, factor in COLUMNS)
                   + "</tr>" for one in results)
    return f"<table><tr><th>policy</th>{head}</tr>{rows}</table>"


def draw(operator: Operator, results: Sequence[Result]) -> str:
    """The panels of one operator, as an SVG."""
    shown = list(zip(results, COLOURS, strict=False))
    first = results[0].first
    goals = latency_goals(operator, results)
    times = [step.time for step in first.steps]
    panels = [("triggers a second", [("", SOFT, first.rates)], None),
              ("workers", [(one.variant, colour, [step.workers for step in one.first.steps]) for one, colour in shown],
               None)]
    if len(operator.limits.frequencies) > 1:
        panels.append(("frequency, GHz", [(one.variant, colour, [step.frequency / 1e9 for step in one.first.steps])
                                          for one, colour in shown], None))
    panels.append(("latency, ms", [(one.variant, colour, [step.latency * 1e3 for step in one.first.steps])
                                   for one, colour in shown], goals[0] * 1e3 if len(goals) == 1 else None))
    height = 50 + len(panels) * (_HEIGHT + _GAP)
    parts = [_key(shown)]
    for number, (title, lines, goal) in enumerate(panels):
        parts += _panel(title, lines, goal, times, 46 + number * (_HEIGHT + _GAP))
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="Helvetica, Arial, sans-serif" '
            f'font-size="11">\n{body}\n</svg>\n')


def _key(shown: Sequence[tuple[Result, str]]) -> str:
    x, parts = _LEFT, []
    for one, colour in shown:
        parts.append(f'<rect x="{x:.0f}" y="8" width="12" height="9" rx="2" fill="{colour}"/>'
                     f'<text x="{x + 17:.0f}" y="17" fill="{SOFT}">{escape(one.variant)}</text>')
        x += 34 + 6.2 * len(one.variant)
    return "".join(parts)


def _panel(title: str, lines: Sequence[Line], goal: float | None, times: Sequence[float], top: float) -> list[str]:
    known = [value for _, _, values in lines for value in values if math.isfinite(value)]
    shown_goal = goal if goal is not None and math.isfinite(goal) else None
    most = _ceiling(known, shown_goal)
    end = times[-1] if times else 1.0

    def at(time: float, value: float) -> str:
        return (f"{_LEFT + (_WIDTH - _LEFT - 20) * time / end:.1f},"
                f"{top + _HEIGHT * (1 - min(value, most) / most):.1f}")

    parts = [f'<text x="{_LEFT}" y="{top - 5:.0f}" fill="{INK}" font-weight="bold">{escape(title)}</text>']
    for part in range(5):
        value = most * part / 4
        y = top + _HEIGHT * (1 - part / 4)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - 20}" stroke="{GRID}"/>'
                     f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" fill="{SOFT}" text-anchor="end">{_tick(value)}</text>')
    for name, colour, values in lines:
        points = " ".join(at(time, value) for time, value in zip(times, values, strict=True) if math.isfinite(value))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3">'
                     f"<title>{escape(name or title)}</title></polyline>")
    if shown_goal is not None:
        parts.append(f'<path d="M{at(0, shown_goal).replace(",", " ")}L{at(end, shown_goal).replace(",", " ")}" '
                     f'stroke="{GOAL}" stroke-dasharray="5 4"/>')
    parts.append(f'<text x="{_WIDTH - 20}" y="{top + _HEIGHT + 13:.0f}" fill="{SOFT}" text-anchor="end">'
                 f"{end:g} s</text>")
    return parts


def _tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ceiling(known: Sequence[float], goal: float | None) -> float:
    """The top of the axis: the largest value, or, where a few peaks would press all else flat, four times the goal."""
    most = max(known, default=1.0) or 1.0
    return max(goal * 1.1, min(most, 4 * goal)) if goal else most
