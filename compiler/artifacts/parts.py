"""The parts that a windowed operator is divided into, so that several threads can work on its windows.

One thread keeps the tuples and says what is to be done (`Windows`); workers do it, reading the tuples where they lie
(`Work`); where they compute only parts of a result, another step puts these together (`Merge`). The last part keeps the
operator's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...dsl import typed
from ...dsl.types import Record
from .arrival import arrives_in_order
from .graph import Graph, with_steps


@dataclass(frozen=True, slots=True)
class Windows:
    """Keeps tuples. gives: `whole` windows, `panes` (each once), or `shares` of windows, one for each worker."""

    operator: typed.Step
    pattern: typed.Pattern
    gives: str

    @property
    def keys(self) -> tuple[str, ...]:
        return self.operator.body.keys


@dataclass(frozen=True, slots=True)
class Work:
    """Computes the result of a window, or what can be merged (`partial`); `second`: in a second pass over its share."""

    operator: typed.Step
    pattern: typed.Pattern
    partial: bool
    second: bool = False


@dataclass(frozen=True, slots=True)
class Reduce:
    """What the shares of a window give together goes back to workers, for a second pass."""

    operator: typed.Step
    pattern: typed.Pattern


@dataclass(frozen=True, slots=True)
class Merge:
    """Results from `panes` (a window over pane results, with the operator's keys), or from the `shares` of one."""

    operator: typed.Step
    pattern: typed.Pattern
    of: str

    @property
    def keys(self) -> tuple[str, ...]:
        return self.operator.body.keys


@dataclass(frozen=True, slots=True)
class Owned:
    """The whole operator in every replica, each of which sees all tuples and owns some of the windows."""

    operator: typed.Step
    pattern: typed.Pattern


Part = Windows | Work | Reduce | Merge | Owned
TOGETHER = ("sequential", "key_partitioning")


def pane_function(body: object) -> typed.CFunction | None:
    """The function over panes that an operator is, where all its windows are made of panes."""
    if isinstance(body, typed.Operator) and len(body.alternates) == 1 and body.window is not None:
        function = body.alternates[0].body
        return function if isinstance(function, typed.CFunction) and function.merge else None
    return None


def in_panes(body: object) -> bool:
    """Whether this part gives or takes what a function in C found out for panes."""
    parted = isinstance(body, Merge) or isinstance(body, Work) and body.partial
    return parted and pane_function(body.operator.body) is not None


def in_ring(body: object) -> bool:
    """Whether pane workers merge themselves: what is known of open windows goes from one to the next."""
    return isinstance(body, Part) and body.pattern.merge == "ring"


def together(body: object) -> bool:
    """Whether the parts run in one segment, one after the other: neighbouring windows share panes also there."""
    return isinstance(body, Part) and body.pattern.name in TOGETHER


def owns_windows(body: object) -> bool:
    """Whether replicas of this part see everything and each has windows of its own."""
    several = isinstance(body, Merge) and (body.pattern.merge_workers or 1) > 1
    return isinstance(body, Owned) or several and body.of == "panes" and not body.keys


def workers_compute(body: object) -> bool:
    """Whether workers compute what aggregates take from a tuple. The thread that keeps tuples would do so once, workers
    do for each window that the tuple is in: each has less to do where they are more than those windows."""
    if not isinstance(body, Part) or isinstance(body, Owned) or together(body):
        return False
    window, pattern = body.operator.body.window, body.pattern
    windows = 1 if pattern.name == "pane_farming" else -(-window.size // window.slide)
    return windows == 1 or windows < (pattern.workers or 1) * (pattern.inner_workers or 1)


def parts_of(step: typed.Step, pattern: typed.Pattern | None, input_: Record) -> tuple[typed.Step, ...]:
    """The operator as parts; itself when the pattern needs none."""
    if pattern is None:
        return (step,)
    match pattern.name:
        case "sequential" | "key_partitioning" if pane_function(step.body):
            return _by_panes(step, pattern, input_)
        case "window_farming" if pattern.style == "active":
            return (replace(step, body=Owned(step, pattern)),)
        case "window_farming":
            return _chain(step, input_, Windows(step, pattern, "whole"), Work(step, pattern, False))
        case "pane_farming":
            return _chain(step, input_, Windows(step, pattern, "panes"), Work(step, pattern, True),
                          Merge(step, pattern, "panes"))
        case "window_partitioning" if pattern.reduce == "synchronous":
            return _chain(step, input_, Windows(step, pattern, "shares"), Work(step, pattern, True),
                          Reduce(step, pattern), Work(step, pattern, True, True), Merge(step, pattern, "shares"))
        case "window_partitioning" | "nesting":
            return _chain(step, input_, Windows(step, pattern, "shares"), Work(step, pattern, True),
                          Merge(step, pattern, "shares"))
    return (step,)


def _by_panes(step: typed.Step, pattern: typed.Pattern, input_: Record) -> tuple[typed.Step, ...]:
    if not _panes_pay(step.body.window):
        return (step,)
    return _chain(step, input_, Windows(step, pattern, "panes"), Work(step, pattern, True),
                  Merge(step, pattern, "panes"))


def _panes_pay(window: typed.CountWindow | typed.TimeWindow) -> bool:
    """A function over panes pays where windows overlap, in panes of more than a tuple."""
    return window.slide < window.size and not (isinstance(window, typed.CountWindow) and window.largest_pane == 1)


def made_of_panes(program: typed.Program, step: typed.Step) -> bool:
    """Whether an operator is divided into panes also without a pattern."""
    return _can_be_cut(program, step) and _panes_pay(step.body.window)


def _can_be_cut(program: typed.Program, step: typed.Step) -> bool:
    """Panes are neighbours in time: those of a count window only when its tuples arrive so. A key that expires takes
    its tuples along, so it has them all."""
    if pane_function(step.body) is None or step.body.expire_after is not None:
        return False
    match step.body.window:
        case typed.TimeWindow(every_tuple=False):
            return True
        case typed.CountWindow(every_tuple=False):
            return arrives_in_order(program, step)
    return False


def _chain(step: typed.Step, input_: Record, *bodies: Part) -> tuple[typed.Step, ...]:
    """What a part before the last puts out is no record of the program: `record` says which tuples it is about."""
    names = [*(f"{step.name}.{word}" for word in ("windows", "work", "reduced", "second")[:len(bodies) - 1]), step.name]
    inputs = [step.inputs, *((name,) for name in names)]
    return tuple(replace(step, name=name, inputs=inputs[i], body=body,
                         record=step.record if name == step.name else input_)
                 for i, (name, body) in enumerate(zip(names, bodies, strict=True)))


def divided(graph: Graph, patterns: Mapping[str, typed.Pattern]) -> Graph:
    """The graph with these operators as parts; and those that are made of panes, also without a pattern."""
    alone = {step.name: typed.Pattern("sequential", step.span)
             for step in graph.steps if _can_be_cut(graph.program, step)}
    chosen = {name: pattern for name, pattern in patterns.items() if pattern.name not in TOGETHER or name in alone}
    chosen = alone | chosen
    if not chosen:
        return graph
    return with_steps(graph, tuple(part for step in graph.steps for part in (
        parts_of(step, chosen[step.name], graph.step(step.inputs[0]).record) if step.name in chosen else (step,))))
