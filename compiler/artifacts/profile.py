"""The profile: what was measured of a program and a machine. One small JSON file, verified when it is read.

    {"schema": 2, "app": "hft", "from": "calibration",
     "machine": {"emit_ns": 7.1, "take_ns": 3.0, "collect_ns": 12.0, "hop_ns": 3500, "emit_shared_ns": 5.3,
                 "emit_all_ns": 8.2, "clock_ns": 22},
     "crowded": {"tuples": {"1": 5.1, "2": 9.8}, "windows": {"1": 410, "2": 620}},
     "sources": {"quotes": {"rate": 300000}},
     "operators": {"predict": {"costs": {"regression": {"tuple": 9.5, "keep": null, "pane": null, "window": 136000,
                                                        "merge": null, "keep_whole": 14.1, "whole": 136200,
                                                        "parse": null, "fetch": null}},
                               "selectivity": 0.04, "keys": {"count": 2836, "p_max": 0.0287, "top": [0.0287, 0.019]}}}}

Costs are nanoseconds: `tuple` for each input tuple, `keep` for putting it away where others compute with it, `pane` for
each pane, `window` for each result, `merge` for merging a window's panes; `keep_whole` and `whole` for a tuple and a
window where workers get windows whole. Of a source `tuple` is what one thread takes for all that reading is; in
programs with threads `parse` is that of the thread which parses, and `fetch` what is left for the one that reads: null
where no thread parses. Steps that are no operators have one alternate, called by their own name.
`emit_shared_ns` is what sending a tuple takes where workers share the sender's core, `emit_all_ns` where all of them
get it.
`crowded` is what an element that is handed over makes a run longer where threads share cores, for each thread that a
core has beyond one: a tuple, or one that all workers get (`copies`), or a pane or a window that another thread keeps,
or a pane in a ring (`turns`), by the number of workers.

A profile from traces (`dfc profile`) also has for each source how its tuples came: `rows`, `rejected`, `start`,
`seconds`, `arrivals`, `disorder`, `seasons`, `forecast`; and for each operator `key_figures` and `alternates`.
docs/TRACES.md describes them. Files of schema 1, which have none of these, are read too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Context, Decimal
from typing import Any

SCHEMA = 2
_READ = (1, 2)
_COSTS = ("tuple", "keep", "pane", "window", "merge", "keep_whole", "whole", "parse", "fetch")
_MACHINE = ("emit_ns", "take_ns", "collect_ns", "hop_ns", "emit_shared_ns", "emit_all_ns", "clock_ns")
_HANDED = ("tuples", "copies", "panes", "turns", "windows")
_SHARES = Context(prec=6, rounding=ROUND_DOWN)


class ProfileError(Exception):
    """A profile that can't be used. `code` is that of the diagnostic."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class StepCosts:
    """Nanoseconds; None where nothing was measured."""

    tuple: float | None = None
    pane: float | None = None
    window: float | None = None
    merge: float | None = None
    keep: float | None = None
    keep_whole: float | None = None
    whole: float | None = None
    parse: float | None = None
    fetch: float | None = None


@dataclass(frozen=True, slots=True)
class Keys:
    """How many keys, the share of the heaviest one, and the shares of the heaviest ones, largest first."""

    count: int
    p_max: float
    top: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class OperatorProfile:
    costs: Mapping[str, StepCosts]
    selectivity: float | None = None  # results for each input tuple
    keys: Keys | None = None
    key_figures: Mapping[str, Any] = field(default_factory=dict)  # of the trace: heavy keys, ranks, over time
    alternates: Mapping[str, Any] = field(default_factory=dict)  # of the logs: service times, results, value


@dataclass(frozen=True, slots=True)
class Profile:
    app: str
    origin: str  # what it was made from: "calibration", "trace"
    machine: Mapping[str, float] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)  # source → tuples a second
    operators: Mapping[str, OperatorProfile] = field(default_factory=dict)
    seen: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # source → what its trace says
    crowded: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  # what is handed over → workers → ns lost

    def forecast(self) -> Mapping[str, float]:
        """Weights of the forecaster by the source that brings most; empty when none was fitted."""
        fitted = [(one.get("rate") or 0.0, name) for name, one in self.seen.items() if one.get("forecast")]
        return self.seen[max(fitted)[1]]["forecast"] if fitted else {}

    def delay(self, source: str) -> float | None:
        """K: the longest delay of a tuple behind the newest one before it, in seconds."""
        return self.seen.get(source, {}).get("disorder", {}).get("k")

    def slack(self, source: str) -> float | None:
        """What 99.9 % of the tuples of the trace did not come later than, in seconds."""
        quantiles = self.seen.get(source, {}).get("disorder", {}).get("quantiles") or {}
        return quantiles.get("p999")

    def costs(self, step: str, alternate: str | None) -> StepCosts | None:
        """Of an operator's alternate, or of another step."""
        found = self.operators.get(step)
        return found.costs.get(alternate or step) if found else None


