"""Which settings there are: of connectors, goals, control policies, patterns, resources and clouds.

Tables only; `check_settings.py` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """What a setting takes.

    `kind`: duration, rate, int, number, ratio (0 to 1), frequency, size, bandwidth, bool, text, word (one of
    `choices`) or words. `span` allows a range `a..b`, `least` and `most` are the smallest and the largest value, of a
    duration in nanoseconds, of a frequency in hertz. What a controller gets has the bounds of its configuration.
    """

    kind: str
    choices: tuple[str, ...] = ()
    span: bool = False
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class ConnectorKind:
    """`path` says whether it takes one; `fields` whether a field's name is a setting too."""

    name: str
    path: bool
    source: bool = True
    sink: bool = True
    settings: tuple[tuple[str, Setting], ...] = ()
    fields: bool = False


_POSITIVE, _NATURAL = Setting("number", least=0), Setting("int", least=0)
_AT_LEAST_ONE = Setting("int", least=1)
_DAY = 86_400 * 10**9
_WEIGHT = Setting("number", least=0, most=1e6)
_DURATION, _RATIO, _BOOL, _TEXT = Setting("duration"), Setting("ratio"), Setting("bool"), Setting("text")

_SOCKET = (("format", Setting("word", ("csv", "jsonl", "lines", "binary"))), ("listen", _BOOL), ("public", _BOOL),
           ("retry", _BOOL), ("max_row", Setting("size")))

CONNECTORS: dict[str, ConnectorKind] = {kind.name: kind for kind in (
    ConnectorKind("csv", True),
    ConnectorKind("jsonl", True),
    ConnectorKind("lines", True, sink=False),
    ConnectorKind("binary", True),
    ConnectorKind("tcp", True, settings=_SOCKET),
    ConnectorKind("unix", True, settings=_SOCKET),
    ConnectorKind("discard", False, source=False),
    ConnectorKind("generate", False, sink=False, fields=True, settings=(
        ("count", _NATURAL), ("rate", Setting("rate")), ("keys", _AT_LEAST_ONE), ("zipf", _POSITIVE),
        ("disorder", _DURATION), ("seed", _NATURAL), ("start", Setting("int")), ("paced", _BOOL),
        ("rates", _TEXT), ("weights", _TEXT), ("arrivals", Setting("word", ("even", "poisson"))))),
)}

# --- goals ------------------------------------------------------------------------------------------

STATISTICS = ("mean", "p50", "p75", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True, slots=True)
class Metric:
    """What a goal is about: the statistics it has, the direction that makes sense, the bound's kind."""

    statistics: tuple[str, ...]
    op: str
    bound: Setting
    example: str


METRICS: dict[str, Metric] = {
    "latency": Metric(STATISTICS, "<=", Setting("duration", least=1, most=_DAY), "goal latency mean <= 7ms"),
    "throughput": Metric(("",), ">=", _RATIO, "goal throughput >= 0.95"),
    "value": Metric(("",), ">=", Setting("number", least=0, most=1e9), "goal value >= 0.8"),
}

MINIMIZE = ("power", "cores", "cost")

# --- control ----------------------------------------------------------------------------------------

_PAUSE = Setting("duration", least=0, most=_DAY)
_COMMON = {
    "step": Setting("duration", least=10**6, most=_DAY), "shadow": _BOOL, "cooldown": _PAUSE, "warmup": _PAUSE,
    "rebalance": Setting("word", ("balanced", "flux", "off")), "imbalance": _WEIGHT,
    "migration": Setting("word", ("fluent", "r_blk", "s_blk")), "log": _TEXT,
}
_FORECAST = {
    "forecast": Setting("word", ("holt_winters", "last_value", "last", "ewma")),
    "season": Setting("int", least=1, most=1 << 20),
    "smoothing": _RATIO, "level": _RATIO, "trend": _RATIO, "seasonal": _RATIO,
}
MOST_WORKERS = 256
_WORKERS = Setting("int", least=1, most=MOST_WORKERS)
_HORIZON = Setting("int", least=1, most=16)
_PATIENCE = Setting("int", least=1, most=10**6)
_SHARE_OF_GOAL = Setting("number", least=0, most=1e9)
_HERTZ = Setting("frequency", least=1, most=1e12)
_THRESHOLDS = {"utilisation": Setting("ratio", span=True), "latency": Setting("duration", least=1, most=_DAY),
               "patience": _PATIENCE}

