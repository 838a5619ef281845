"""The generated header: records, window views, and the prototypes of the user's C functions.

The same declarations go to two readers: the C compiler, as APP.h, and cffi, for the reference interpreter.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...dsl import typed
from ...dsl.diagnostics import Diagnostics, Note, ProgramError
from ...dsl.span import Span
from ..graph.used import used_aggregates, used_functions
from ..graph.walk import has_time
from .c_types import declare
from .kept_views import pointer
from .names import column, identifier
from .program_functions import parameters, value_type
from .records import record_view
from .step_views import Context
from .templating import render


@dataclass(frozen=True)
class WindowView:
    step: str
    c: str
    record: str


@dataclass(frozen=True)
class ColumnsView:
    step: str
    alternate: str
    c: str
    columns: tuple[str, ...]
    timed: bool
    key: tuple[str, ...]


@dataclass(frozen=True)
class PanesView:
    step: str
    c: str
    key: tuple[str, ...]


@dataclass(frozen=True)
class FunctionView:
    c: str
    what: str
    parameters: str
    span: Span
    result: str = "bool"
    note: str = " False: no result."


@dataclass(frozen=True)
class StructView:
    """The state of an `update`, or the ports of an operator."""

    c: str
    what: str
    declarations: tuple[str, ...]


def header(context: Context) -> str:
    """APP.h, for the program itself and the user's C."""
    return _header(context, "", _views(context))


def public_header(context: Context, embedding: str) -> str:
    """include/APP.h, for programs that embed this one: its records, and `embedding`, what it offers."""
    return _header(context, embedding, _public(context))


def public_declarations(context: Context) -> str:
    return render("declarations.h.j2", **_public(context))


def _header(context: Context, embedding: str, views: dict[str, object]) -> str:
    program = context.graph.program
    return render("header.h.j2", app=program.name, file=os.path.basename(program.file),
                  guard=f"DFC_{identifier(program.name).upper()}_H", program=context.names.program, embedding=embedding,
                  **views)


def library_files(context: Context) -> tuple[tuple[str, str], ...]:
    """The C that makes a library of the user's functions: the header, and a table that asks for each of them."""
    app, functions = context.graph.program.name, _functions(context)
    return ((f"{app}.h", header(context)), ("library.c", render("library.c.j2", app=app, functions=functions)))


def declarations(context: Context) -> str:
    """What APP.h declares for the user's functions, without directives, as cffi reads it."""
    return render("declarations.h.j2", **_views(context))


def _views(context: Context) -> dict[str, object]:
    records = {step.record.name: step.record for step in context.graph.steps}
    return {"records": [record_view(record, context.names, False, False) for record in records.values()],
            "windows": [_window(context, step) for step in _in_c(context) if step.body.window and _takes_tuples(step)],
            "columns": [_columns(context, step, a)
                        for step in _in_c(context) for a in step.body.alternates if a.columns],
            "panes": [_panes(context, step) for step in _in_c(context) if _takes_panes(step)],
            "structs": [*_states(context), *_ports(context)], "functions": _functions(context)}


def _public(context: Context) -> dict[str, object]:
    """Records only: two headers that one file includes must not both declare the user's `fit`."""
    return {**_views(context), "windows": [], "columns": [], "panes": [], "structs": [], "functions": []}


def _in_c(context: Context) -> list[typed.Step]:
    """The operators with an alternate in C."""
    return [step for step in context.graph.steps if isinstance(step.body, typed.Operator)
            and any(isinstance(alternate.body, typed.CFunction) for alternate in step.body.alternates)]


def _window(context: Context, step: typed.Step) -> WindowView:
    return WindowView(step.name, context.names.window_view(step.name), context.record(context.input(step)))


def _takes_tuples(step: typed.Step) -> bool:
    return any(isinstance(a.body, typed.CFunction) and not a.columns for a in step.body.alternates)


def _columns(context: Context, step: typed.Step, alternate: typed.Alternate) -> ColumnsView:
    record = context.input(step)
    return ColumnsView(step.name, alternate.name, context.names.columns_view(step.name, alternate.name),
                       tuple(f"const {pointer(record.field(name).type, column(name))}" for name in alternate.columns),
                       has_time(context.graph, step), _key(context, step))


def _key(context: Context, step: typed.Step) -> tuple[str, ...]:
    record = context.input(step)
    return tuple(declare(record.field(name).type, identifier(name)) for name in step.body.keys)


def _takes_panes(step: typed.Step) -> bool:
    return any(isinstance(a.body, typed.CFunction) and a.body.merge for a in step.body.alternates)


def _panes(context: Context, step: typed.Step) -> PanesView:
    return PanesView(step.name, context.names.panes_view(step.name), _key(context, step))


