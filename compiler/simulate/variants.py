"""What is compared: the policies that were asked for, with every combination of the parameters that `--set` lists.

A name of `--set` is a parameter of a policy (`gamma`), a setting of every controller (`cooldown`, `forecast`) or of the
run (`step`, `goal`, `migration`); it holds for the policies that have it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dfc.compiler.failure import Usage

from ..durations import duration
from .control_library import BALANCERS, FORECASTERS, Controls, Goals, Options
from .plant import PROTOCOLS
from .trial import Variant

OFF = "off"
WORDS = {"forecast": (*FORECASTERS, "last_value"), "rebalance": (*BALANCERS, OFF), "migration": PROTOCOLS}
DURATIONS = ("step", "cooldown", "warmup", "goal")
NUMBERS = ("level", "trend", "seasonal", "smoothing", "season", "trust", "imbalance")
_LEAST_STEP, _MOST_STEP = 0.1, 3600.0


def make_variants(configuration: Mapping[str, Any], operator: str, controls: Controls, goals: Goals,
                  policies: Sequence[str], sweeps: Sequence[tuple[str, Sequence[str]]]) -> tuple[Variant, ...]:
    """`configuration` is what a program gets as control.json; the entry of `operator` tells all that is not asked for.
    Without policies its own is taken."""
    entry = next((one for one in configuration["operators"] if one["name"] == operator), {})
    own = entry.get("policy", OFF)
    own = "auto" if own == OFF else own
    names = list(dict.fromkeys(policies or [own]))
    for name in names:
        controls.policy(name)
    _check_names(controls, names, sweeps)
    found: list[Variant] = []
    for name in names:
        base = _settings(configuration, entry, name == own)
        held = [(key, values) for key, values in sweeps if _holds(controls, name, key)]
        for chosen in itertools.product(*(values for _, values in held)):
            settings = dict(zip((key for key, _ in held), chosen, strict=True))
            title = " ".join([name, *(f"{key}={value}" for key, value in settings.items())])
            found.append(_variant(title, name, {**base, **settings}, entry.get("safety", {}), goals, controls))
    return tuple(found)


def _settings(configuration: Mapping[str, Any], entry: Mapping[str, Any], its_own: bool) -> dict[str, object]:
    """The entry in the names of `--set`; the parameters are those of its own policy only."""
    forecast, rebalance = dict(entry.get("forecast", {})), entry.get("rebalance", {})
    given = {"step": f"{configuration['step']}s", "forecast": forecast.pop("method", None), **forecast,
             "migration": entry.get("migration"), "rebalance": rebalance.get("method"),
             "imbalance": rebalance.get("imbalance"), "trust": entry.get("safety", {}).get("trust"),
             **(entry.get("parameters", {}) if its_own else {})}
    return {name: value for name, value in given.items() if value is not None}


def _holds(controls: Controls, policy: str, name: str) -> bool:
    return name in (*WORDS, *DURATIONS, *NUMBERS) or name in (one.name for one in controls.policy(policy).parameters)


def _check_names(controls: Controls, policies: Sequence[str], sweeps: Sequence[tuple[str, Sequence[str]]]) -> None:
    for name, _ in sweeps:
        if not any(_holds(controls, policy, name) for policy in policies):
            known = sorted({one.name for policy in policies for one in controls.policy(policy).parameters})
            raise Usage(f"--set {name}: there is no such parameter; {', '.join(policies)} have {', '.join(known)}; all "
                        f"have {', '.join((*DURATIONS, *WORDS, *NUMBERS))}")


def _variant(title: str, policy: str, settings: Mapping[str, object], safety: Mapping[str, int], goals: Goals,
             controls: Controls) -> Variant:
    words = {name: _word(name, str(settings[name])) for name in WORDS if name in settings}
    times = {name: _time(name, str(settings[name])) for name in DURATIONS if name in settings}
    numbers = {name: _number(name, settings[name]) for name in NUMBERS if name in settings}
    step = times.get("step", 1.0)
    if not _LEAST_STEP <= step <= _MOST_STEP:
        raise Usage(f"a control step of {step:g} s; it can be {_LEAST_STEP:g} to {_MOST_STEP:g} s")
    known = [one.name for one in controls.policy(policy).parameters]
    rest = {name: value for name, value in settings.items() if name in known}
    controls.values(policy, rest)  # refuses what can't be, before anything runs
    forecast = words.get("forecast", FORECASTERS[0])
    options = Options(policy, rest, "last" if forecast == "last_value" else forecast,
                      **{name: numbers.get(name, math.nan) for name in
                         ("level", "trend", "seasonal", "smoothing", "trust")},
                      season=int(numbers.get("season", 0)),
                      **{name: math.ceil(times[name] / step - 1e-9) if name in times else safety.get(name, 0)
                         for name in ("cooldown", "warmup")})
    changed = replace(goals, latency=times["goal"]) if "goal" in times else goals
    balancer = words.get("rebalance", BALANCERS[0])
    return Variant(title, options, step, changed, None if balancer == OFF else balancer,
                   numbers.get("imbalance", 0.1), words.get("migration", PROTOCOLS[0]))


def _word(name: str, word: str) -> str:
    if word not in WORDS[name]:
        raise Usage(f"{name} is `{word}`; it can be {', '.join(WORDS[name])}")
    return word


def _time(name: str, word: str) -> float:
    found = duration(word)
    if found is None:
        raise Usage(f"{name} is `{word}`; expected a time such as 500ms or 4s")
    return found


def _number(name: str, word: object) -> float:
    try:
        found = float(word)  # type: ignore[arg-type]
    except ValueError:
        found = math.nan
    if not 0 <= found < math.inf:
        raise Usage(f"{name} is `{word}`; expected a number that is not negative")
    return found
