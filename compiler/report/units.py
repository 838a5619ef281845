"""Numbers as people read them: three digits and a unit. What is not known is a dash."""

from __future__ import annotations

import math

UNKNOWN = "–"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def count_text(value: float | None) -> str:
    """12 300 is `12.3k`."""
    if _is_unknown(value):
        return UNKNOWN
    for size, prefix in _PREFIXES:
        if abs(value) >= size * 0.9995:
            return f"{_digits(value / size)}{prefix}"
    return "0" if value == 0 else _digits(value)


def rate_text(value: float | None) -> str:
    return UNKNOWN if _is_unknown(value) else f"{count_text(value)}/s"


def time_text(seconds: float | None) -> str:
    """0.0042 is `4.2 ms`."""
    if _is_unknown(seconds):
        return UNKNOWN
    for size, unit in _TIMES:
        if abs(seconds) >= size * 0.9995:
            return f"{_digits(seconds / size)} {unit}"
    return "0 s" if seconds == 0 else f"{_digits(seconds / 1e-9)} ns"


def clock_text(seconds: float | None) -> str:
    """How long something has lasted: `42 s`, `2 min 13 s`, `3 h 5 min`."""
    if _is_unknown(seconds):
        return UNKNOWN
    whole = int(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def axis_text(seconds: float) -> str:
    """The same for round values: `2 min`, and parts of a second where they matter."""
    if seconds < 60:
        return f"{seconds:g} s"
    return clock_text(seconds).removesuffix(" 0 s").removesuffix(" 0 min")


def share_text(value: float | None) -> str:
    return UNKNOWN if _is_unknown(value) else f"{value * 100:.0f} %"


def hertz_text(value: float | None) -> str:
    return UNKNOWN if _is_unknown(value) else f"{value / 1e9:.2f} GHz"


def _is_unknown(value: float | None) -> bool:
    return value is None or not math.isfinite(value)


def _digits(value: float) -> str:
    """Three of them, without zeros at the end of a fraction."""
    text = f"{value:.2f}" if abs(value) < 9.995 else f"{value:.1f}" if abs(value) < 99.95 else f"{value:.0f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
