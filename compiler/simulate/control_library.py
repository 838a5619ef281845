"""The controllers of generated programs, the same C, called from Python.

    library = open_controls()
    controller = library.controller(Options("mpc", {"horizon": 2}), limits, goals, Setting(4))
    decision = controller.step({"step": 1.0, "arrivals": 11_900, …}, limits, Setting(4))

A controller belongs to one thread at a time, as in C. Names of parameters, policies and fields are those of the headers
in `runtime_c/control`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from cffi import FFI

from ..failure import Usage

NAN = math.nan
BALANCED, FLUX = "balanced", "flux"
BALANCERS = (BALANCED, FLUX)
MINIMIZE = ("nothing", "cores", "power", "cost")
FORECASTERS = ("holt_winters", "ewma", "last")


class Setting(NamedTuple):
    """`frequency` and `alternate` are places in the lists of Limits."""

    workers: int
    frequency: int = 0
    alternate: int = 0
    shed: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    workers_most: int
    workers_least: int = 1
    frequencies: tuple[float, ...] = (1.0,)
    voltages: tuple[float, ...] = (1.0,)
    service_threads: float = 0.0
    values: tuple[float, ...] = (1.0,)
    costs: tuple[float, ...] = (NAN,)
    shed_most: float = 0.0
    power_most: float = 0.0


@dataclass(frozen=True, slots=True)
class Goals:
    """NaN: no such goal. `quantile` 0 asks for the mean."""

    latency: float = NAN
    quantile: float = 0.0
    throughput: float = NAN
    value: float = NAN
    minimize: str = "nothing"


@dataclass(frozen=True, slots=True)
class Options:
    policy: str
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    forecaster: str = "holt_winters"
    level: float = NAN
    trend: float = NAN
    seasonal: float = NAN
    smoothing: float = NAN
    season: int = 0
    cooldown: int = 0
    warmup: int = 0
    trust: float = NAN


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    standard: float
    least: float
    most: float
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    name: str
    about: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Decision:
    """`expected` and each of `alternatives` map the names of dfrt_prediction to numbers."""

    setting: Setting
    forecast: float
    reason: str
    expected: Mapping[str, float]
    alternatives: tuple[tuple[Setting, Mapping[str, float]], ...] = ()


@dataclass(slots=True)
class Wish:
    """What an operator's controller wants; settled by the manager, which writes `wanted`, `granted` and `reason`."""

    now: Setting
    wanted: Setting
    workers_least: int
    need: float
    granted: bool = True
    reason: str = ""


@functools.cache
def open_controls() -> Controls:
    """Opened once in a process. Where they come ready-made (shipped.py), what builds them is not there."""
    from ..build.control import control_library

    path, declarations = control_library()
    return Controls(str(path), declarations)


