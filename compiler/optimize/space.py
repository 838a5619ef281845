"""What can be tried. A candidate is a point of the unit cube: each dimension makes a value of its coordinate.

Dimensions that a candidate does not need (the weights of another policy, say) are passed over, so that several points
can be one candidate; what was played is remembered by the candidate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

POLICIES = ("mpc", "rule", "threshold", "spl", "alternates", "static")  # rl only when asked: it learns for hours
BATCHES = (1, 2, 4, 8, 16)
STEPS = (1.0, 2.0, 4.0)  # seconds, beside the program's own
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Dimension:
    """One of `choices`, or a number from `low` to `high`: evenly, by orders of magnitude (`log`), or whole."""

    name: str
    choices: tuple = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False

    def value(self, at: float) -> Any:
        at = min(max(at, 0.0), 1.0)
        if self.choices:
            return self.choices[min(int(at * len(self.choices)), len(self.choices) - 1)]
        if self.whole:
            return min(int(self.low + at * (self.high - self.low + 1)), int(self.high))
        number = self.low * (self.high / self.low) ** at if self.log else self.low + at * (self.high - self.low)
        return float(f"{number:.{_DIGITS}g}")

    def place(self, value: Any) -> float:
        """A coordinate that gives the value, or the nearest one; the middle where there is none."""
        if self.choices:
            return (self.choices.index(value) + 0.5) / len(self.choices) if value in self.choices else 0.5
        if not isinstance(value, int | float) or math.isnan(value):
            return 0.5
        value = min(max(value, self.low), self.high)
        if self.whole:
            return (value - self.low + 0.5) / (self.high - self.low + 1)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


# The parameters of each policy and where they are looked for: around the standards, as far as the papers vary them.
PARAMETERS: dict[str, tuple[Dimension, ...]] = {
    "mpc": (Dimension("alpha", low=0.5, high=8, log=True), Dimension("beta", low=0.1, high=2, log=True),
            Dimension("gamma", low=0.02, high=4, log=True), Dimension("horizon", low=1, high=6, whole=True)),
    "rule": (Dimension("low", low=0.2, high=0.75), Dimension("high", low=0.8, high=1.2),
             Dimension("utilisation_low", low=0.3, high=0.75), Dimension("utilisation_high", low=0.78, high=0.97),
             Dimension("patience", low=1, high=3, whole=True)),
    "threshold": (Dimension("low", low=0.5, high=0.95), Dimension("high", low=0.5, high=0.95),
                  Dimension("patience", low=1, high=3, whole=True)),
    "spl": (Dimension("congestion", low=0.02, high=0.5, log=True), Dimension("sensitivity", low=0.5, high=0.98),
            Dimension("remember", low=10, high=100, whole=True)),
    "alternates": (Dimension("alternate_every", low=1, high=6, whole=True),
                   Dimension("resources_every", low=1, high=8, whole=True),
                   Dimension("sigma", low=0.02, high=0.6, log=True), Dimension("horizon", low=1, high=4, whole=True)),
    "rl": (Dimension("alpha", low=0.5, high=20, log=True), Dimension("beta", low=0.2, high=5, log=True),
           Dimension("gamma", low=0.05, high=5, log=True), Dimension("discount", low=0.8, high=0.999),
           Dimension("levels", low=8, high=32, whole=True)),
    "static": (),
}


@dataclass(frozen=True)
class Space:
    scene: Mapping[str, Any]
    standing: Mapping[str, Any]  # the candidate without a search
    policies: tuple[str, ...]
    dimensions: tuple[Dimension, ...]

    def candidate(self, point: Sequence[float]) -> dict[str, Any]:
        values = {one.name: one.value(at) for one, at in zip(self.dimensions, point, strict=True)}
        control = self._control(values)
        static = control["policy"] == "static"
        return {"operators": {one["name"]: self._operator(one, values, static) for one in self.scene["operators"]},
                "control": control}

    def _control(self, values: Mapping[str, Any]) -> dict[str, Any]:
        standing, policy = self.standing["control"], values["policy"]
        parameters = {one.name: values[f"{policy}.{one.name}"] for one in PARAMETERS[policy]}
        if policy == "mpc":
            parameters["strategy"] = values["mpc.strategy"]
        forecast = standing["forecast"]
        if values["forecast"] != forecast["method"]:
            forecast = {**dict.fromkeys(forecast), "method": values["forecast"], "season": 0}
        return {"step": values["step"], "policy": policy, "parameters": parameters, "forecast": dict(forecast),
                "safety": {**standing["safety"], "cooldown": values["cooldown"]},
                "migration": standing["migration"], "rebalance": dict(standing["rebalance"])}

    def _operator(self, one: Mapping[str, Any], values: Mapping[str, Any], static: bool) -> dict[str, Any]:
        """The degree is where it begins; `static` stays there, with the alternate of the highest value."""
        name, alternate = one["name"], values.get(f"{one['name']}.alternate")
        pattern = {"name": values[f"{name}.pattern"], "workers": values[f"{name}.workers"]}
        if pattern["name"] == "window_farming":
            pattern |= {"batch": values[f"{name}.batch"], "schedule": "on_demand", "style": "agnostic"}
        elif pattern["name"] == "pane_farming":
            pattern |= {"schedule": "on_demand", "merge": "collector"}
        least = one["limits"]["least"]
        most = max(values[f"{name}.most"], pattern["workers"])
        if static:
            least = most = pattern["workers"]
            alternate = alternate and one["alternates"][one["limits"]["values"].index(max(one["limits"]["values"]))]
        return {"pattern": pattern, "alternate": alternate, "least": least, "most": most}


    def standards(self, standard: Callable[[str, str], float]) -> list[list[float]]:
        """For each policy the point of its standard parameters, with the operators as they stand. `standard` tells
        what a parameter of a policy is when nothing is said."""
        return [[one.place(self._standing(one.name, policy, standard)) for one in self.dimensions]
                for policy in self.policies]

    def _standing(self, name: str, policy: str, standard: Callable[[str, str], float]) -> Any:
        control = self.standing["control"]
        if name in ("policy", "mpc.strategy"):
            return policy if name == "policy" else None
        if name in ("step", "forecast", "cooldown"):
            return {"step": control["step"], "forecast": control["forecast"]["method"],
                    "cooldown": control["safety"]["cooldown"]}[name]
        owner, _, part = name.partition(".")
        if owner in self.policies:
            return standard(owner, part)
        chosen = self.standing["operators"][owner]
        return {"pattern": chosen["pattern"]["name"], "batch": chosen["pattern"].get("batch"),
                "workers": chosen["pattern"]["workers"], "most": chosen["most"], "alternate": chosen["alternate"]}[part]


def make_space(scene: Mapping[str, Any], standing: Mapping[str, Any], policies: Sequence[str]) -> Space:
    cores, own = scene["cores"], standing["control"]
    steps = tuple(sorted({*STEPS, float(own["step"])}))
    methods = tuple(dict.fromkeys((own["forecast"]["method"], "holt_winters", "ewma", "last")))
    found = [Dimension("policy", tuple(policies)), Dimension("step", steps), Dimension("forecast", methods),
             Dimension("cooldown", low=0, high=4, whole=True), Dimension("mpc.strategy", _strategies(scene))]
    found += [Dimension(f"{policy}.{one.name}", one.choices, one.low, one.high, one.log, one.whole)
              for policy in policies for one in PARAMETERS[policy]]
    for one in scene["operators"]:
        name, least = one["name"], one["limits"]["least"]
        start = max(least, math.ceil(2 * max(_busy(one))))  # twice what the peak needs: nobody begins with more
        found += [Dimension(f"{name}.pattern", tuple(one["ways"])), Dimension(f"{name}.batch", BATCHES),
                  Dimension(f"{name}.workers", low=least, high=min(cores, start), whole=True),
                  Dimension(f"{name}.most", low=least, high=cores, whole=True)]
        if one["alternates"]:
            found.append(Dimension(f"{name}.alternate", tuple(one["alternates"])))
    return Space(scene, standing, tuple(policies), tuple(found))


def _busy(one: Mapping[str, Any]) -> list[float]:
    """Workers that the highest rate keeps busy, by each pattern, with the dearest alternate."""
    peak = max(one["rates"])
    return [peak / way["slide"] * max(way["service"]) for way in one["ways"].values()]


def _strategies(scene: Mapping[str, Any]) -> tuple[str, ...]:
    first = scene["operators"][0]
    power = first["goals"]["minimize"] == "power" and len(first["limits"]["frequencies"]) > 1
    kinds = ("lat", "rho", "th") if first["goals"]["latency"] is not None else ("rho", "th")
    return tuple(f"{kind}_{'power' if power else 'node'}" for kind in kinds)
