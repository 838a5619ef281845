"""The functions that steps call each other by; in a build that measures costs each call goes through a timer."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl import typed
from ..select.segments import is_keyed
from .step_views import Context
from .templating import render


def calls(context: Context, step: typed.Step, port: int) -> tuple[str, str]:
    """The functions that take a tuple and a watermark of this input."""
    c = context.store(step.name)
    suffix = f"_{port}" if len(step.inputs) > 1 or isinstance(step.body, typed.Union_) else ""
    return f"{c}_push{suffix}", f"{c}_watermark{suffix}"


def called(context: Context, step: typed.Step, port: int) -> tuple[str, str]:
    """What another step calls."""
    push, watermark = calls(context, step, port)
    return (f"timed_{push}", f"timed_{watermark}") if context.timed else (push, watermark)


@dataclass(frozen=True)
class CallView:
    segment: str
    tuple: str
    number: int
    push: str
    watermark: str
    timed_push: str
    timed_watermark: str
    hash: str


def timed_code(context: Context) -> str:
    return render("timed.c.j2", calls=[_view(context, step, port) for step in context.takers(context.graph.steps)
                                       for port in range(len(step.inputs)) if not isinstance(step.body, typed.Late)])


def _view(context: Context, step: typed.Step, port: int) -> CallView:
    segment = f"struct segment_{context.plan.segment_of(step.name).number}"
    taken = context.record(step.record) if isinstance(step.body, typed.Port) else context.given(step.inputs[port])
    suffix = f"_{port}" if isinstance(step.body, typed.Join) else ""
    hash_ = f"{context.store(step.name)}_hash_of{suffix}(t)" if is_keyed(step) else ""
    return CallView(segment, taken, context.number(step.name), *calls(context, step, port),
                    *called(context, step, port), hash_)
