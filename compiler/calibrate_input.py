"""What runs of a program said, whether it had enough input for that, and what to do where it had not.

A program that has just started runs slower: memory is touched and code is run for the first time. Runs agree about
that, so that it can't be seen in how they differ, and more of them do not help. A longer one does: generated input goes
on, and who has files is told how much more is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics, ProgramError

from .artifacts.graph import Graph

# A run must be so many times as long as the program takes to start. With 1.5 times a cheap window seemed to take 7
# times what it takes in the long run, with 5 times half as much again, with 16 times a sixth more.
_ENOUGH = 12.0
# Calls with results that must have been timed, unless those took so long that nothing else matters beside them.
_FEW_RESULTS, _LONG_RESULTS_NS = 16, 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """What the runs said: the timed steps, the summary of the timed run, of the plain one, of that in stages, and of
    that with a worker a core (`crowded`).
    noise: nanoseconds for a tuple by which runs of the same kind differed. lost: those that an element lost which was
    handed over, by the number of workers. starting: seconds of CPU time until a program runs, in no other figure."""

    steps: Sequence[Mapping]
    inside: float
    outside: float
    timed: Mapping
    plain: Mapping
    staged: Mapping | None = None
    crowded: Mapping | None = None
    noise: float = 0.0
    lost: Mapping[int, float] = field(default_factory=dict)
    starting: float = 0.0


def require_input(graph: Graph, measured: Measured) -> None:
    if measured.plain["in"]:
        return
    diagnostics = Diagnostics()
    source = next(step for step in graph.steps if not step.inputs)
    diagnostics.add("E0514", source.span, "no tuple came from the sources, so that there is nothing to measure",
                    expected="input: other sources can be given behind `--`, as `-- --source NAME=csv:FILE`")
    raise ProgramError(diagnostics)


def is_too_short(graph: Graph, measured: Measured, diagnostics: Diagnostics) -> bool:
    """Whether the run is over before what comes first, which costs more, no longer counts."""
    times = _times(measured)
    if times <= 1:
        return False
    taken, read = _taken(measured), measured.plain["in"]
    source = next(step for step in graph.steps if not step.inputs)
    _warn(diagnostics, source, f"{read} tuple{'s' * (read > 1)} took {taken * 1e3:.2g} ms, and the program "
          f"{measured.starting * 1e3:.2g} ms to start: costs can't be measured in so short a run, and are left out",
          f"about {_more(read, times)} tuples or more")
    return True


def unknown(graph: Graph, parts: Graph, measured: Measured, diagnostics: Diagnostics) -> set[str]:
    """Operators with windows of which too few gave results while they were timed, in too short a time."""
    found = set()
    for step in graph.steps:
        if not isinstance(step.body, typed.Operator) or step.body.window is None:
            continue
        data = measured.steps[parts.steps.index(parts.step(step.name))]
        calls, taken = (sum(data[part][what] for part in ("push_with_results", "watermark_with_results"))
                        for what in ("calls", "ns"))
        if calls < _FEW_RESULTS and taken < _LONG_RESULTS_NS:
            found.add(step.name)
            out = next(one["out"] for one in measured.timed["steps"] if one["name"] == step.name)
            _warn(diagnostics, step, f"`{step.name}` gave {out} result{'s' * (out != 1)}, {calls} of them while it was "
                  "timed: what one costs can't be told, and the costs of this operator are left out",
                  f"about {_more(measured.plain['in'], 2 * _FEW_RESULTS / max(calls, 0.5))} tuples or more")
    return found


def _warn(diagnostics: Diagnostics, step: typed.Step, message: str, expected: str) -> None:
    diagnostics.add("W0515", step.span, message, expected=f"more input: {expected}", severity="warning")


def _more(read: int, times: float) -> str:
    """So many times as much, in a round number."""
    wanted = read * times
    size = 10 ** math.floor(math.log10(wanted))
    return f"{math.ceil(wanted / size) * size:.0f}"


def longer_words(graph: Graph, words: Sequence[str], measured: Measured) -> tuple[str, ...] | None:
    """Words that let generators go on where the run was too short; None where it was not, or others give input."""
    from .codegen.connectors import connector_spec

    sources, times = [step for step in graph.steps if not step.inputs], _times(measured)
    if times <= 1 or not all(_could_go_on(step.body.connector) for step in sources) or _has_other_sources(words):
        return None
    found = []
    for step in sources:
        settings = tuple((name, math.ceil(2 * times) * value if name == "count" else value)
                         for name, value in step.body.connector.settings)
        found += ["--source", f"{step.name}={connector_spec(replace(step.body.connector, settings=settings))}"]
    return (*found, *words)


def _could_go_on(connector: typed.Connector) -> bool:
    """Whether it ends because the program says so, and not because its time is over."""
    settings = dict(connector.settings)
    return connector.kind == "generate" and bool(settings.get("count")) and not settings.get("paced")


def _has_other_sources(words: Sequence[str]) -> bool:
    return any(word.startswith("--source") for word in words)


def _taken(measured: Measured) -> float:
    """Seconds of work. A source that makes the program wait makes the run longer, others on the machine too."""
    return min(measured.plain["cpu_seconds"], measured.plain["seconds"])


def _times(measured: Measured) -> float:
    """How many times as long the run would have to be."""
    least = _ENOUGH * measured.starting
    return least / max(_taken(measured), least / 1e4) if least else 0.0
