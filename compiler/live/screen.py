"""What `dfc top` shows: a status of the program as lines of text, with the last minutes as small curves."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from dfc.compiler.report.units import UNKNOWN, clock_text, count_text, hertz_text, rate_text, share_text, time_text

from .client import printable

BARS = "▁▂▃▄▅▆▇█"
KEPT = 120  # values of a curve
BOLD, DIM, RED, GREEN, YELLOW, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"
_QUANTILES = ((0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p999"), (1.0, "max"))


@dataclass
class History:
    """Values of the last control steps, by what they are of. A step that has been seen already adds nothing."""

    curves: dict[str, deque[float]] = field(default_factory=dict)
    seen: int = -1

    def add(self, status: dict) -> None:
        if status["control_steps"] == self.seen:
            return
        self.seen = status["control_steps"]
        self._put("rate", status["rate"])
        self._put("latency", status["latency"][goal_statistic(status["goals"])])
        for one in status["operators"]:
            self._put(f"workers {one['name']}", one["workers"])

    def _put(self, name: str, value: float | None) -> None:
        self.curves.setdefault(name, deque(maxlen=KEPT)).append(math.nan if value is None else value)

    def curve(self, name: str, width: int) -> str:
        values = list(self.curves.get(name, ()))[-max(width, 0):]
        return sparkline(values) if len(values) > 1 else ""


def sparkline(values: Iterable[float]) -> str:
    """From 0 to the largest value; a gap where nothing is known."""
    values = list(values)
    top = max((value for value in values if math.isfinite(value)), default=0.0)
    return "".join(_bar(value, top) for value in values)


def _bar(value: float, top: float) -> str:
    if not math.isfinite(value):
        return " "
    return BARS[min(len(BARS) - 1, max(0, int(value / top * len(BARS))))] if top > 0 else BARS[0]


def goal_statistic(goals: dict) -> str:
    """The part of the latencies that the goal is about: the mean, or the quantile that comes next above."""
    quantile = goals["quantile"]
    return "mean" if quantile is None else next(name for bound, name in _QUANTILES if quantile <= bound)


# --- the page ---------------------------------------------------------------------------------------


def snapshot(status: dict, history: History, width: int = 100) -> str:
    """Once, without colours."""
    return "".join(f"{line}\n" for line in screen(status, history, width, 1000, colour=False))


def screen(status: dict, history: History, width: int, height: int, colour: bool = True) -> list[str]:
    """At most `height` lines of at most `width` characters."""
    paint = _paint if colour else _plain
    lines = [*_head(status, history, width, paint), "", *_operators(status["operators"], history, width, paint)]
    decisions = change_lines(status["changes"])
    if decisions:
        room = max(1, height - len(lines) - 2)
        lines += ["", paint(BOLD, "last decisions"), *(_cut(line, width) for line in decisions[-room:])]
    return lines[:height]


def _plain(_: str, text: str) -> str:
    return text


def _paint(code: str, text: str) -> str:
    return f"{code}{text}{PLAIN}" if text else text


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[:max(0, width - 1)] + "…"


def _head(status: dict, history: History, width: int, paint) -> list[str]:
    mode = ("draining" if status["draining"] else "shadow: decides without acting" if status["shadow"] else
            "controlled" if status["controlled"] else "no controller")
    title = printable(status["app"])
    rest = f"   up {clock_text(status['uptime'])}   {status['layout']}   {mode}   step {time_text(status['step'])}"
    totals = (f"input   {rate_text(status['rate']):>9}   {count_text(status['tuples'])} tuples, "
              f"{count_text(status['results'])} results{_troubles(status)}")
    first = paint(BOLD, _cut(title, width)) + _cut(rest, width - len(title))
    second = _with_curve(totals, history, "rate", width)
    return [first, second, *_latency(status, history, width, paint), *_throughput(status, width, paint),
            *_machine(status)]


def _troubles(status: dict) -> str:
    found = [f"{count_text(status[name])} {name}" for name in ("late", "malformed", "faults", "shed") if status[name]]
    return f"   ({', '.join(found)})" if found else ""


def _with_curve(text: str, history: History, name: str, width: int) -> str:
    room = min(40, width - len(text) - 3)
    return f"{text}   {history.curve(name, room)}".rstrip() if room >= 8 else _cut(text, width)


def _latency(status: dict, history: History, width: int, paint) -> list[str]:
    latency, goals = status["latency"], status["goals"]
    told = {name: time_text(latency[name]) for name in ("mean", "p95", "p99")}
    words = f"latency {told['mean']:>9} mean   p95 {told['p95']}   p99 {told['p99']}"
    if goals["latency"] is None:
        return [_with_curve(words, history, "latency", width)]
    name = goal_statistic(goals)
    value = latency[name]
    missed = value is not None and value > goals["latency"]
    verdict = f"goal {name} ≤ {time_text(goals['latency'])}: {_outcome(value, missed)}"
    line = _with_curve(f"{words}   {verdict}", history, "latency", width)
    return [line.replace(verdict, paint(RED if missed else GREEN, verdict))]


def _outcome(value: float | None, missed: bool) -> str:
    return UNKNOWN if value is None else "missed" if missed else "kept"


def _throughput(status: dict, width: int, paint) -> list[str]:
    """Of the operator that gives the smallest share of the results it could."""
    goal = status["goals"]["throughput"]
    if goal is None:
        return []
    value = min((one["throughput"] for one in status["operators"] if one.get("throughput") is not None), default=None)
    missed = value is not None and value < goal
    verdict = f"goal throughput ≥ {share_text(goal)}: {_outcome(value, missed)}"
    line = _cut(f"results {share_text(value):>9} of those possible   {verdict}", width)
    return [line.replace(verdict, paint(RED if missed else GREEN, verdict))]


def _machine(status: dict) -> list[str]:
    words = []
    if status["frequency"] is not None:
        words.append(f"clock   {hertz_text(status['frequency']):>9}")
    if status["power"] is not None:
        unit = "W" if status["power_is_measured"] else "(by the model)"
        words.append(f"power {count_text(status['power'])} {unit}")
    return ["   ".join(words)] if words else []


_COLUMNS = (("operator", 12, "<"), ("workers", 9, ">"), ("load", 6, ">"), ("rate", 9, ">"), ("expected", 9, ">"),
            ("service", 9, ">"), ("backlog", 8, ">"), ("policy", 10, "<"), ("alternate", 12, "<"))


def _operators(operators: list[dict], history: History, width: int, paint) -> list[str]:
    if not operators:
        return ["no operator of this program can be controlled"]
    columns = [(name, max(size, *(len(one["name"]) for one in operators)) if name == "operator" else size, side)
               for name, size, side in _COLUMNS]
    lines = [paint(BOLD, _cut(_row([name for name, *_ in columns], columns), width))]
    for one in operators:
        row = _cut(_row(_cells(one), columns), width)
        room = min(30, width - len(row) - 2)
        curve = history.curve(f"workers {one['name']}", room) if room >= 6 else ""
        lines.append(paint(YELLOW, row) if one["fell_back"] else row)
        lines[-1] += f"  {curve}" if curve else ""
    return lines


def _row(cells: list[str], columns) -> str:
    return " ".join(f"{cell:{side}{size}}" for cell, (_, size, side) in zip(cells, columns, strict=True)).rstrip()


def _cells(one: dict) -> list[str]:
    held = "!" if one["workers_held"] else ""
    alternate = printable(one["alternate"] or "") + ("!" if one["alternate_held"] else "")
    policy = one["policy"] + (" → rule" if one["fell_back"] else "")
    return [printable(one["name"]), f"{one['workers']} of {one['workers_most']}{held}", share_text(one["utilisation"]),
            rate_text(one["rate"]), rate_text(one["forecast"]), time_text(one["service"]), count_text(one["backlog"]),
            policy, alternate]


# --- decisions --------------------------------------------------------------------------------------


def change_lines(changes: list[dict]) -> list[str]:
    """One line a change, the newest last."""
    return [f"{clock_text(one['uptime']):>12}  {printable(one['operator'])}: {change_text(one['before'], one['after'])}"
            f"{'' if one['acted'] else ' (shadow)'}: {printable(one['reason'])}" for one in changes]


def change_text(before: dict, after: dict) -> str:
    """What differs between two settings."""
    parts = []
    if before["workers"] != after["workers"]:
        parts.append(f"{before['workers']} → {after['workers']} workers")
    if before["alternate"] != after["alternate"]:
        parts.append(f"{before['alternate']} → {after['alternate']}")
    if before["frequency"] != after["frequency"]:
        parts.append(f"frequency {before['frequency']} → {after['frequency']}")
    if before["shed"] != after["shed"]:
        parts.append(f"sheds {share_text(after['shed'])}")
    return ", ".join(parts) or "keys moved"