def _states(context: Context) -> list[StructView]:
    return [StructView(context.names.state(step.name), f"The state of a key of `{step.name}`",
                       tuple(declare(f.type, identifier(f.name)) for f in step.body.state.fields))
            for step in context.graph.steps if isinstance(step.body, typed.Update)]


def _ports(context: Context) -> list[StructView]:
    return [StructView(context.names.ports(step.name),
                       f"What `{step.name}` puts out: set has_PORT for each that you fill",
                       tuple(f"bool has_{identifier(port)}; {context.record(record)} {identifier(port)}"
                             for port, record in step.body.ports))
            for step in context.graph.steps if isinstance(step.body, typed.Operator) and step.body.ports]


def _functions(context: Context) -> list[FunctionView]:
    """Every function once. One name can't stand for two types, so then it can't serve both alternates."""
    found: dict[str, FunctionView] = {}
    alternates = [view for step in _in_c(context) for view in _alternates(context, step)]
    for view in [*alternates, *_updates(context), *_scalars(context), *_aggregates(context)]:
        if view.c == "main":
            raise _taken_name(view)
        first = found.setdefault(view.c, view)
        if first.parameters != view.parameters:
            raise _two_types(first, view)
    return list(found.values())


def _alternates(context: Context, step: typed.Step) -> list[FunctionView]:
    found = []
    for a in (a for a in step.body.alternates if isinstance(a.body, typed.CFunction)):
        what, result = f"alternate `{a.name}` of `{step.name}`", f"{context.output(step)} *result"
        if a.body.merge:
            found += [FunctionView(a.body.name, f"{what}, for a pane",
                                   f"const {_taken(context, step, a)}, dfrt_bytes *result", a.body.span,
                                   note=" False: the pane has no result."),
                      FunctionView(a.body.merge, f"{what}, from the results of its panes",
                                   f"const {context.names.panes_view(step.name)} *panes, {result}", a.body.span)]
        else:
            found.append(FunctionView(a.body.name, what, f"const {_taken(context, step, a)}, {result}", a.body.span))
    return found


def _taken(context: Context, step: typed.Step, alternate: typed.Alternate) -> str:
    if alternate.columns:
        return f"{context.names.columns_view(step.name, alternate.name)} *window"
    return f"{context.names.window_view(step.name)} *window" if step.body.window else \
        f"{context.record(context.input(step))} *tuple"


def _updates(context: Context) -> list[FunctionView]:
    return [FunctionView(step.body.next.name, f"changes the state of `{step.name}`",
                         f"{context.names.state(step.name)} *state, const {context.record(context.input(step))} *tuple",
                         step.body.next.span, "void", "")
            for step in context.graph.steps
            if isinstance(step.body, typed.Update) and isinstance(step.body.next, typed.CFunction)]


def _scalars(context: Context) -> list[FunctionView]:
    return [FunctionView(f.body.name, f"the function `{f.name}`", ", ".join(parameters(f.params)) or "void",
                         f.body.span, value_type(f.result), "")
            for f in used_functions(context.graph) if isinstance(f.body, typed.CFunction)]


def _aggregates(context: Context) -> list[FunctionView]:
    """Three functions for each aggregate in C. The state begins as zeroed bytes, aligned for anything."""
    found = []
    for a in (a for a in used_aggregates(context.graph) if a.c is not None):
        what = f"the aggregate `{a.name}`"
        words = ", ".join(["void *state", *parameters(a.params)])
        found += [FunctionView(f"{a.c.name}_add", f"{what}, a value enters", words, a.c.span, "void", ""),
                  FunctionView(f"{a.c.name}_combine", f"{what}, takes in another state",
                               "void *left, const void *right", a.c.span, "void", ""),
                  FunctionView(f"{a.c.name}_lower", f"{what}, its result", "const void *state", a.c.span,
                               value_type(a.result), "")]
    return found


def _taken_name(view: FunctionView) -> ProgramError:
    """A library would take it, a program would not: it is wrong for both."""
    found = Diagnostics()
    found.add("E0904", view.span, f"the name `{view.c}` is taken: the program's own `main` has it",
              expected="another name for the C function")
    return ProgramError(found)


def _two_types(first: FunctionView, second: FunctionView) -> ProgramError:
    found = Diagnostics()
    found.add("E0903", second.span, f"the C function `{second.c}` would need two types",
              expected="a function of its own for each operator, which may call a shared one",
              notes=(Note(f"{first.what} calls it with ({first.parameters})", first.span),
                     Note(f"{second.what} calls it with ({second.parameters})", second.span)))
    return ProgramError(found)