def share_of(count: int, whole: int) -> float:
    """Six digits, rounded down: shares of one whole are together never more than it."""
    return float(_SHARES.divide(Decimal(int(count)), Decimal(int(whole))))


# --- writing ----------------------------------------------------------------------------------------


def to_json(profile: Profile) -> str:
    """The same profile gives the same bytes."""
    data = {"schema": SCHEMA, "app": profile.app, "from": profile.origin, "machine": _rounded(profile.machine),
            **({"crowded": {what: _rounded(by_workers) for what, by_workers in profile.crowded.items()}}
               if profile.crowded else {}),
            "sources": {name: {"rate": profile.rates.get(name), **profile.seen.get(name, {})}
                        for name in (*profile.rates, *(name for name in profile.seen if name not in profile.rates))},
            "operators": {name: _operator_data(one) for name, one in profile.operators.items()}}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _operator_data(one: OperatorProfile) -> dict[str, Any]:
    keys = one.keys and {"count": one.keys.count, "p_max": one.keys.p_max, "top": list(one.keys.top)}
    costs = {name: _rounded({part: getattr(cost, part) for part in _COSTS}) for name, cost in one.costs.items()}
    found = {"costs": costs, "selectivity": one.selectivity, "keys": keys}
    more = {"key_figures": dict(one.key_figures), "alternates": dict(one.alternates)}
    return found | {name: value for name, value in more.items() if value}


def _rounded(values: Mapping[Any, float | None]) -> dict[str, float | None]:
    return {str(name): None if value is None else round(value, 2) for name, value in values.items()}


# --- reading ----------------------------------------------------------------------------------------


