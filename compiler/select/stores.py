"""How each step with state keeps it: tuples, one partial value a pane, or one running value; and why."""

from __future__ import annotations

from collections.abc import Mapping

from ...dsl import typed
from ...dsl.typed_walk import walk
from ..artifacts.graph import Graph
from ..artifacts.parts import made_of_panes, pane_function
from ..artifacts.plan import Sharing
from ..graph.walk import expressions_of
from ..patterns.function import combinable


def needs_tuples(program: typed.Program, step: typed.Step) -> bool:
    """Whether some alternate must see the tuples of its window, not only what can be combined from panes."""
    body = step.body
    if isinstance(body, typed.Operator) and any(isinstance(a.body, typed.CFunction) for a in body.alternates):
        return True
    return any(isinstance(part, typed.Aggregate) and not combinable(program, part)
               for expr in expressions_of(body) for part in walk(expr))


def pane_cut(window: typed.CountWindow | typed.TimeWindow) -> int:
    """Panes are cut where a window begins or ends: at each slide, and so far after it (0: nowhere else).
    Windows of `partial` are aligned at their ends, the others at their beginnings."""
    rest = window.size % window.slide
    at_end = isinstance(window, typed.CountWindow) and (window.partial or window.every_tuple)
    return (window.slide - rest) % window.slide if at_end else rest


def stores_of(graph: Graph, shared: tuple[Sharing, ...], apart: Mapping[str, str],
              patterns: Mapping[str, typed.Pattern]) -> tuple[tuple[str, str], ...]:
    """`apart` says of windows that could share their panes why they don't; `patterns` divide operators into parts."""
    steps = [step for step in graph.steps
             if isinstance(step.body, typed.Scan) or isinstance(step.body, typed.Operator) and step.body.window]
    return tuple((step.name, _divided(step, patterns[step.name], _store(graph.program, step, shared))
                  if step.name in patterns else _store(graph.program, step, shared) + apart.get(step.name, ""))
                 for step in steps)


_OF_PANES = "what the pane function gives is kept for each pane, and the merge function gets that of a window's panes"


def _divided(step: typed.Step, pattern: typed.Pattern, alone: str) -> str:
    """What an operator in parts keeps; `alone` is what it would keep in one."""
    in_c = pane_function(step.body) is not None
    match pattern.name:
        case "window_farming" if pattern.style == "active":
            return f"in each replica: {alone}"
        case "window_farming":
            return "one thread keeps the tuples of open windows; workers read each window where it lies"
        case "pane_farming":
            given = f"; {_OF_PANES}" if in_c else \
                ", and what they give is kept as one partial value a pane, combined for each window"
            return f"one thread keeps the tuples of open panes; workers read each pane where it lies{given}"
        case "window_partitioning" | "nesting":
            given = "the merge function gets what the pane function gave for each" if in_c else \
                "their partial values are combined when they come"
            return ("one thread keeps the tuples of open windows; workers read each a part of a window where it lies, "
                    f"and {given}")
    return alone


def _store(program: typed.Program, step: typed.Step, shared: tuple[Sharing, ...]) -> str:
    if made_of_panes(program, step):
        return f"keeps the tuples of open panes; {_OF_PANES}"
    if needs_tuples(program, step):
        return "keeps the tuples of open windows, because an alternate or aggregate needs them all"
    if isinstance(step.body, typed.Scan):
        return "one running value a group"
    window = step.body.window
    if isinstance(window, typed.TimeWindow) and window.every_tuple:
        return "one partial value a tuple, in two stacks that are combined at each tuple"
    how = "one partial value a pane, combined for each window"
    others = [name for one in shared if step.name in one.steps for name in one.steps if name != step.name]
    return f"{how}; takes its panes from those it shares with {', '.join(others)}" if others else how
