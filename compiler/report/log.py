"""Reads decision logs, of programs and of simulated ones: lines of JSON whose form docs/CONTROL.md describes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..failure import Failure, Usage
from .saso import NAN, Saso, Step, goal_missed, mean, saso

SCHEMA = 1
LOG_NAME = "decisions.jsonl"
STATS_NAME = "stats.json"


@dataclass(frozen=True)
class Moment:
    """The program during one control step. NaN: not known."""

    step: int
    time: float  # seconds after the start
    rate: float
    latency: dict[str, float]  # mean, p50 … max
    frequency: float
    power: float
    totals: dict[str, int]  # tuples, results, late, malformed, faults, shed


@dataclass(frozen=True)
class Setting:
    workers: int
    frequency: int
    alternate: str | None
    shed: float


@dataclass(frozen=True)
class Decision:
    """One operator during one control step: what was measured, what was decided and why."""

    step: int
    time: float
    policy: str
    before: Setting
    after: Setting
    wanted: Setting
    acted: bool
    fell_back: bool
    reason: str
    held: str
    rate: float  # triggers a second
    forecast: float
    latency: float  # by the statistic of the goal
    expected_latency: float
    utilisation: float
    backlog: float
    service: float
    selectivity: float  # results a trigger
    throughput: float  # results given of those due, as the goal counts them
    power: float
    error: float

    @property
    def changed(self) -> bool:
        return self.before != self.after

    @property
    def why(self) -> str:
        return self.reason + (f"; {self.held}" if self.held else "")

    @property
    def in_force(self) -> Setting:
        """When the step had ended."""
        return self.after if self.acted else self.before


@dataclass(frozen=True)
class Event:
    time: float
    event: str
    detail: str


@dataclass(frozen=True)
class Change:
    """Of the setting of one operator: by a decision, by command, or one that a shadow would have made."""

    time: float
    operator: str
    before: Setting
    after: Setting
    acted: bool
    reason: str
    foretold: float  # latency in the step behind it; NaN after commands, of which nothing is foretold
    measured: float


@dataclass
class Run:
    """All that one log says."""

    name: str
    start: dict = field(default_factory=dict)
    moments: list[Moment] = field(default_factory=list)
    operators: dict[str, list[Decision]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    stats: dict | None = None  # the program's summary at its end
    power_is_measured: bool = False
    unread: int = 0  # lines that are no part of a log: a program that was killed leaves half a line

    @property
    def goals(self) -> dict:
        return self.start.get("goals") or {}

    @property
    def latency_goal(self) -> float:
        return _real(self.goals.get("latency"))

    @property
    def throughput_goal(self) -> float:
        return _real(self.goals.get("throughput"))

    @property
    def statistic(self) -> str:
        """The part of the latencies that the goal is about."""
        quantile = self.goals.get("quantile")
        return "mean" if quantile is None else f"p{f'{quantile:.4f}'[2:].rstrip('0').ljust(2, '0')}"

    @property
    def duration(self) -> float:
        times = [moment.time for moment in self.moments] + [d.time for all_ in self.operators.values() for d in all_]
        return max(times, default=0.0)

    @property
    def totals(self) -> dict[str, int]:
        """Of the whole run if its summary is there, else up to the last step; empty when nothing was counted."""
        known = dict(self.moments[-1].totals) if self.moments else {}
        names = {"tuples": "in", "results": "out", "late": "late", "malformed": "malformed", "faults": "faults"}
        told = self.stats or {}
        return known | {name: int(told[key]) for name, key in names.items() if known and key in told}

    def figures(self) -> dict[str, Saso]:
        """Of each operator."""
        return {name: saso(self.steps_of(name)) for name in self.operators}

    def steps_of(self, operator: str) -> list[Step]:
        hertz = {moment.step: moment.frequency for moment in self.moments}
        decisions = self.operators[operator]
        return [Step(one.time, one.before.workers, hertz.get(one.step, NAN), one.power, one.latency, self.latency_goal,
                     (one.acted and one.changed) + told, self._missed(one))
                for one, told in zip(decisions, [False, *map(_told, decisions, decisions[1:])], strict=True)]

    def changes(self) -> list[Change]:
        """Of all operators, in order of time."""
        return sorted((one for name in self.operators for one in self._changes_of(name)), key=lambda one: one.time)

    def _changes_of(self, name: str) -> Iterator[Change]:
        decisions = self.operators[name]
        for one, after in zip(decisions, [*decisions[1:], None], strict=True):
            if one.changed:
                yield Change(one.time, name, one.before, one.after, one.acted, one.why,
                             NAN if after is None else after.expected_latency, NAN if after is None else after.latency)
            if after is not None and _told(one, after):
                yield self._told_change(name, one, after)

    def _told_change(self, name: str, one: Decision, after: Decision) -> Change:
        """Commands are events; their detail is the request and, behind a colon, the answer."""
        events = [event for event in self.events if event.event == "command" and one.time <= event.time <= after.time
                  and (event.detail.split()[1:2] == [name] or event.detail.startswith("reload"))]
        requests = "; ".join(event.detail.split(": ")[0] for event in events)
        return Change(events[0].time if events else one.time, name, one.in_force, after.before, True,
                      f"by command: {requests}" if events else "not by a decision", NAN, after.latency)

    def _missed(self, one: Decision) -> bool:
        return goal_missed(one.latency, self.latency_goal, one.throughput, self.throughput_goal)


# --- files ------------------------------------------------------------------------------------------


def read_runs(path: str) -> list[Run]:
    """All logs of a folder, by name, or the one that `path` is."""
    place = Path(path)
    if not place.exists():
        raise Usage(f"there is no `{path}`; `dfc run APP.dfl --log {path}` makes such a folder")
    if not place.is_dir():
        return [read_log(place)]
    logs = sorted(place.glob("*.jsonl")) + sorted(place.glob("*/*.jsonl"))
    runs = [read_log(log) for log in logs if _is_log(log)]
    if not runs:
        raise Usage(f"the folder `{path}` has no decision log; `dfc run APP.dfl --log {path}` writes one")
    return runs


def read_log(path: Path) -> Run:
    run = Run(path.parent.name if path.name == LOG_NAME else path.stem)
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for row in _rows(lines, path, run):
                _take(run, row)
        if (path.parent / STATS_NAME).is_file() and path.name == LOG_NAME:
            run.stats = json.loads((path.parent / STATS_NAME).read_text(encoding="utf-8"))
    except OSError as error:
        raise Failure(f"can't read `{path}`: {error.strerror}") from None
    except ValueError:
        run.unread += 1  # a summary that is none
    if not run.start and not run.moments and not run.operators:
        raise Usage(f"`{path}` is no decision log")
    return run


def _is_log(path: Path) -> bool:
    """Results of the program may lie beside it and be lines of JSON too."""
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            first = json.loads(lines.readline())
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and "schema" in first and "kind" in first


def _rows(lines: Iterable[str], path: Path, run: Run) -> Iterator[dict]:
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict) and "kind" in row and "schema" in row:
            _check_schema(row, f"{path}:{number}")
            yield row
        else:
            run.unread += 1


def _check_schema(row: dict, place: str) -> None:
    if row["schema"] != SCHEMA:
        raise Failure(f"{place}: the decision log has schema {row['schema']}; this version of dfc reads {SCHEMA}")


def _take(run: Run, row: dict) -> None:
    try:
        if row["kind"] == "start":
            run.start = row
        elif row["kind"] == "program":
            run.moments.append(_moment(row))
            run.power_is_measured |= bool(row.get("power_is_measured"))
        elif row["kind"] == "step":
            decision = _decision(row)
            run.operators.setdefault(str(row["operator"]), []).append(decision)
        elif row["kind"] == "event":
            run.events.append(Event(_real(row["uptime"]), str(row["event"]), str(row.get("detail") or "")))
    except (KeyError, TypeError, ValueError, AttributeError):
        run.unread += 1


# --- lines ------------------------------------------------------------------------------------------


def _real(value: object) -> float:
    return NAN if value is None else float(value)


def _moment(row: dict) -> Moment:
    totals = {name: int(row[name]) for name in ("tuples", "results", "late", "malformed", "faults", "shed")}
    return Moment(int(row["step"]), _real(row["uptime"]), _real(row["rate"]),
                  {name: _real(value) for name, value in row["latency"].items()}, _real(row["frequency"]),
                  _real(row["power"]), totals)


def _setting(row: dict) -> Setting:
    return Setting(int(row["workers"]), int(row["frequency"] or 0), row["alternate"], _real(row["shed"]))


def _decision(row: dict) -> Decision:
    measured, outcome = row["measured"], row["outcome"]
    arrivals, step = _real(measured["arrivals"]), _real(measured["step"])
    expected = outcome["expected"] or {}
    return Decision(
        step=int(row["step"]), time=_real(row["uptime"]), policy=str(row["policy"]), before=_setting(row["before"]),
        after=_setting(row["after"]), wanted=_setting(row["decision"]), acted=bool(row["acted"]),
        fell_back=bool(row["fell_back"]), reason=str(row["reason"]), held=str(row["held"] or ""),
        rate=arrivals / step if step > 0 else NAN, forecast=_real(row["forecast"]), latency=_real(outcome["latency"]),
        expected_latency=_real(expected.get("latency")), utilisation=_real(outcome["utilisation"]),
        backlog=_real(measured["backlog"]), service=_real(measured["service"]),
        selectivity=_real(measured["results"]) / arrivals if arrivals > 0 else NAN,
        throughput=_real(outcome.get("throughput")), power=_real(measured["power"]), error=_real(outcome["error"]))


def _told(one: Decision, after: Decision) -> bool:
    """Whether something changed between two decisions, by neither of them."""
    return one.in_force != after.before


def mean_error(decisions: Iterable[Decision]) -> float:
    """How far predictions were off, on average; those that could not be compared are left out."""
    return mean(abs(one.error) for one in decisions)
