"""The plan file: what `dfc optimize` found for a program, and `dfc compile --plan` goes by. One small JSON file,
checked when it is read.

    {"schema": 1, "app": "trading", "cores": 12,
     "operators": {"predict": {"pattern": {"name": "key_partitioning", "workers": 4}, "alternate": "regression",
                               "least": 1, "most": 12}},
     "control": {"step": 1.0, "policy": "mpc", "parameters": {"gamma": 0.4}, "forecast": {"method": "holt_winters"},
                 "safety": {"cooldown": 2, "warmup": 1, "trust": null}, "migration": "fluent",
                 "rebalance": {"method": "balanced", "imbalance": null}},
     "expected": {"violations": 1.4, "cores": 4.1}, "compared": {"violations": 9.2, "cores": 5.0}, "about": {…}}

A pattern's settings are those of the language, the members of `control` those of control.json. `expected` are the
figures of the simulation, `compared` those of the plan that there would be without; `about` says what they were made
from. These three are for people.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...dsl import typed
from ...dsl.settings import MOST_WORKERS, POLICIES
from ...dsl.settings import PATTERNS as SETTINGS
from ...dsl.span import NOWHERE, Span

SCHEMA = 1
_MEMBERS = ("schema", "app", "cores", "operators", "control", "expected", "compared", "about")
_CONTROL = ("step", "policy", "parameters", "forecast", "safety", "migration", "rebalance")
# What control.json has in these, with the words that may stand there; None is for numbers.
_PARTS: dict[str, dict[str, tuple[str, ...] | None]] = {
    "forecast": {"method": ("holt_winters", "ewma", "last"), "level": None, "trend": None, "seasonal": None,
                 "smoothing": None, "season": None},
    "safety": {"cooldown": None, "warmup": None, "trust": None},
    "rebalance": {"method": ("balanced", "flux", "off"), "imbalance": None}}
_MIGRATIONS = ("fluent", "r_blk", "s_blk")
_STEPS = (0.1, 3600.0)


class PlanError(Exception):
    """A plan file that can't be used. `code` is that of the diagnostic."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """What an operator begins with, and how many workers its controller may give it."""

    pattern: typed.Pattern
    alternate: str | None
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class PlanFile:
    app: str
    cores: int
    operators: Mapping[str, OperatorPlan]
    control: Mapping[str, Any]
    expected: Mapping[str, float] = field(default_factory=dict)
    compared: Mapping[str, float] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)


# --- writing ----------------------------------------------------------------------------------------


def to_json(plan: PlanFile) -> str:
    """The same plan gives the same bytes."""
    data = {"schema": SCHEMA, "app": plan.app, "cores": plan.cores,
            "operators": {name: {"pattern": {"name": one.pattern.name, **settings_of(one.pattern)},
                                 "alternate": one.alternate, "least": one.least, "most": one.most}
                          for name, one in plan.operators.items()},
            "control": dict(plan.control), "expected": _finite(plan.expected), "compared": _finite(plan.compared),
            "about": dict(plan.about)}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    return {name: round(value, 6) if math.isfinite(value) else None for name, value in figures.items()}


def settings_of(pattern: typed.Pattern) -> dict[str, Any]:
    return {name: value for name in SETTINGS[pattern.name] if (value := getattr(pattern, name)) is not None}


# --- reading ----------------------------------------------------------------------------------------


