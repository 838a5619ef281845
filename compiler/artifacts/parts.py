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
from .graph import Graph, with_steps


@dataclass(frozen=True, slots=True)
class Windows:
    """Keeps tuples. gives: `whole` windows, `panes` (each once), or `shares` of windows, one for each worker."""

    operator: typed.Step
    pattern: typed.Pattern
    gives: str


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


def owns_windows(body: object) -> bool:
    """Whether replicas of this part see everything and each has windows of its own."""
    several = isinstance(body, Merge) and (body.pattern.merge_workers or 1) > 1
    return isinstance(body, Owned) or several and body.of == "panes" and not body.keys


def parts_of(step: typed.Step, pattern: typed.Pattern | None, input_: Record) -> tuple[typed.Step, ...]:
    """The operator as parts; itself when the pattern needs none."""
    if pattern is None:
        return (step,)
    match pattern.name:
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


def _chain(step: typed.Step, input_: Record, *bodies: Part) -> tuple[typed.Step, ...]:
    """What a part before the last puts out is no record of the program: `record` says which tuples it is about."""
    names = [*(f"{step.name}.{word}" for word in ("windows", "work", "reduced", "second")[:len(bodies) - 1]), step.name]
    inputs = [step.inputs, *((name,) for name in names)]
    return tuple(replace(step, name=name, inputs=inputs[i], body=body,
                         record=step.record if name == step.name else input_)
                 for i, (name, body) in enumerate(zip(names, bodies, strict=True)))


def divided(graph: Graph, patterns: Mapping[str, typed.Pattern]) -> Graph:
    """The graph with these operators as parts."""
    if not patterns:
        return graph
    return with_steps(graph, tuple(part for step in graph.steps for part in (
        parts_of(step, patterns[step.name], graph.step(step.inputs[0]).record) if step.name in patterns else (step,))))
