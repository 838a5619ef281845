"""What a profile decides beside the costs that patterns are chosen by: how `slack auto` begins, which alternates begin;
and, in words, what came from it.

What a program means does not depend on it, with one exception that the program asks for: `slack auto` is measured
slack, and what was measured before is where it begins.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...dsl import typed
from ...dsl.check_bodies import LONGEST
from ...dsl.types import UNIT_NS
from ..artifacts.graph import Graph, with_steps
from ..artifacts.plan import Alternative
from ..artifacts.profile import Profile
from ..patterns.function import chosen_alternate
from .heavy import heavy_keys
from .search import Choice, Request, choose_patterns, rate_text, time_text, violation

_NANOSECONDS = 1e9
_SHOWN_KEYS = 3
_MET = 1e-3  # as far as goals may be missed and count as met


def begun_slack(graph: Graph, profile: Profile | None) -> Graph:
    """The graph whose `slack auto` begins with what the trace needed."""
    if profile is None:
        return graph
    return with_steps(graph, tuple(_begun(step, profile) for step in graph.steps))


def _begun(step: typed.Step, profile: Profile) -> typed.Step:
    body = step.body
    seconds = profile.slack(step.name) if isinstance(body, typed.Source) and body.slack is None else None
    if not seconds or step.unit is None:
        return step
    units = math.ceil(seconds * _NANOSECONDS / UNIT_NS[step.unit] - 1e-6)
    return replace(step, body=replace(body, slack_from=min(units, LONGEST)))


# --- alternates -------------------------------------------------------------------------------------


def choose_learned(graph: Graph, request: Request) -> tuple[Choice, tuple[Alternative, ...]]:
    """The patterns, and the alternates that begin because of what the profile measured: of each operator the one of
    the highest value with which the goals can be met; if there is none, the one that misses them least."""
    choice, found = choose_patterns(graph, request), []
    for step in graph.steps:
        if _missed(choice) and _comparable(graph.program, step, request):
            better = _other_alternate(graph, request, step, choice)
            if better is not None:
                alternate, choice = better
                graph = _preferring(graph, step, alternate)
                found.append(Alternative(step.name, alternate.name, _why(step, alternate, choice)))
    return choice, tuple(found)


def _missed(choice: Choice) -> bool:
    return violation(choice.best, choice.goals) > _MET


def _comparable(program: typed.Program, step: typed.Step, request: Request) -> bool:
    """Only goals that the program has make one alternate better than a more valuable one; only costs that are known."""
    if request.profile is None or not isinstance(step.body, typed.Operator) or len(step.body.alternates) < 2:
        return False
    if not any(goal.metric in ("latency", "throughput") for goal in program.goals):
        return False
    planned = request.file is not None and step.name in request.file.operators
    return not planned and all(one.cost is not None or request.profile.costs(step.name, one.name) is not None
                               for one in step.body.alternates)


def _other_alternate(graph: Graph, request: Request, step: typed.Step,
                     now: Choice) -> tuple[typed.Alternate, Choice] | None:
    least = max((goal.bound for goal in graph.program.goals if goal.metric == "value"), default=0.0)
    best: tuple[typed.Alternate, Choice] | None = None
    lowest = violation(now.best, now.goals)
    for one in sorted(step.body.alternates, key=lambda one: -one.value)[1:]:
        if one.value < least:
            break
        choice = choose_patterns(_preferring(graph, step, one), request)
        missed = violation(choice.best, choice.goals)
        if missed < lowest * (1 - 1e-6):
            best, lowest = (one, choice), missed
        if missed <= _MET:
            break
    return best


def _preferring(graph: Graph, step: typed.Step, chosen: typed.Alternate) -> Graph:
    """The graph for which this alternate is worth most, so that the models count its costs."""
    highest = max(one.value for one in step.body.alternates)
    alternates = tuple(replace(one, value=highest + 1) if one.name == chosen.name else one
                       for one in step.body.alternates)
    changed = replace(step, body=replace(step.body, alternates=alternates))
    return with_steps(graph, tuple(changed if one.name == step.name else one for one in graph.steps))


def _why(step: typed.Step, alternate: typed.Alternate, choice: Choice) -> str:
    dearer = chosen_alternate(step.body)
    cores = choice.model.machine.cores
    rest = "" if not _missed(choice) else ", and it misses them least"
    return (f"by the profile `{dearer.name}` (value {dearer.value:g}) would miss the goals on {cores} "
            f"core{'s' * (cores > 1)}{rest}")


# --- in words ---------------------------------------------------------------------------------------


def learned_lines(graph: Graph, choice: Choice, profile: Profile | None,
                  alternates: tuple[Alternative, ...]) -> tuple[str, ...]:
    """What was decided by the profile, a line each."""
    return () if profile is None else tuple(_lines(graph, choice, profile, {one.operator: one for one in alternates}))


def _lines(graph: Graph, choice: Choice, profile: Profile, alternates: Mapping[str, Alternative]) -> Iterator[str]:
    for step in graph.steps:
        if isinstance(step.body, typed.Source):
            yield from _source_lines(step, profile)
    heavy = {one.step: ", ".join(f"{key} ({share:.1%})" for key, share in one.keys[:_SHOWN_KEYS])
             for one in heavy_keys(graph, profile)}
    for name, load in choice.model.loads.items():
        measured = profile.operators.get(name)
        if measured is not None and load.cost.origin == "profile":
            costs = load.load.costs
            each = f", {time_text(costs.window)} a result" if load.function.windowed else ""
            yield f"costs of `{name}`: {time_text(costs.tuple)} a tuple{each}"
        if measured is not None and measured.keys is not None and load.function.keyed:
            yield f"keys of `{name}`: {measured.keys.count:,}, the heaviest {measured.keys.p_max:.2%} of the tuples"
        if name in heavy:
            yield f"`{name}`: {heavy[name]} begin with routes of their own, where one has half of a worker's share"
        if measured is not None and measured.selectivity is not None:
            yield f"results of `{name}`: {measured.selectivity:.3g} for each tuple"
        if name in alternates:
            yield f"`{name}` begins with `{alternates[name].alternate}`: {alternates[name].why}"
    fitted = profile.forecast()
    if fitted:
        yield f"forecaster: level {fitted['level']:g}, trend {fitted['trend']:g}, fitted to the recorded rates"


def _source_lines(step: typed.Step, profile: Profile) -> Iterator[str]:
    if step.name in profile.rates:
        yield f"rate of `{step.name}`: {rate_text(profile.rates[step.name])}, which degrees and layout are chosen for"
    if step.body.slack_from and step.unit is not None:
        longest = step.body.slack_from * UNIT_NS[step.unit]
        yield (f"`slack auto` of `{step.name}` begins with {time_text(longest)}: 99.9 % of the recorded tuples came no "
               "later than that behind the newest one")
