"""Checks a text with the standard library at hand: the one place that knows where `use std.…` lives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics


def check_text(text: str, file: str, diagnostics: Diagnostics, params: Mapping[str, str]) -> typed.Program | None:
    """The typed program; None when the diagnostics say what is wrong."""
    from dfc.dsl.typecheck import check

    return check(text, file, diagnostics, params=params, use_path={"std": str(library_folder())})


def library_folder() -> Path:
    import dfc.stdlib

    return Path(next(iter(dfc.stdlib.__path__)))
