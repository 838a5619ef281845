"""Words such as `map:rate=25k,dispersion=2000` and `uniform:most=50ms`: a kind, and its parameters with units."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = re.compile(r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?)([kMG]?)(/s)?")
_DURATION = re.compile(r"(\d+(?:\.\d*)?)(ns|us|ms|s|min|h|d)")


class WrongSetting(Exception):
    """The line that the user reads, without the option's name."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`kind` is amount, seconds or path; without a default it must be given. The value is above `low`, or equal to it
    if `closed`, and below `high`."""

    kind: str
    default: float | None = None
    low: float = 0.0
    high: float = math.inf
    closed: bool = False


def amount(text: str) -> float:
    """300000, 300k, 1.5M/s."""
    found = _AMOUNT.fullmatch(text)
    if not found:
        raise WrongSetting(f"`{text}` is no number such as 300k or 0.8")
    return float(found[1]) * _SCALES[found[2]]


def seconds(text: str) -> float:
    """50ms, 24h; 0."""
    found = _DURATION.fullmatch(text)
    if not found and text != "0":
        raise WrongSetting(f"`{text}` is no time such as 50ms or 24h")
    return float(found[1]) * _SECONDS[found[2]] if found else 0.0


def split(word: str, kinds: Mapping[str, Mapping[str, Parameter]]) -> tuple[str, dict[str, object]]:
    """The kind and the value of each of its parameters. A kind whose only parameter is a path takes it as it is."""
    kind, _, rest = word.partition(":")
    if kind not in kinds:
        raise WrongSetting(f"`{kind}` is none of {', '.join(kinds)}")
    known = kinds[kind]
    if list(known) == ["path"]:
        if not rest:
            raise WrongSetting(f"`{kind}` needs a file, as in {kind}:FILE")
        return kind, {"path": rest}
    given = dict(_pair(pair, kind, known) for pair in rest.split(",") if pair)
    missing = [name for name, parameter in known.items() if parameter.default is None and name not in given]
    if missing:
        raise WrongSetting(f"`{kind}` needs {', '.join(missing)}, as in {kind}:{','.join(f'{n}=…' for n in missing)}")
    return kind, {name: given.get(name, parameter.default) for name, parameter in known.items()}


def _pair(pair: str, kind: str, known: Mapping[str, Parameter]) -> tuple[str, float]:
    name, equals, text = pair.partition("=")
    if not equals or name not in known:
        raise WrongSetting(f"`{pair}` is no setting of {kind}, which has {', '.join(known)}")
    parameter = known[name]
    value = amount(text) if parameter.kind == "amount" else seconds(text)
    if not (parameter.low < value < parameter.high or parameter.closed and value == parameter.low):
        bound = "" if math.isinf(parameter.high) else f" and below {parameter.high:g}"
        word = "at least" if parameter.closed else "above"
        raise WrongSetting(f"{name} of {kind} is {word} {parameter.low:g}{bound}, not {text}")
    return name, value
