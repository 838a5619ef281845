"""Checks a text with the standard library at hand: the one place that knows where `use std.…` lives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics


def check_text(text: str, file: str, diagnostics: Diagnostics, params: Mapping[str, str]) -> typed.Program | None:
    """The typed program; None when the diagnostics say what is wrong."""
    from dfc.dsl.typecheck import check

    program = check(text, file, diagnostics, params=params, use_path={"std": str(library_folder())})
    return program if program is None or _patterns_apply(program, diagnostics) else None


def _patterns_apply(program: typed.Program, diagnostics: Diagnostics) -> bool:
    """Whether every pattern that the program asks for can be had; what can't is reported."""
    if not any(isinstance(step.body, typed.Operator) and step.body.pattern for step in program.steps):
        return True
    from .patterns.forced import check_forced, forced_patterns

    check_forced(program, forced_patterns(program, (), diagnostics), diagnostics)
    return not diagnostics.failed


def library_folder() -> Path:
    import dfc.stdlib

    return Path(next(iter(dfc.stdlib.__path__)))
