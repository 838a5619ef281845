"""The curves of a run: input rate, latency against the goal, workers, alternates, load, and power where it is known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from .chart import PAGE, Panel, Point, Sheet, Theme
from .log import Change, Decision, Moment, Run, Setting
from .units import clock_text, count_text, hertz_text, rate_text, share_text, time_text

SPREAD = 30.0  # a latency that is so many times another is drawn by orders of magnitude
_KNOWN = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


def curves(run: Run, theme: Theme = PAGE) -> str:
    """All of them on one sheet, as SVG."""
    title = f"{run.start.get('app', run.name)}: rate, latency, workers and decisions over time"
    sheet = Sheet(title, run.duration, theme)
    _rate(sheet, run)
    _latency(sheet, run)
    if run.operators:
        _workers(sheet, run)
        _alternates(sheet, run)
        _load(sheet, run)
    _power(sheet, run)
    sheet.hover(list(_told(run)))
    return sheet.svg()


def _top(values: Iterable[float], least: float = 0.0) -> float:
    """A little above the largest."""
    return 1.08 * max((value for value in values if math.isfinite(value)), default=least) or least or 1.0


def _spans(times: Sequence[float]) -> list[tuple[float, float]]:
    """Each step from its beginning to its end; the first is as long as the second."""
    first = max(0.0, 2 * times[0] - times[1]) if len(times) > 1 else 0.0
    return list(zip([first, *times], times, strict=False))


# --- panels -----------------------------------------------------------------------------------------


def _rate(sheet: Sheet, run: Run) -> None:
    colours = sheet.theme.curves
    if run.moments:
        panel = sheet.panel("tuples read a second", top=_top(moment.rate for moment in run.moments), form=count_text)
        panel.line([(moment.time, moment.rate) for moment in run.moments], colours[0])
    for number, (name, decisions) in enumerate(run.operators.items()):
        values = [value for one in decisions for value in (one.rate, one.forecast)]
        panel = sheet.panel(f"{name}: triggers a second", 80, top=_top(values), form=count_text)
        colour = colours[number % len(colours)]
        panel.key(colour, "measured")
        panel.line([(one.time, one.rate) for one in decisions], colour)
        foretold = [(after.time, one.forecast) for one, after in zip(decisions, decisions[1:], strict=False)]
        if any(math.isfinite(value) for _, value in foretold):
            panel.key(sheet.theme.soft, "forecast", dashed=True)
            panel.line(foretold, sheet.theme.soft, dashed=True, width=1.2)


def _latency(sheet: Sheet, run: Run) -> None:
    main, more = _latency_points(run, sheet.theme)
    known = [value for _, value in main if math.isfinite(value)]
    if not known:
        return
    goal = run.latency_goal
    everything = [*known, *(value for _, points, _ in more for _, value in points if math.isfinite(value)),
                  *([goal] if goal > 0 else [])]
    low = min((value for value in everything if value > 0), default=0.0)
    wide = low > 0 and max(everything) / low > SPREAD
    panel = sheet.panel("latency of results", 130, top=_top(everything), form=time_text,
                        bottom=low / 1.2 if wide else None)
    panel.shade(_missed_spans(run), sheet.theme.bad)
    panel.key(sheet.theme.curves[0], run.statistic)
    for name, points, colour in more:
        panel.key(colour, name, dashed=name == "predicted")
        panel.line(points, colour, width=1.1, dashed=name == "predicted")
    panel.line(main, sheet.theme.curves[0], width=1.8)
    if goal > 0:
        panel.rule(goal, f"goal: {run.statistic} at most {time_text(goal)}")


def _latency_points(run: Run, theme: Theme) -> tuple[list[Point], list[tuple[str, list[Point], str]]]:
    """The curve of the statistic that the goal names, and what is drawn thinly beside it."""
    operators = list(run.operators.values())
    more: list[tuple[str, list[Point], str]] = []
    if run.moments:
        main = [(moment.time, _of_statistic(moment, run)) for moment in run.moments]
        if run.statistic != "p99":
            more.append(("p99", [(moment.time, moment.latency.get("p99", math.nan)) for moment in run.moments],
                         theme.curves[1]))
    else:
        main = [(one.time, one.latency) for one in (operators[0] if operators else ())]
    if len(operators) == 1 and any(math.isfinite(one.expected_latency) for one in operators[0]):
        more.append(("predicted", [(one.time, one.expected_latency) for one in operators[0]], theme.soft))
    return main, more


def _of_statistic(moment: Moment, run: Run) -> float:
    name = run.statistic if run.statistic in moment.latency else _next_known(run.statistic)
    return moment.latency.get(name, math.nan)


def _next_known(statistic: str) -> str:
    """The smallest quantile that is measured and not below this one."""
    share = float(f"0.{statistic[1:]}")
    return next((name for name in _KNOWN[1:-1] if float(f"0.{name[1:]}") >= share), "max")


def _missed_spans(run: Run) -> list[tuple[float, float]]:
    if run.moments and run.latency_goal > 0:
        late = [_of_statistic(moment, run) > run.latency_goal for moment in run.moments]
        times = [moment.time for moment in run.moments]
    else:
        steps = next((run.steps_of(name) for name in run.operators), [])
        late, times = [step.violation for step in steps], [step.time for step in steps]
    return [span for span, missed in zip(_spans(times) if times else [], late, strict=True) if missed]


def _workers(sheet: Sheet, run: Run) -> None:
    colours = sheet.theme.curves
    changes = run.changes()
    most = max(max(one.before.workers, one.after.workers) for all_ in run.operators.values() for one in all_)
    panel = sheet.panel("workers", 110, top=most + 0.5, form=count_text, whole=True)
    for number, (name, decisions) in enumerate(run.operators.items()):
        colour = colours[number % len(colours)]
        panel.key(colour, name)
        spans = _spans([one.time for one in decisions])
        panel.stairs([(*span, one.before.workers) for span, one in zip(spans, decisions, strict=True)], colour)
        for one in changes:
            if one.operator == name:
                words = f"{clock_text(one.time)}  {name}: {change(one)}\n{one.reason}"
                panel.mark(one.time, one.after.workers, colour, words)


def _alternates(sheet: Sheet, run: Run) -> None:
    having = {name: all_ for name, all_ in run.operators.items() if any(one.before.alternate for one in all_)}
    if not having:
        return
    panel = sheet.panel("active alternate", 26.0 * len(having), form=lambda _: "")
    for row, (name, decisions) in enumerate(having.items()):
        sheet.text(70, panel.y0 + 26 * row + 17, name[:11], sheet.theme.soft, anchor="end")
        names = list(dict.fromkeys(one.before.alternate for one in decisions))
        for begin, end, alternate in _stretches(decisions):
            colour = sheet.theme.curves[names.index(alternate) % len(sheet.theme.curves)]
            panel.band(begin, end, row, len(having), alternate or "", colour)


def _stretches(decisions: Sequence[Decision]) -> Iterator[tuple[float, float, str | None]]:
    """From one change of the alternate to the next."""
    spans = _spans([one.time for one in decisions])
    begin = spans[0][0]
    for number, one in enumerate(decisions):
        if number + 1 == len(decisions) or decisions[number + 1].before.alternate != one.before.alternate:
            yield begin, spans[number][1], one.before.alternate
            begin = spans[number][1]


def _load(sheet: Sheet, run: Run) -> None:
    values = [one.utilisation for all_ in run.operators.values() for one in all_]
    if not any(math.isfinite(value) for value in values):
        return
    panel = sheet.panel("load of the workers in use", 90, top=max(1.05, min(_top(values), 3.0)), form=share_text)
    for number, (name, decisions) in enumerate(run.operators.items()):
        colour = sheet.theme.curves[number % len(sheet.theme.curves)]
        panel.key(colour, name)
        panel.line([(one.time, one.utilisation) for one in decisions], colour)


def _power(sheet: Sheet, run: Run) -> None:
    power = "power in watts" if run.power_is_measured else "power by the model"
    for title, form, values in (
            ("frequency", hertz_text, [(moment.time, moment.frequency) for moment in run.moments]),
            (power, count_text, [(moment.time, moment.power) for moment in run.moments])):
        if any(math.isfinite(value) for _, value in values):
            panel: Panel = sheet.panel(title, 70, top=_top(value for _, value in values), form=form)
            panel.line(values, sheet.theme.curves[2])


# --- words ------------------------------------------------------------------------------------------


def change(one: Change) -> str:
    """What was changed, or would have been."""
    return _difference(one.before, one.after) + ("" if one.acted else " (not acted on)")


def _difference(before: Setting, after: Setting) -> str:
    parts = []
    if before.workers != after.workers:
        parts.append(f"{before.workers} → {after.workers} workers")
    if before.alternate != after.alternate:
        parts.append(f"{before.alternate} → {after.alternate}")
    if before.frequency != after.frequency:
        parts.append(f"frequency {before.frequency} → {after.frequency}")
    if before.shed != after.shed:
        parts.append(f"sheds {share_text(after.shed)}")
    return ", ".join(parts) or "nothing"


def _told(run: Run) -> Iterator[tuple[float, float, str]]:
    """For each step what a reader may want to know exactly."""
    at: dict[int, list[str]] = {}
    for name, decisions in run.operators.items():
        for one in decisions:
            words = f"{name}: {one.before.workers} workers, {rate_text(one.rate)}, load {share_text(one.utilisation)}"
            at.setdefault(one.step, []).append(f"{words}, {one.before.alternate}" if one.before.alternate else words)
    if run.moments:
        for (begin, end), moment in zip(_spans([moment.time for moment in run.moments]), run.moments, strict=True):
            latency = f"{run.statistic} latency {time_text(_of_statistic(moment, run))}"
            lines = [f"{clock_text(end)}: {rate_text(moment.rate)}, {latency}", *at.get(moment.step, [])]
            yield begin, end, "\n".join(lines)
        return
    for decisions in list(run.operators.values())[:1]:
        for (begin, end), one in zip(_spans([one.time for one in decisions]), decisions, strict=True):
            lines = [f"{clock_text(end)}: latency {time_text(one.latency)}", *at.get(one.step, [])]
            yield begin, end, "\n".join(lines)