class Controls:
    def __init__(self, path: str, declarations: str):
        self.ffi = FFI()
        self.ffi.cdef(declarations)
        self.lib = self.ffi.dlopen(path)
        self._powers: dict[tuple, float] = {}
        self.policies = {policy.name: policy for policy in self._policies()}

    def _policies(self) -> Sequence[Policy]:
        found = []
        while (policy := self.lib.dfrt_policy_at(len(found))) != self.ffi.NULL:
            found.append(Policy(self.text(policy.name), self.text(policy.about), tuple(self._parameters(policy))))
        return found

    def _parameters(self, policy) -> Sequence[Parameter]:
        found, null = [], self.ffi.NULL
        while policy.parameters != null and policy.parameters[len(found)].name != null:
            one = policy.parameters[len(found)]
            choices: list[str] = []
            while one.choices != null and one.choices[len(choices)] != null:
                choices.append(self.text(one.choices[len(choices)]))
            found.append(Parameter(self.text(one.name), one.standard, one.least, one.most, tuple(choices)))
        return found

    def text(self, characters) -> str:
        return self.ffi.string(characters).decode()

    def policy(self, name: str) -> Policy:
        if name not in self.policies:
            raise Usage(f"there is no policy `{name}`; there are {', '.join(self.policies)}")
        return self.policies[name]

    def controller(self, options: Options, limits: Limits, goals: Goals, now: Setting) -> Controller:
        return Controller(self, options, limits, goals, now)

    # --- structs --------------------------------------------------------------------------------------

    def limits(self, limits: Limits):
        made = self.ffi.new("dfrt_limits *")
        made.workers_least, made.workers_most = limits.workers_least, limits.workers_most
        made.frequency_count, made.alternate_count = len(limits.frequencies), len(limits.values)
        for name, values in (("frequencies", limits.frequencies), ("voltages", limits.voltages),
                             ("value", limits.values), ("cost", limits.costs)):
            getattr(made, name)[0:len(values)] = list(values)
        made.service_threads, made.shed_most = limits.service_threads, limits.shed_most
        made.power_most = limits.power_most
        return made

    def goals(self, goals: Goals):
        made = self.ffi.new("dfrt_goals *")
        made.latency, made.throughput, made.value = goals.latency, goals.throughput, goals.value
        made.latency_of = self.lib.DFRT_GOAL_QUANTILE if goals.quantile else self.lib.DFRT_GOAL_MEAN
        made.quantile = goals.quantile or NAN
        made.minimize = MINIMIZE.index(goals.minimize)
        return made

    def values(self, policy: str, given: Mapping[str, float | str]) -> list[float]:
        """By the order of the policy's parameters, NaN for those that are not given."""
        known = self.policy(policy).parameters
        names = [one.name for one in known]
        for name in given:
            if name not in names:
                raise Usage(f"policy `{policy}` has no parameter `{name}`; it has {', '.join(names) or 'none'}")
        return [_value(policy, one, given[one.name]) if one.name in given else NAN for one in known]

    def power(self, limits: Limits, workers: int, frequency: int) -> float:
        """Of the model, in its unit."""
        key = (limits.frequencies, limits.voltages, limits.service_threads, workers, frequency)
        if key not in self._powers:
            self._powers[key] = self.lib.dfrt_model_power(self.limits(limits), workers, frequency)
        return self._powers[key]

    def throughput(self, results: float, arrivals: float, shed: float = 0.0) -> float:
        """As the goal counts it, where every trigger is due a result; `shed`: the share that is not in `arrivals`."""
        made, now = self.ffi.new("dfrt_measured *"), self.ffi.new("dfrt_setting *")
        made.step, made.arrivals, made.results, now.shed = 1.0, arrivals, results, shed
        made.alternate_selectivity[0] = 1.0
        return self.lib.dfrt_throughput(made, now[0])

    # --- manager and balancer -------------------------------------------------------------------------

    def manager(self, cores: int, changes_a_step: float, most_changes: float):
        made = self.ffi.new("dfrt_manager *")
        self.lib.dfrt_manager_start(made, cores, changes_a_step, most_changes)
        return made

    def settle(self, manager, wishes: Sequence[Wish]) -> None:
        made = self.ffi.new("dfrt_wish[]", len(wishes))
        for one, wish in zip(made, wishes, strict=True):
            one.now, one.wanted, one.workers_least, one.need = wish.now, wish.wanted, wish.workers_least, wish.need
        self.lib.dfrt_manager_settle(manager, made, len(wishes))
        for one, wish in zip(made, wishes, strict=True):
            wish.wanted, wish.granted, wish.reason = _setting(one.wanted), bool(one.granted), self.text(one.reason)

    def rebalance(self, balancer: str, weights: np.ndarray, owner: np.ndarray, workers: int,
                  imbalance: float = 0.1) -> np.ndarray:
        """The new owners; the old ones stay as they are."""
        weights, made = np.ascontiguousarray(weights, dtype=np.float64), owner.astype(np.uint16)
        order = np.empty(len(made), dtype=np.uint32)
        which = self.lib.DFRT_FLUX if balancer == FLUX else self.lib.DFRT_BALANCED
        self.lib.dfrt_rebalance(which, self._in("double[]", weights), self._in("uint16_t[]", made), len(made), workers,
                                imbalance, self._in("uint32_t[]", order))
        return made

    def unevenness(self):
        """What `rebalance_due` remembers from step to step."""
        return self.ffi.new("dfrt_unevenness *")

    def rebalance_due(self, seen, loads: np.ndarray, grain: float, moved_lately: bool) -> bool:
        loads = np.ascontiguousarray(loads, dtype=np.float64)
        return bool(self.lib.dfrt_rebalance_due(seen, self._in("double[]", loads), len(loads), grain, moved_lately))

    def rebalance_pays(self, weights: np.ndarray, before: np.ndarray, after: np.ndarray, workers: int) -> bool:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        return bool(self.lib.dfrt_rebalance_pays(
            self._in("double[]", weights), self._in("uint16_t[]", before.astype(np.uint16)),
            self._in("uint16_t[]", after.astype(np.uint16)), len(weights), workers))

    def _in(self, kind: str, array: np.ndarray):
        return self.ffi.from_buffer(kind, array, require_writable=True)


