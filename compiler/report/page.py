"""The page of a run: one HTML file that loads nothing, in the reader's light or dark colours."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

from .chart import xml
from .curves import change, curves
from .log import Decision, Run, mean_error
from .saso import Saso
from .style import STYLE
from .units import UNKNOWN, clock_text, count_text, hertz_text, rate_text, share_text, time_text

MOST_ROWS = 2000  # of a table: a browser shows more only slowly


def page(runs: Sequence[Run]) -> str:
    first = runs[0]
    title = f"{first.start.get('app', first.name)}: report of {'a run' if len(runs) == 1 else f'{len(runs)} runs'}"
    body = [f"<h1>{xml(title)}</h1>"]
    if len(runs) > 1:
        body += ["<h2>All runs</h2>", figures_table(runs)]
    for run in runs:
        body += _run_sections(run, named=len(runs) > 1)
    body.append(_LEGEND)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{xml(title)}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>\n</html>\n")


def _run_sections(run: Run, named: bool) -> list[str]:
    parts = [f"<h2>{xml(run.name)}</h2>"] if named else []
    parts += [f"<p>{xml(_about(run))}</p>", _cards(run), f'<figure>{curves(run)}</figure>']
    if not named and run.operators:
        parts += ["<h2>Figures</h2>", figures_table([run])]
    parts += ["<h2>Decisions</h2>", *_decisions(run), *_events(run), *_configuration(run)]
    if run.unread:
        parts.append(f"<p class=soft>Lines of the log that could not be read: {run.unread}.</p>")
    return parts


# --- the head ---------------------------------------------------------------------------------------


def goals_text(run: Run) -> str:
    parts = []
    if run.latency_goal > 0:
        parts.append(f"latency {run.statistic} ≤ {time_text(run.latency_goal)}")
    if run.throughput_goal > 0:
        parts.append(f"throughput ≥ {share_text(run.throughput_goal)}")
    if run.goals.get("value") is not None:
        parts.append(f"value ≥ {run.goals['value']:g}")
    if run.goals.get("minimize"):
        parts.append(f"as little {run.goals['minimize']} as possible")
    return ", ".join(parts) or "none"


def _about(run: Run) -> str:
    policies = sorted({one.policy for all_ in run.operators.values() for one in all_})
    words = [f"{clock_text(run.duration)}, goals: {goals_text(run)}"]
    if policies:
        words.append(f"policy: {', '.join(policies)}")
    if run.start.get("step_seconds"):
        words.append(f"a decision every {time_text(run.start['step_seconds'])}")
    if run.start.get("shadow"):
        words.append("shadow: decisions were not acted on")
    if run.start.get("version"):
        words.append(f"version {run.start['version']}")
    return "; ".join(words) + "."


def _cards(run: Run) -> str:
    cards = []
    totals = run.totals
    if totals:
        cards += [("tuples read", count_text(totals["tuples"])), ("results", count_text(totals["results"])),
                  ("mean rate", rate_text(totals["tuples"] / run.duration if run.duration else None))]
        cards += [(name, count_text(totals[name])) for name in ("late", "malformed", "faults", "shed") if totals[name]]
    latency = (run.stats or {}).get("latency_us") or {}
    cards += [(f"latency {name}", time_text(latency[name] / 1e6)) for name in ("mean", "p99") if name in latency]
    for name, found in run.figures().items():
        of = f" of {name}" if len(run.operators) > 1 else ""
        cards += [(f"changes{of}", count_text(found.reconfigurations)),
                  (f"steps above the goal{of}", f"{found.violations} ({share_text(found.violation_share)})"),
                  (f"mean workers{of}", count_text(found.workers))]
    return "<dl>" + "".join(f"<div><dt>{xml(name)}</dt><dd>{xml(value)}</dd></div>" for name, value in cards) + "</dl>"


# --- figures ----------------------------------------------------------------------------------------

_FIGURES = (
    ("steps", lambda found: count_text(found.steps)),
    ("changes", lambda found: count_text(found.reconfigurations)),
    ("steps above the goal", lambda found: f"{found.violations} ({share_text(found.violation_share)})"),
    ("how far above", lambda found: UNKNOWN if math.isnan(found.mean_excess) else f"× {found.mean_excess:.2f}"),
    ("mean workers", lambda found: count_text(found.workers)),
    ("most workers", lambda found: count_text(found.peak_workers)),
    ("mean frequency", lambda found: hertz_text(found.frequency)),
    ("mean power", lambda found: count_text(found.power)),
    ("amplitude", lambda found: count_text(found.amplitude)),
    ("amplitude of a change", lambda found: count_text(found.change_amplitude)),
    ("settling time", lambda found: time_text(found.settling) + ("*" if found.unsettled else "")),
    ("longest", lambda found: time_text(found.worst_settling)),
)


def figures_rows(runs: Sequence[Run]) -> list[tuple[str, str, Saso, float]]:
    """Run, operator, figures, mean error of the predictions."""
    return [(run.name, name, found, mean_error(run.operators[name]))
            for run in runs for name, found in run.figures().items()]


def figures_cells(runs: Sequence[Run]) -> list[list[str]]:
    """A table with its head; columns of which nothing is known are left out."""
    rows = figures_rows(runs)
    heads = ["run"] * (len(runs) > 1) + ["operator", *(name for name, _ in _FIGURES), "prediction error"]
    cells = [[run] * (len(runs) > 1) + [operator, *(form(found) for _, form in _FIGURES), share_text(error)]
             for run, operator, found, error in rows]
    known = [number for number in range(len(heads)) if any(row[number] != UNKNOWN for row in cells)]
    return [[row[number] for number in known] for row in [heads, *cells]]


def figures_table(runs: Sequence[Run]) -> str:
    head, *rows = figures_cells(runs)
    return _table(head, rows, numbers=1)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], numbers: int | None = None) -> str:
    """`numbers`: the column from which on cells are numbers."""
    def cell(kind: str, number: int, text: str) -> str:
        side = " class=n" if numbers is not None and number >= numbers else ""
        return f"<{kind}{side}>{xml(text)}</{kind}>"

    def row(kind: str, cells: Iterable[str]) -> str:
        return "<tr>" + "".join(cell(kind, number, text) for number, text in enumerate(cells)) + "</tr>"

    return "<div class=wide><table>" + row("th", head) + "".join(row("td", one) for one in rows) + "</table></div>"


# --- decisions --------------------------------------------------------------------------------------


def _decisions(run: Run) -> list[str]:
    changed = run.changes()
    if not run.operators:
        return ["<p>No operator of this program can be controlled.</p>"]
    parts = ["<p>Nothing was changed.</p>"] if not changed else [
        _table(("time", "operator", "change", "reason", "latency foretold", "and measured"),
               ((clock_text(one.time), one.operator, change(one), one.reason, time_text(one.foretold),
                 time_text(one.measured)) for one in changed[:MOST_ROWS]))]
    if len(changed) > MOST_ROWS:
        parts.append(f"<p class=soft>The first {MOST_ROWS} of {len(changed)}; the log has them all.</p>")
    for name, all_ in run.operators.items():
        parts.append(f"<details><summary>All steps of {xml(name)}</summary>{_steps(all_)}</details>")
    return parts


def _steps(decisions: Sequence[Decision]) -> str:
    rows = [(clock_text(one.time), str(one.before.workers), one.before.alternate or "", rate_text(one.rate),
             rate_text(one.forecast), time_text(one.service), share_text(one.utilisation), count_text(one.backlog),
             time_text(one.latency), share_text(one.error), one.why) for one in decisions[:MOST_ROWS]]
    table = _table(("time", "workers", "alternate", "rate", "forecast", "service time", "load", "backlog", "latency",
                    "prediction error", "reason"), rows)
    more = f"<p class=soft>The first {MOST_ROWS} of {len(decisions)}.</p>" if len(decisions) > MOST_ROWS else ""
    return table + more


def _events(run: Run) -> list[str]:
    if not run.events:
        return []
    rows = [(clock_text(one.time), one.event, one.detail) for one in run.events[:MOST_ROWS]]
    return ["<h2>Events</h2>", _table(("time", "event", "detail"), rows)]


def _configuration(run: Run) -> list[str]:
    configuration = run.start.get("configuration")
    if not configuration:
        return []
    text = json.dumps(configuration, indent=2, ensure_ascii=False)
    return [f"<details><summary>Configuration at the start</summary><pre>{xml(text)}</pre></details>"]


_LEGEND = """<h2>How to read this</h2>
<ul>
<li>Shaded: steps whose latency was above the goal. Points on the curve of workers: changes; the pointer shows why.</li>
<li><b>Changes</b> tell about stability, <b>steps above the goal</b> about accuracy, <b>mean workers</b> and power about
overshoot: more than was needed.</li>
<li><b>Amplitude</b>: mean distance between the settings of neighbouring steps (workers; frequency in steps of 0.1 GHz),
and the same over the steps that changed something. <b>Settling time</b>: from the first step above the goal until it is
kept for three steps, on average; * when the run ended before.</li>
<li><b>Prediction error</b>: how far the latency (or load) that was foretold for a step lay from the measured one.</li>
</ul>"""
