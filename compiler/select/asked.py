"""What a user asks of the plan, on the command line or in the program, made into a request of the search."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ...dsl import typed
from ...dsl.diagnostics import Diagnostics, ProgramError
from ...dsl.span import Span
from ..artifacts import plan_file
from ..artifacts.plan_file import PlanFile
from ..artifacts.profile import Profile, ProfileError, from_json
from ..patterns.forced import check_forced, forced_patterns
from .search import Request

Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of the command line: --cores, --profile, --pattern, --plan."""

    cores: int | None = None
    profile: str | None = None
    patterns: tuple[str, ...] = ()
    plan: str | None = None

    def __bool__(self) -> bool:
        return bool(self.cores or self.profile or self.patterns or self.plan)


def request_of(program: typed.Program, asked: Asked) -> Request:
    """Raises ProgramError when a pattern does not apply, or the profile or the plan is none of this program. The
    command line goes before the plan, the plan before the program."""
    diagnostics = Diagnostics()
    file = _plan_file(asked.plan, program, diagnostics) if asked.plan else None
    forced = forced_patterns(program, asked.patterns, diagnostics)
    said = {word.partition("=")[0] for word in asked.patterns}
    forced |= {name: one.pattern for name, one in file.operators.items() if name not in said} if file else {}
    check_forced(program, forced, diagnostics)
    profile = _profile(asked.profile, program, diagnostics) if asked.profile else None
    if diagnostics.failed:
        raise ProgramError(diagnostics)
    given = asked.cores or (file.cores if file else cores_of(program))
    explicit = bool(asked or forced)
    taken = explicit or given is not None or _asks_in_text(program)
    return Request(given or len(os.sched_getaffinity(0)), profile, forced, file=file, taken=taken,
                   elastic=not explicit and is_controlled(program), this_machine=given is None)


def cores_of(program: typed.Program) -> int | None:
    """As many as `resources` allows."""
    for block in program.blocks:
        cores = dict(block.settings).get("cores") if block.kind == "resources" else None
        if cores is not None:
            return int(cores[1] if isinstance(cores, tuple) else cores)
    return None


def is_controlled(program: typed.Program) -> bool:
    """Whether a controller may change the number of workers while the program runs."""
    if program.controls:
        return any(one.policy not in ("off", "static") for one in program.controls)
    return bool(program.goals or program.minimize)


def _asks_in_text(program: typed.Program) -> bool:
    """`pattern auto` of an operator; other patterns of the program are forced."""
    return any(isinstance(step.body, typed.Operator) and step.body.pattern is not None for step in program.steps)


def _plan_file(path: str, program: typed.Program, diagnostics: Diagnostics) -> PlanFile | None:
    def parse(text: str, place: Span) -> PlanFile:
        found = plan_file.from_json(text, program.name, place)
        _require_same_steps(program, found)
        return found

    return _read("plan", "E0520", path, parse, diagnostics)


def _profile(path: str, program: typed.Program, diagnostics: Diagnostics) -> Profile | None:
    def parse(text: str, _place: Span) -> Profile:
        found = from_json(text, program.name)
        _require_known_steps(program, found)
        return found

    return _read("profile", "E0510", path, parse, diagnostics)


def _read(what: str, unreadable: str, path: str, parse: Callable[[str, Span], Read],
          diagnostics: Diagnostics) -> Read | None:
    """Why a file can't be read, or used, stands at its beginning; `unreadable` is the code for the former."""
    place = Span(path, 1, 1, 1, 2)
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read(), place)
    except OSError as error:
        diagnostics.add(unreadable, place, f"the {what} can't be read: {error.strerror}")
    except UnicodeDecodeError:
        diagnostics.add(unreadable, place, f"the {what} can't be read: it is no UTF-8 text")
    except (plan_file.PlanError, ProfileError) as error:
        diagnostics.add(error.code, place, f"the {what} can't be used: {error}")
    return None


def _require_same_steps(program: typed.Program, found: PlanFile) -> None:
    steps = {step.name: step.body for step in program.steps}
    for name, one in found.operators.items():
        if name not in steps:
            raise plan_file.PlanError("E0523", f"it is of another version of `{program.name}`: it has `{name}`, and "
                                               "the program does not; search again")
        alternates = [other.name for other in steps[name].alternates] if isinstance(steps[name], typed.Operator) else []
        if one.alternate is not None and one.alternate not in alternates:
            raise plan_file.PlanError("E0523", f"it is of another version of `{program.name}`: `{name}` has no "
                                               f"alternate `{one.alternate}`; search again")


def _require_known_steps(program: typed.Program, found: Profile) -> None:
    """A step that is gone was renamed or removed since: what was measured is of another version."""
    known = {step.name for step in program.steps}
    gone = next((name for name in (*found.rates, *found.seen, *found.operators) if name not in known), None)
    if gone is not None:
        raise ProfileError("E0513", f"it is of another version of `{program.name}`: it has `{gone}`, and the program "
                                    "does not; measure again")