def from_json(text: str, app: str | None = None) -> Profile:
    """Raises ProfileError unless the text is a profile (of this app)."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProfileError("E0510", f"it is not JSON: {error}") from None
    data = _object(data, "the profile")
    if data.get("schema") not in _READ or isinstance(data["schema"], bool):
        read = " and ".join(map(str, _READ))
        raise ProfileError("E0511", f"its schema is {json.dumps(data.get('schema'))[:40]}; this dfc reads {read}")
    name = _text(data.get("app"), "app")
    if app is not None and name != app:
        raise ProfileError("E0513", f"it is of `{name}`, and this program is `{app}`")
    machine = {part: _cost(value, f"machine.{part}") for part, value in _object(data.get("machine", {}),
                                                                               "machine").items()}
    unknown = sorted(set(machine) - set(_MACHINE))
    if unknown:
        raise ProfileError("E0512", f"machine has no cost `{unknown[0]}`; there is {', '.join(_MACHINE)}")
    rates = {source: _cost(_object(one, f"sources.{source}").get("rate"), f"sources.{source}.rate")
             for source, one in _object(data.get("sources", {}), "sources").items()}
    operators = {step: _operator(_object(one, f"operators.{step}"), f"operators.{step}")
                 for step, one in _object(data.get("operators", {}), "operators").items()}
    given = {key: value for key, value in machine.items() if value is not None}
    return Profile(name, _text(data.get("from", "unknown"), "from"), given,
                   {key: value for key, value in rates.items() if value is not None}, operators, _seen(data),
                   _crowded(data.get("crowded", {})))


def _crowded(data: Any) -> dict[str, dict[int, float]]:
    """By what is handed over, and the number of workers."""
    found: dict[str, dict[int, float]] = {}
    for what, by_workers in _object(data, "crowded").items():
        if what not in _HANDED:
            raise ProfileError("E0512", f"crowded has no `{what}`; there is {', '.join(_HANDED)}")
        where = f"crowded.{what}"
        found[what] = {_workers(count, where): _cost(_number(ns, f"{where}.{count}"), f"{where}.{count}")
                       for count, ns in _object(by_workers, where).items()}
    return found


def _workers(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) > 0):
        raise ProfileError("E0512", f"{where} has `{text[:40]}`; expected a number of workers")
    return int(text)


def _seen(data: dict) -> dict[str, dict]:
    """What traces say of sources; what the compiler goes by is checked."""
    found = {source: one for source, one in data.get("sources", {}).items() if set(one) - {"rate"}}
    for source, one in found.items():
        for name in ("level", "trend"):
            _weight(_part(one, "forecast", source), name, f"sources.{source}.forecast.{name}")
        disorder = _part(one, "disorder", source)
        _cost(disorder.get("k"), f"sources.{source}.disorder.k")
        quantiles = _object(disorder.get("quantiles") or {}, f"sources.{source}.disorder.quantiles")
        _cost(quantiles.get("p999"), f"sources.{source}.disorder.quantiles.p999")
    return found


def _part(one: dict, name: str, source: str) -> dict:
    return {} if one.get(name) is None else _object(one[name], f"sources.{source}.{name}")


def _weight(data: dict, name: str, where: str) -> None:
    if data and not 0 <= _number(data.get(name), where) <= 1:
        raise ProfileError("E0512", f"{where} is {data[name]:g}; expected a weight from 0 to 1")


def _operator(data: dict, where: str) -> OperatorProfile:
    costs = {}
    for name, one in _object(data.get("costs", {}), f"{where}.costs").items():
        parts = _object(one, f"{where}.costs.{name}")
        unknown = sorted(set(parts) - set(_COSTS))
        if unknown:
            raise ProfileError("E0512", f"{where}.costs.{name} has no cost `{unknown[0]}`; "
                                        f"there is {', '.join(_COSTS)}")
        costs[name] = StepCosts(**{part: _cost(value, f"{where}.costs.{name}.{part}") for part, value in parts.items()})
    return OperatorProfile(costs, _cost(data.get("selectivity"), f"{where}.selectivity"),
                           _keys(data.get("keys"), where), _key_figures(data.get("key_figures", {}), where),
                           _object(data.get("alternates", {}), f"{where}.alternates"))


def _key_figures(data: Any, where: str) -> dict:
    found = _object(data, f"{where}.key_figures")
    heavy = found.get("heavy", [])
    if not isinstance(heavy, list) or not all(isinstance(one, list) and len(one) == 2 for one in heavy):
        raise ProfileError("E0512", f"{where}.key_figures.heavy is no list of keys with their shares")
    for key, share in heavy:
        _text(key, f"{where}.key_figures.heavy")
        _share(share, f"{where}.key_figures.heavy")
    return found


def _keys(data: Any, where: str) -> Keys | None:
    if data is None:
        return None
    data = _object(data, f"{where}.keys")
    count = data.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ProfileError("E0512", f"{where}.keys.count is {count!r}; expected a whole number of at least 1")
    top = data.get("top", [])
    if not isinstance(top, list):
        raise ProfileError("E0512", f"{where}.keys.top is no list")
    shares = [_share(share, f"{where}.keys.top") for share in top]
    if shares != sorted(shares, reverse=True) or sum(shares) > 1 + 1e-6:
        raise ProfileError("E0512", f"{where}.keys.top are not shares of one whole, largest first")
    return Keys(count, _share(data.get("p_max"), f"{where}.keys.p_max"), tuple(shares))


def _object(data: Any, where: str) -> dict:
    if not isinstance(data, dict):
        raise ProfileError("E0510", f"{where} is {_kind(data)}, not an object")
    return data


def _text(data: Any, where: str) -> str:
    if not isinstance(data, str):
        raise ProfileError("E0510", f"{where} is {_kind(data)}, not a text")
    return data


def _number(data: Any, where: str) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float) or not abs(data) < 1e18:
        raise ProfileError("E0512", f"{where} is {json.dumps(data)[:40]}; expected a number")
    return float(data)


def _cost(data: Any, where: str) -> float | None:
    if data is None:
        return None
    number = _number(data, where)
    if number < 0:
        raise ProfileError("E0512", f"{where} is {number:g}; expected at least 0")
    return number


def _share(data: Any, where: str) -> float:
    number = _number(data, where)
    if not 0 < number <= 1:
        raise ProfileError("E0512", f"{where} is {number:g}; expected a share between 0 and 1")
    return number


def _kind(data: Any) -> str:
    return {list: "a list", dict: "an object", str: "a text", type(None): "missing"}.get(type(data), "a number")
