"""What a user asks of the plan, on the command line or in the program, made into a request of the search."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...dsl import typed
from ...dsl.diagnostics import Diagnostics, ProgramError
from ...dsl.span import Span
from ..artifacts.plan import Plan
from ..artifacts.profile import Profile, ProfileError, from_json
from ..patterns.forced import check_forced, check_generated, forced_patterns
from .search import Request


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of the command line: --cores, --profile, --pattern."""

    cores: int | None = None
    profile: str | None = None
    patterns: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.cores or self.profile or self.patterns)


def request_of(program: typed.Program, asked: Asked) -> Request:
    """Raises ProgramError when a pattern does not apply or the profile is none of this program."""
    diagnostics = Diagnostics()
    forced = forced_patterns(program, asked.patterns, diagnostics)
    check_forced(program, forced, diagnostics)
    profile = _profile(asked.profile, program.name, diagnostics) if asked.profile else None
    if diagnostics.failed:
        raise ProgramError(diagnostics)
    return Request(asked.cores or _cores(program), profile, forced)


def require_generated(request: Request, plan: Plan) -> None:
    """Raises ProgramError for a forced pattern that there is no code for."""
    diagnostics = Diagnostics()
    check_generated(request.forced, lambda name: plan.segment_of(name).kind, diagnostics)
    if diagnostics.failed:
        raise ProgramError(diagnostics)


def _cores(program: typed.Program) -> int:
    """As many as `resources` allows; else those of this machine."""
    for block in program.blocks:
        cores = dict(block.settings).get("cores") if block.kind == "resources" else None
        if cores is not None:
            return int(cores[1] if isinstance(cores, tuple) else cores)
    return len(os.sched_getaffinity(0))


def _profile(path: str, app: str, diagnostics: Diagnostics) -> Profile | None:
    place = Span(path, 1, 1, 1, 2)
    try:
        with open(path, encoding="utf-8") as file:
            return from_json(file.read(), app)
    except OSError as error:
        diagnostics.add("E0510", place, f"the profile can't be read: {error.strerror}")
    except UnicodeDecodeError:
        diagnostics.add("E0510", place, "the profile can't be read: it is no UTF-8 text")
    except ProfileError as error:
        diagnostics.add(error.code, place, f"the profile can't be used: {error}")
    return None
