"""Text to typed program: reads the files, checks every declaration, and reports all mistakes of one run."""

from __future__ import annotations

import os.path
import re
from collections.abc import Mapping
from typing import TypeVar

from . import ast, typed
from .check_functions import check_aggregate, check_function, declare_functions, report_recursion
from .check_params import COMMAND_LINE, check_params, command_line
from .check_quality import check_blocks, check_controls, check_goal, check_minimize
from .check_streams import check_streams
from .check_types import check_record
from .context import Context
from .diagnostics import Diagnostics, Note
from .mistake import Mistake
from .resolve import Modules, Read, load, read_file
from .span import Span
from .stream_order import StreamDecl
from .streams import Streams

Kind = TypeVar("Kind")


def check(text: str, file: str, diagnostics: Diagnostics, *, params: Mapping[str, str] | None = None,
          read: Read = read_file, use_path: Mapping[str, str] | None = None,
          texts: dict[str, str] | None = None) -> typed.Program | None:
    """The typed program, or None when the diagnostics have an error.

    `params` are the `-D name=value` of the command line, `use_path` maps the first part of a module's name to
    its folder, and `texts` takes the text of every file that was read, for the renderer.
    """
    modules = load(text, file, diagnostics, read, use_path or {})
    if texts is not None:
        texts.update(modules.texts)
        texts[COMMAND_LINE] = command_line(params or {})
    program = _Checker(modules, file, diagnostics).program(params or {})
    return None if diagnostics.failed else program


class _Checker:
    """One run over the declarations: what streams need comes before the streams."""

    def __init__(self, modules: Modules, file: str, diagnostics: Diagnostics):
        self.modules, self.file, self.tree = modules, file, modules.trees[file]
        self.context = Context(diagnostics, modules.texts, modules=modules.in_use, lost=modules.lost,
                               incomplete=modules.incomplete, broken=modules.broken)
        self.decls = modules.declarations()

    def program(self, params: Mapping[str, str]) -> typed.Program:
        context = self.context
        records = self._once("record", ast.RecordDecl)
        for decl in records:
            context.records[decl.name.text] = check_record(context, decl)
        check_params(context, self._once("parameter", ast.ParamDecl), params)
        functions, aggregates = self._functions()
        streams = check_streams(context, self._all(*StreamDecl.__args__))
        goals = [check_goal(context, decl) for decl in self._all(ast.GoalDecl)]
        minimize = check_minimize(context, self._all(ast.MinimizeDecl))
        controls = check_controls(context, self._all(ast.ControlDecl), streams)
        blocks = check_blocks(context, self._all(ast.ResourcesDecl), self._all(ast.CloudDecl))
        name = self._name()
        if not context.diagnostics.failed:
            warn_unused(context, streams, self.file)
        return typed.Program(
            name, self.file, (*context.records.values(), *context.inferred.values()), tuple(context.params.values()),
            functions, aggregates, tuple(streams.steps), tuple(goal for goal in goals if goal), minimize, controls,
            blocks, (*self.modules.texts, *context.c_files), self.tree.span)

    def _functions(self) -> tuple[tuple[typed.Function, ...], tuple[typed.AggregateDef, ...]]:
        callables = self._once("function", ast.FunctionDecl, ast.AggregateDecl)
        functions = [decl for decl in callables if isinstance(decl, ast.FunctionDecl)]
        aggregates = [decl for decl in callables if isinstance(decl, ast.AggregateDecl)]
        declare_functions(self.context, functions, aggregates)
        checked = [check_function(self.context, decl) for decl in functions]
        report_recursion(self.context, checked)
        return tuple(checked), tuple(check_aggregate(self.context, decl) for decl in aggregates)

    def _all(self, *kinds: type[Kind]) -> list[Kind]:
        return [decl for decl in self.decls if isinstance(decl, kinds)]

    def _once(self, what: str, *kinds: type[Kind]) -> list[Kind]:
        """The declarations of these kinds, each name once; their places are remembered for notes."""
        first: dict[str, Kind] = {}
        for decl in self._all(*kinds):
            before = first.setdefault(decl.name.text, decl)
            if before is not decl:
                self.context.report(Mistake("E0104", decl.name.span, f"there already is a {what} `{decl.name}`",
                                            expected="another name", notes=(Note("declared here", before.name.span),)))
            else:
                kind = "aggregate" if isinstance(decl, ast.AggregateDecl) else what
                self.context.places[kind, decl.name.text] = decl.name.span
        return list(first.values())

    def _name(self) -> str:
        """The app's name; a program without one is called after its file."""
        apps = [decl for decl in self.tree.declarations if isinstance(decl, ast.AppDecl)]
        for extra in apps[1:]:
            self.context.report(Mistake("E0104", extra.span, "the app already has a name",
                                        notes=(Note("given here", apps[0].span),)))
        stem = os.path.splitext(os.path.basename(self.file))[0]
        return apps[0].name.text if apps else re.sub(r"\W", "_", stem) or "app"


def warn_unused(context: Context, streams: Streams, file: str) -> None:
    """Warnings about what has no effect; imported files may well offer more than is used."""
    for name, (kind, span) in streams.declared.items():
        if kind in ("source", "stream", "operator") and name not in streams.used and span.file == file:
            context.warn("W0100", span, f"nothing reads the {kind} `{name}`",
                         expected="a sink, or a stream made from it")
    for name, param in context.params.items():
        if name not in context.used_params and param.span.file == file:
            context.warn("W0101", context.places["parameter", name], f"the parameter `{name}` is never used")
    if not any(isinstance(step.body, typed.Sink) for step in streams.steps):
        context.warn("W0102", Span(file, 1, 1, 1, 1), "the program has no sink: nothing comes out",
                     expected='a line such as `sink out = STREAM to csv("out.csv")`')
