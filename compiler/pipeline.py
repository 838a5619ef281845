"""The whole of dfc on one screen: text → typed program → graph → plan → C and controller configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping

import dfc
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics, ProgramError

from .artifacts import graph as graph_artifact
from .artifacts import plan as plan_artifact
from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .artifacts.plan import Plan


def check(text: str, file: str, params: Mapping[str, str]) -> typed.Program:
    """Text → typed program; raises ProgramError with all diagnostics."""
    from dfc.dsl.typecheck import check as typecheck

    diagnostics = Diagnostics()
    program = typecheck(text, file, diagnostics, params=params)
    if program is None:
        raise ProgramError(diagnostics)
    return program


def flow(program: typed.Program) -> Graph:
    """Typed program → graph that can run, without what reaches no sink."""
    from .graph.build import build_graph
    from .graph.passes import run_passes
    from .graph.runnable import require_runnable

    require_runnable(program)
    return run_passes(build_graph(program))


def plan(graph: Graph) -> Plan:
    """Graph → which steps share a thread, which are replicated."""
    from .select.choose import choose

    return choose(graph)


def generate(text: str, file: str, params: Mapping[str, str]) -> Bundle:
    """Text → everything that a C compiler needs."""
    from .codegen.program import generate_files

    program = check(text, file, params)
    graph = flow(program)
    files = generate_files(graph, plan(graph), dfc.__version__)
    inputs = dict.fromkeys((file, *program.files))
    return Bundle(program.name, files, user_sources(graph), tuple(inputs), tuple(sorted(params.items())))


def user_sources(graph: Graph) -> tuple[str, ...]:
    """The C files that alternates name, relative to the .dfl file that names them."""
    functions = [a.body for step in graph.steps if isinstance(step.body, typed.Operator)
                 for a in step.body.alternates if isinstance(a.body, typed.CFunction)]
    return tuple(dict.fromkeys(os.path.join(os.path.dirname(f.span.file), f.path) for f in functions))


def emit(text: str, file: str, params: Mapping[str, str], wanted: tuple[str, ...]) -> list[tuple[str, str]]:
    """The artefacts asked for, as (name, stable text), in the order of the pipeline."""
    program = check(text, file, params)
    made: list[tuple[str, str]] = []
    if "ast" in wanted:
        from dfc.dsl.parser import parse
        from dfc.dsl.printer import dump

        made.append((f"{program.name}.ast", dump(parse(text, file, Diagnostics()))))
    if set(wanted) - {"ast"}:
        graph = flow(program)
        chosen = plan(graph)
        made += [(f"{program.name}.graph", graph_artifact.to_text(graph))] if "graph" in wanted else []
        made += [(f"{program.name}.plan", plan_artifact.to_text(chosen))] if "plan" in wanted else []
        bundle = generate(text, file, params)
        made += [(name, content) for name, content in bundle.files
                 if "c" in wanted and name.endswith((".c", ".h")) or "control" in wanted and name == "control.json"]
    return made
