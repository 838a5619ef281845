"""Interval joins: keys of equal type on both sides, a distance in the unit of both streams' time."""

from __future__ import annotations

from . import ast, typed
from .check_bodies import constant_time
from .check_windows import key_field, no_event_time
from .context import Context
from .mistake import WRONG, Mistake
from .streams import Stream


def check_join(context: Context, stage: ast.JoinStage, left: Stream, right: Stream,
               body: typed.Construct) -> typed.Join | None:
    """The join of two streams whose records are known; None after a mistake that was reported."""
    unit = _unit(context, stage, left, right)
    keys = [pair for pair in (_key(context, key, left, right) for key in stage.keys) if pair]
    within = None
    with context.reporting():
        within = constant_time(context, stage.within, unit, "the distance of a join", least=0) if unit else None
    if within is None or len(keys) < len(stage.keys):
        return None
    return typed.Join(tuple(key.left.text for key in keys), tuple(key.right.text for key in keys), within, body)


def _unit(context: Context, stage: ast.JoinStage, left: Stream, right: Stream) -> str | None:
    """The unit of time that both sides have."""
    for stream, span in ((left, stage.within.span), (right, stage.other.span)):
        if stream.unit is None:
            context.report(no_event_time(span, f"a join of `{stream.step}`"))
            return None
    if left.unit != right.unit:
        context.report(Mistake("E0311", stage.other.span,
                               f"one side has event time in {left.unit}, the other in {right.unit}",
                               expected="event time of the same unit on both sides"))
        return None
    return left.unit


def _key(context: Context, key: ast.JoinKey, left: Stream, right: Stream) -> ast.JoinKey | None:
    with context.reporting():
        a, b = key_field(context, key.left, left.record), key_field(context, key.right, right.record)
        if WRONG not in (a, b) and a != b:
            raise Mistake("E0315", key.span, f"`{key.left}` is {a} on the left, `{key.right}` is {b} on the right",
                          expected="keys of equal type")
        return key
    return None
