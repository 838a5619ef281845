"""Which windows over one stream share their panes.

Windows of one kind over one stream, with one key, see the same tuples in the same groups. Those that can be combined
from panes share the groups: a tuple enters one partial value, of the pane between two edges of any of the windows,
and each window takes the panes from there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from fractions import Fraction

from ...dsl import typed
from ...dsl.typed_walk import walk
from ..artifacts.graph import Graph
from ..artifacts.plan import Sharing
from ..graph.faults import can_fault
from ..graph.walk import expressions_of
from .stores import needs_tuples, pane_cut

# Each window takes each pane, which costs about as much as to enter a tuple into a window of its own. So many panes
# more than a window would have alone may be taken for each tuple that need not be entered.
MOST_TAKEN = Fraction(1, 2)


def shared_windows(graph: Graph, forced: Collection[str] = ()) -> tuple[tuple[Sharing, ...], dict[str, str]]:
    """Who shares, and why others that have the same stream and key don't. A step with a `forced` pattern is on its
    own."""
    found: dict[tuple, list[typed.Step]] = defaultdict(list)
    for step in graph.steps:
        if _from_panes(graph.program, step) and step.name not in forced:
            found[_stream_and_rules(step)].append(step)
    shared: list[Sharing] = []
    apart: dict[str, str] = {}
    for steps in (steps for steps in found.values() if len(steps) > 1):
        faulty = [step for step in steps if may_fault(graph.program, step)]
        apart |= {step.name: "; shares no panes, because its values can fault and each step counts its own"
                  for step in faulty}
        groups = _groups([step for step in steps if step not in faulty])
        apart |= {group[0].name: "; shares no panes, because they would be too short to pay"
                  for group in groups if len(group) == 1 and len(groups) > 1}
        shared += [Sharing(tuple(step.name for step in group), _why(group)) for group in groups if len(group) > 1]
    return tuple(shared), apart


def _from_panes(program: typed.Program, step: typed.Step) -> bool:
    match step.body:
        case typed.Operator(window=typed.CountWindow() | typed.TimeWindow() as window):
            moving = isinstance(window, typed.TimeWindow) and window.every_tuple
            return not moving and not _has_pattern(step.body) and not needs_tuples(program, step)
    return False


def _has_pattern(body: typed.Operator) -> bool:
    return body.pattern is not None and body.pattern.name != "auto"


def _stream_and_rules(step: typed.Step) -> tuple:
    """What must be equal: then groups begin and end together."""
    body = step.body
    counts = isinstance(body.window, typed.CountWindow)
    rule = body.expire_after if counts else body.window.processing
    return step.inputs, body.keys, body.order, type(body.window), rule


def _groups(steps: list[typed.Step]) -> list[list[typed.Step]]:
    """Takes one after the other as long as sharing pays; what is left over shares among itself."""
    groups: list[list[typed.Step]] = []
    while steps:
        group: list[typed.Step] = []
        for step in steps:
            group += [step] if _pays([*group, step]) else []
        groups.append(group)
        steps = [step for step in steps if step not in group]
    return groups


def _pays(steps: list[typed.Step]) -> bool:
    """Over time only panes with tuples exist, and nobody knows how many: there it always pays."""
    windows = [step.body.window for step in steps]
    if isinstance(windows[0], typed.TimeWindow):
        return True
    more = len(windows) * _panes_a_tuple(windows) - sum(_panes_a_tuple([window]) for window in windows)
    return more <= MOST_TAKEN * (len(windows) - 1)


def _why(steps: list[typed.Step]) -> str:
    keys = f"groups by {', '.join(steps[0].body.keys)}" if steps[0].body.keys else "one group"
    windows = [step.body.window for step in steps]
    counts = isinstance(windows[0], typed.CountWindow)
    size = f", about {float(1 / _panes_a_tuple(windows)):.4g} tuples a pane" if counts else ""
    return f"same stream, {keys}; panes are cut at the edges of all windows{size}"


def _panes_a_tuple(windows: list[typed.CountWindow]) -> Fraction:
    """How many edges of count windows there are for each tuple, at most."""
    edges = {(window.slide, offset) for window in windows for offset in (0, pane_cut(window))}
    return sum((Fraction(1, edge[0]) for edge in edges if not any(_among(edge, other) for other in edges)), Fraction(0))


def _among(edge: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether every edge of the one (each `slide` tuples from an offset on) is one of the other."""
    return edge != other and edge[0] % other[0] == 0 and (edge[1] - other[1]) % other[0] == 0


# --- faults -----------------------------------------------------------------------------------------


def may_fault(program: typed.Program, step: typed.Step) -> bool:
    """Whether a tuple that enters a window can count a fault: division by zero, an index outside."""
    aggregates = [part for expr in expressions_of(step.body) for part in walk(expr)
                  if isinstance(part, typed.Aggregate)]
    definitions = {definition.name: definition for definition in program.aggregates}
    lifted = [value for one in aggregates if one.user for value in definitions[one.function].lift or ()]
    return any(can_fault(program, value) for value in (*_values(aggregates), *lifted))


def _values(aggregates: list[typed.Aggregate]) -> list[typed.Expr]:
    return [value for one in aggregates if one.value is not None for value in (one.value, *one.more)]
