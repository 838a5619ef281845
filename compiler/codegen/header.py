"""The generated header: records, window views, and the prototypes of the user's C functions."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...dsl import typed
from .names import identifier
from .records import record_view
from .step_views import Context
from .templating import render


@dataclass(frozen=True)
class WindowView:
    step: str
    c: str
    record: str
    order: str


@dataclass(frozen=True)
class FunctionView:
    c: str
    what: str
    parameters: str


def header(context: Context) -> str:
    program = context.graph.program
    records = {step.record.name: step.record for step in context.graph.steps}
    views = [record_view(record, context.names, False, False) for record in records.values()]
    operators = [step for step in context.graph.steps if isinstance(step.body, typed.Operator) and _in_c(step)]
    functions = {f.c: f for step in operators for f in _functions(context, step)}
    return render("header.h.j2", app=program.name, file=os.path.basename(program.file),
                  guard=f"DFC_{identifier(program.name).upper()}_H", records=views,
                  windows=[_window(context, step) for step in operators if step.body.window],
                  functions=functions.values(), program=context.names.program)


def _in_c(step: typed.Step) -> bool:
    return any(isinstance(alternate.body, typed.CFunction) for alternate in step.body.alternates)


def _window(context: Context, step: typed.Step) -> WindowView:
    order = "tuples in order of arrival" if isinstance(step.body.window, typed.CountWindow) else \
        "tuples in order of event time, ties by arrival"
    return WindowView(step.name, context.names.window_view(step.name), context.record(context.input(step)), order)


def _functions(context: Context, step: typed.Step) -> list[FunctionView]:
    taken = f"const {context.names.window_view(step.name)} *window" if step.body.window else \
        f"const {context.record(context.input(step))} *tuple"
    parameters = f"{taken}, {context.record(step.record)} *result"
    return [FunctionView(a.body.name, f"alternate `{a.name}` of `{step.name}`", parameters)
            for a in step.body.alternates if isinstance(a.body, typed.CFunction)]
