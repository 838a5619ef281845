"""Lengths of time as people write them on a command line: `0.45ms`, `4s`."""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_FORM = re.compile(r"(\d{1,18}(?:\.\d*)?|\.\d+)\s*(ns|us|ms|s|min|h)?", re.ASCII)


def duration(word: str) -> float | None:
    """In seconds, which is also the unit where none is written; None when it is none."""
    match = _FORM.fullmatch(word)
    return float(match[1]) * _SECONDS[match[2] or "s"] if match else None