def from_json(text: str, app: str, span: Span = NOWHERE) -> PlanFile:
    """Raises PlanError unless the text is a plan of this app. `span` is where its patterns are said to stand."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PlanError("E0520", f"it is not JSON: {error}") from None
    data = _object(data, "the plan")
    schema = data.get("schema")
    if schema != SCHEMA or isinstance(schema, bool):
        raise PlanError("E0521", f"its schema is {_shown(schema)}; this dfc reads {SCHEMA}")
    if data.get("app") != app:
        raise PlanError("E0523", f"it is of `{_text(data.get('app'), 'app')}`, and this program is `{app}`")
    _only(data, _MEMBERS, "a plan")
    operators = {name: _operator(_object(one, f"operators.{name}"), f"operators.{name}", span)
                 for name, one in _object(data.get("operators"), "operators").items()}
    return PlanFile(app, _count(data.get("cores"), "cores"), operators, _control(data.get("control")),
                    *(_object(data.get(name, {}), name) for name in ("expected", "compared", "about")))


def _operator(data: dict, where: str, span: Span) -> OperatorPlan:
    least, most = _count(data.get("least"), f"{where}.least"), _count(data.get("most"), f"{where}.most")
    if least > most:
        raise PlanError("E0522", f"{where}.least is {least}, more than `most`, {most}")
    alternate = data.get("alternate")
    return OperatorPlan(_pattern(_object(data.get("pattern"), f"{where}.pattern"), f"{where}.pattern", span),
                        None if alternate is None else _text(alternate, f"{where}.alternate"), least, most)


def _pattern(data: dict, where: str, span: Span) -> typed.Pattern:
    name = _word(data.get("name"), tuple(one for one in SETTINGS if one != "auto"), f"{where}.name")
    values = {setting: _setting(name, setting, value, where) for setting, value in data.items() if setting != "name"}
    return typed.Pattern(name, span, **values)


def _setting(pattern: str, name: str, value: Any, where: str) -> Any:
    known = SETTINGS[pattern].get(name)
    if known is None:
        raise PlanError("E0522", f"{where} has no setting `{name}`")
    if known.kind == "word":
        return _word(value, known.choices, f"{where}.{name}")
    if isinstance(value, bool) or not isinstance(value, int) or not known.least <= value <= known.most:
        raise PlanError("E0522", f"{where}.{name} is {_shown(value)}; expected a whole number from "
                                 f"{known.least:g} to {known.most:g}")
    return value


def _control(data: Any) -> dict[str, Any]:
    """Names and kinds; whether a policy takes a number is checked where it is read, as of control.json."""
    data = _object(data, "control")
    _only(data, _CONTROL, "control")
    step = _number(data.get("step"), "control.step")
    if not _STEPS[0] <= step <= _STEPS[1]:
        raise PlanError("E0522", f"control.step is {step:g}; expected {_STEPS[0]:g} to {_STEPS[1]:g} s")
    policy = _word(data.get("policy"), tuple(POLICIES), "control.policy")
    _word(data.get("migration"), _MIGRATIONS, "control.migration")
    known = {name: (one.choices or None) if one.kind == "word" else None for setting, one in POLICIES[policy].items()
             for name in ((f"{setting}_low", f"{setting}_high") if one.span else (setting,))}
    _part(_object(data.get("parameters"), "control.parameters"), known, "control.parameters")
    for part, members in _PARTS.items():
        _part(_object(data.get(part), f"control.{part}"), members, f"control.{part}")
    return data


def _part(data: dict, members: Mapping[str, tuple[str, ...] | None], where: str) -> None:
    _only(data, members, where)
    for name, value in data.items():
        if members[name] is not None:
            _word(value, members[name], f"{where}.{name}")
        elif value is not None:
            _number(value, f"{where}.{name}")


def _only(data: dict, known: Iterable[str], where: str) -> None:
    unknown = sorted(set(data) - set(known))
    if unknown:
        raise PlanError("E0522", f"{where} has no `{unknown[0]}`; there is {', '.join(known) or 'nothing'}")


def _word(data: Any, choices: tuple[str, ...], where: str) -> str:
    if not isinstance(data, str) or data not in choices:
        raise PlanError("E0522", f"{where} is {_shown(data)}; there is {', '.join(choices)}")
    return data


def _number(data: Any, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not abs(data) < 1e18:
        raise PlanError("E0522", f"{where} is {_shown(data)}; expected a number")
    return float(data)


def _shown(data: Any) -> str:
    return json.dumps(data)[:40]


def _object(data: Any, where: str) -> dict:
    if not isinstance(data, dict):
        raise PlanError("E0520", f"{where} is {'missing' if data is None else 'no object'}")
    return data


def _text(data: Any, where: str) -> str:
    if not isinstance(data, str):
        raise PlanError("E0520", f"{where} is {'missing' if data is None else 'no text'}")
    return data


def _count(data: Any, where: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not 1 <= data <= MOST_WORKERS:
        raise PlanError("E0522", f"{where} is {_shown(data)}; expected a whole number from 1 to {MOST_WORKERS}")
    return data
