"""What a picture says about a step: a kind, and a few short lines."""

from __future__ import annotations

import textwrap

from ...dsl import typed
from ...dsl.types import UNIT_NS
from ..artifacts.expression_text import expression_text
from ..artifacts.graph import Graph
from ..artifacts.step_text import connector_text, kind_of

LINE = 34
"""Characters in a line of a box."""
_FIELD_LINES = 3


def kind_label(step: typed.Step) -> str:
    """Like the kind, but an operator with a window is named by that."""
    body = step.body
    if isinstance(body, typed.Operator) and body.window is not None:
        return {typed.CountWindow: "count window", typed.TimeWindow: "time window",
                typed.SessionWindow: "session window", typed.DeltaWindow: "delta window"}[type(body.window)]
    return kind_of(body)


def detail_lines(step: typed.Step, graph: Graph) -> tuple[str, ...]:
    return tuple(line for text in _details(step, _input_unit(step, graph)) for line in wrapped(text, 2))


def field_lines(step: typed.Step) -> tuple[str, ...]:
    """The names of the fields that come out; of a sink none, its input says them."""
    if isinstance(step.body, typed.Sink | typed.Filter | typed.Branch | typed.Late | typed.Union_):
        return ()
    return wrapped(", ".join(column.name for column in step.record.fields), _FIELD_LINES)


def wrapped(text: str, lines: int) -> tuple[str, ...]:
    return tuple(textwrap.wrap(text, LINE, max_lines=lines, placeholder=" …")) or ("",)


def duration_text(count: int, unit: str | None) -> str:
    """In the largest unit in which it is a whole number: 60000 ms is 1min."""
    if unit is None or count == 0:
        return f"{count}{unit or ''}"
    length = count * UNIT_NS[unit]
    best = max((name for name, size in UNIT_NS.items() if length % size == 0), key=UNIT_NS.get)
    return f"{length // UNIT_NS[best]}{best}"


def _input_unit(step: typed.Step, graph: Graph) -> str | None:
    return graph.step(step.inputs[0]).unit if step.inputs else step.unit


def _details(step: typed.Step, unit: str | None) -> list[str]:
    body = step.body
    match body:
        case typed.Source():
            return [connector_text(body.connector), *_time_details(body, unit)]
        case typed.Sink():
            return [connector_text(body.connector)]
        case typed.Filter():
            return [expression_text(body.predicate)]
        case typed.Branch():
            return ["otherwise" if body.predicate is None else expression_text(body.predicate)]
        case typed.FlatMap():
            return [expression_text(body.sequence)]
        case typed.Join():
            return [_by(body.left_keys), f"within {duration_text(body.within, unit)}"]
        case typed.Scan() | typed.Update():
            return [_by(body.keys)] if body.keys else []
        case typed.Operator():
            return _operator_details(body, unit)
    return []


def _time_details(body: typed.Source, unit: str | None) -> list[str]:
    if body.processing_time:
        return ["processing time"]
    if body.event_time is None:
        return []
    slack = "auto" if body.slack is None else duration_text(body.slack, unit)
    return [f"event time {body.event_time}" + ("" if body.slack == 0 else f", slack {slack}")]


def _operator_details(body: typed.Operator, unit: str | None) -> list[str]:
    lines = [_by(body.keys)] if body.keys else []
    match body.window:
        case typed.CountWindow(size, slide, partial):
            lines.append(f"{size} tuples" + _slide(size, slide, str(slide)) + (", partial" if partial else ""))
        case typed.TimeWindow(size, slide):
            lines.append(duration_text(size, unit) + _slide(size, slide, duration_text(slide, unit)))
        case typed.SessionWindow(gap):
            lines.append(f"gap {duration_text(gap, unit)}")
        case typed.DeltaWindow(threshold, value):
            lines.append(f"{expression_text(threshold)} of {expression_text(value)}")
    if len(body.alternates) > 1:
        lines.append("alternates " + ", ".join(alternate.name for alternate in body.alternates))
    return lines


def _slide(size: int, slide: int, text: str) -> str:
    return "" if size == slide else f", slide {text}"


def _by(keys: tuple[str, ...]) -> str:
    return f"by {', '.join(keys)}"