class Controller:
    """One operator's controller; its memory is freed with it."""

    def __init__(self, controls: Controls, options: Options, limits: Limits, goals: Goals, now: Setting):
        ffi, lib = controls.ffi, controls.lib
        made = ffi.new("dfrt_controller_options *")
        made.policy = lib.dfrt_policy_named(controls.policy(options.policy).name.encode())
        values = controls.values(options.policy, options.parameters)
        made.parameters[0:len(made.parameters)] = values + [NAN] * (len(made.parameters) - len(values))
        forecaster = ffi.new("char[]", options.forecaster.encode())
        made.forecaster = forecaster
        for name in ("level", "trend", "seasonal", "smoothing", "season", "cooldown", "warmup", "trust"):
            setattr(made, name, getattr(options, name))
        self._controls, self._limits = controls, (limits, controls.limits(limits))
        self._goals = controls.goals(goals)
        self._kept = (made, forecaster)  # C keeps pointers to them
        self._room = _aligned(lib.dfrt_controller_size(made, self._limits[1]))
        self._controller = lib.dfrt_controller_start(ffi.from_buffer(self._room), made, self._limits[1], self._goals,
                                                     now)
        self._measured, self._decision = ffi.new("dfrt_measured *"), ffi.new("dfrt_decision *")

    def step(self, measured: Mapping[str, float | Sequence[float]], limits: Limits, now: Setting,
             alternatives: bool = False) -> Decision:
        """One control step; what is not in `measured` is not known."""
        if limits is not self._limits[0]:
            self._limits = (limits, self._controls.limits(limits))
        self._fill(measured)
        self._controls.lib.dfrt_controller_step(self._controller, self._measured, self._limits[1], now, self._decision)
        made = self._decision
        others = tuple((_setting(one.setting), _prediction(one)) for one in
                       made.alternatives[0:made.alternative_count]) if alternatives else ()
        return Decision(_setting(made.setting), made.forecast, self._controls.text(made.reason),
                        _prediction(made.expected), others)

    def _fill(self, measured: Mapping[str, float | Sequence[float]]) -> None:
        for name, kind in self._controls.ffi.typeof("dfrt_measured").fields:
            if kind.type.kind == "array":
                values = list(measured.get(name, ()))
                getattr(self._measured, name)[0:kind.type.length] = values + [NAN] * (kind.type.length - len(values))
            else:
                missing = False if kind.type.cname in ("bool", "_Bool") else NAN
                setattr(self._measured, name, measured.get(name, missing))

    @property
    def error(self) -> float:
        return self._controls.lib.dfrt_controller_error(self._controller)

    @property
    def fell_back(self) -> bool:
        return bool(self._controls.lib.dfrt_controller_fell_back(self._controller))

    def save(self) -> str:
        """What the policy has learned; empty where there is nothing to keep."""
        lib, ffi = self._controls.lib, self._controls.ffi
        needed = lib.dfrt_controller_save(self._controller, ffi.NULL, 0)
        text = ffi.new("char[]", needed + 1)
        lib.dfrt_controller_save(self._controller, text, needed + 1)
        return self._controls.text(text)

    def load(self, text: str) -> bool:
        return bool(self._controls.lib.dfrt_controller_load(self._controller, text.encode()))


def _aligned(size: int) -> np.ndarray:
    """Zeroed memory that is aligned for anything."""
    room = np.zeros(size + 64, dtype=np.uint8)
    start = -room.ctypes.data % 64
    return room[start:start + size]


def _setting(made) -> Setting:
    return Setting(made.workers, made.frequency, made.alternate, made.shed)


def _prediction(made) -> dict[str, float]:
    return {name: getattr(made, name) for name in ("utilisation", "latency", "throughput", "power", "cost")}


def _value(policy: str, parameter: Parameter, given: float | str) -> float:
    """A number, or the place of a word among the choices."""
    if parameter.choices:
        if given not in parameter.choices:
            choices = ", ".join(parameter.choices)
            raise Usage(f"`{parameter.name}` of policy `{policy}` is `{given}`; it can be {choices}")
        return float(parameter.choices.index(str(given)))
    try:
        value = float(given)
    except ValueError:
        value = NAN
    if not parameter.least <= value <= parameter.most:
        raise Usage(f"`{parameter.name}` of policy `{policy}` is `{given}`; it can be {parameter.least:g} to "
                    f"{parameter.most:g}")
    return value