POLICIES: dict[str, dict[str, Setting]] = {
    "off": {},
    "auto": {**_COMMON, **_FORECAST, "horizon": _HORIZON},
    "mpc": {
        **_COMMON, **_FORECAST, "horizon": _HORIZON,
        "strategy": Setting("word", ("goals", "th_node", "th_power", "lat_node", "lat_power", "rho_node", "rho_power")),
        "alpha": _WEIGHT, "beta": _WEIGHT, "gamma": _WEIGHT, "bound": _RATIO,
        "solver": Setting("word", ("envelope", "dynamic", "branch_and_bound")),
    },
    "rule": {**_COMMON, **_THRESHOLDS, "low": _SHARE_OF_GOAL, "high": _SHARE_OF_GOAL},
    "threshold": {**_COMMON, **_THRESHOLDS, "low": _RATIO, "high": _RATIO},
    "spl": {**_COMMON, "congestion": _RATIO, "sensitivity": _RATIO, "remember": _PATIENCE},
    "rl": {**_COMMON, **_FORECAST, "discount": Setting("ratio", most=0.9999),
           "levels": Setting("int", least=2, most=64), "explore": _RATIO, "alpha": _WEIGHT, "beta": _WEIGHT,
           "gamma": _WEIGHT, "learning": _RATIO,
           "state": Setting("word", ("rate", "utilisation"))},
    "static": {"degree": _WORKERS, "frequency": _HERTZ, "alternate": Setting("word")},
    "alternates": {**_COMMON, **_FORECAST, "alternate_every": _PATIENCE, "resources_every": _PATIENCE,
                   "horizon": _HORIZON, "sigma": _WEIGHT},
    "pid": {**_COMMON, "kp": _POSITIVE, "ki": _POSITIVE, "kd": _POSITIVE, "setpoint": _RATIO, "theta": _POSITIVE,
            "alpha": _POSITIVE},
    "fuzzy": {**_COMMON, "limit": _RATIO},
}

# --- patterns ---------------------------------------------------------------------------------------

_SCHEDULE = Setting("word", ("round_robin", "on_demand"))

# The names of the settings are those of `typed.Pattern`.
PATTERNS: dict[str, dict[str, Setting]] = {
    "auto": {},
    "sequential": {},
    "farm": {"workers": _WORKERS},
    "key_partitioning": {"workers": _WORKERS},
    "window_farming": {"workers": _WORKERS, "batch": Setting("int", least=1, most=1 << 20), "schedule": _SCHEDULE,
                       "style": Setting("word", ("active", "agnostic"))},
    "pane_farming": {"workers": _WORKERS, "merge_workers": _WORKERS, "schedule": _SCHEDULE,
                     "merge": Setting("word", ("collector", "farm", "shuffled", "ring"))},
    "window_partitioning": {"workers": _WORKERS, "reduce": Setting("word", ("asynchronous", "synchronous")),
                            "partition": Setting("word", ("round_robin", "contiguous"))},
    "nesting": {"outer": Setting("word", ("window_farming", "key_partitioning")), "workers": _WORKERS,
                "inner_workers": _WORKERS},
}

ORDERS = ("total", "key", "free")
PROPERTIES = ("associative", "commutative", "invertible", "decomposable")

# --- resources and cloud ----------------------------------------------------------------------------

BLOCKS: dict[str, dict[str, Setting]] = {
    "resources": {"cores": Setting("int", span=True, least=1, most=MOST_WORKERS),
                  "frequency": Setting("frequency", span=True, least=1, most=1e12),
                  "memory": Setting("size", span=True), "power": Setting("number", span=True, least=0, most=1e6),
                  "voltage": Setting("number", span=True, least=0.01, most=100), "shed": _RATIO},
    "vm": {"cores": _AT_LEAST_ONE, "speed": _POSITIVE, "bandwidth": Setting("bandwidth"), "price": _POSITIVE,
           "billing": _DURATION, "startup": _DURATION, "memory": Setting("size")},
    "region": {"nodes": Setting("int", span=True, least=0), "price": _POSITIVE, "bandwidth": Setting("bandwidth")},
}
