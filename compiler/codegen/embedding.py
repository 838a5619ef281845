"""What a program offers to one that embeds it: typed functions over <dfrt/embed.h>, in include/APP.h and
APP_embed.c.

Before: source `quotes: Quote`, sink `forecasts`.
After:  hft_create, hft_push_quotes(instance, const hft_Quote *, count), …, options with `on_forecasts`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...dsl import typed
from ..artifacts.interface import Interface, Port
from .header import declarations, public_declarations, public_header
from .names import identifier, source_function
from .step_views import Context
from .templating import render

# `symbols` is no `symbol_count`: that is the `count` of an app `…_symbol`.
ROLES = ("instance", "options", "create", "merge", "poll", "drain", "destroy", "take", "error", "set_alternate",
         "count", "symbol", "symbol_text", "symbols", "columns", "cluster")


@dataclass(frozen=True)
class PortView:
    name: str
    number: int
    c: str
    record: str
    push: str = ""
    part: str = ""
    end: str = ""


def embedding_files(context: Context) -> tuple[tuple[tuple[str, str], ...], Interface]:
    """The public header with the functions, the file that defines them, and what they are."""
    app, views = context.graph.program.name, _views(context)
    text = render("embed.h.j2", **views).rstrip("\n")
    files = ((f"include/{app}.h", public_header(context, text)),
             (f"{app}_embed.c", render("embed.c.j2", app=app, program=context.names.program, **views)))
    return files, _interface(context, views, text)


def _interface(context: Context, views: dict, text: str) -> Interface:
    steps = {step.name: step for step in context.graph.steps}
    sources = tuple(Port(v.name, steps[v.name].record, v.record) for v in views["sources"])
    sinks = tuple(Port(v.name, context.input(steps[v.name]), v.record) for v in views["sinks"])
    alternates = tuple((chosen.operator, tuple(a.name for a in steps[chosen.operator].body.alternates))
                       for chosen in context.plan.alternates)
    of_sources = tuple(pair for v in views["sources"] for pair in (
        (f"push.{v.name}", v.push), (f"part.{v.name}", v.part), (f"end.{v.name}", v.end)))
    functions = (*views["api"].items(), *of_sources)
    cdef = public_declarations(context) + text.replace("DFRT_API ", "")
    return Interface(context.graph.program.name, sources, sinks, alternates, functions, cdef)


def _views(context: Context) -> dict:
    names = _Free(context)
    api = {role: names.take(role) for role in ROLES}
    found = _steps(context, typed.Source)
    of = {(verb, step.name): names.take(source_function(verb, step.name, ROLES))
          for verb in ("push", "part", "end") for step in found}
    sources = [PortView(step.name, number, identifier(step.name), context.record(step.record),
                        *(of[verb, step.name] for verb in ("push", "part", "end")))
               for number, step in enumerate(found)]
    sinks = [PortView(step.name, number, identifier(step.name), context.record(context.input(step)))
             for number, step in enumerate(_steps(context, typed.Sink))]
    return {"api": api, "sources": sources, "sinks": sinks}


def _steps(context: Context, kind: type) -> list[typed.Step]:
    return [step for step in context.graph.steps if isinstance(step.body, kind)]


class _Free:
    """Names that begin with the app's, each once, and that no record and no function of the user has."""

    def __init__(self, context: Context):
        self.prefix = f"{identifier(context.graph.program.name)}_"
        self.declared = declarations(context)
        self.taken: set[str] = set()

    def take(self, word: str) -> str:
        name = self.prefix + word
        while name in self.taken or re.search(rf"\b{name}\b", self.declared):
            name += "_"
        self.taken.add(name)
        return name
