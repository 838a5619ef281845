"""The whole of dfc on one screen: text → typed program → graph → plan → C and controller configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import dfc
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics, ProgramError

from .artifacts import graph as graph_artifact
from .artifacts import plan as plan_artifact
from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .artifacts.plan import Plan

if TYPE_CHECKING:
    from .interpret.user_c import UserC


def check(text: str, file: str, params: Mapping[str, str], diagnostics: Diagnostics | None = None) -> typed.Program:
    """Text → typed program; raises ProgramError with all diagnostics. Who passes `diagnostics` gets the warnings."""
    from .check import check_text

    diagnostics = diagnostics if diagnostics is not None else Diagnostics()
    program = check_text(text, file, diagnostics, params)
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


def explain(text: str, file: str, params: Mapping[str, str], diagnostics: Diagnostics | None = None) -> dict:
    """Text → what was decided and why, as data; `select.explain.to_text` prints it."""
    from .select.explain import explanation

    graph = flow(check(text, file, params, diagnostics))
    return explanation(graph, plan(graph))


def generate(text: str, file: str, params: Mapping[str, str], embed: bool = False,
             diagnostics: Diagnostics | None = None) -> Bundle:
    """Text → everything that a C compiler needs; with `embed` also what others call the program by."""
    from .codegen.program import generate_files, generate_library

    program = check(text, file, params, diagnostics)
    graph = flow(program)
    chosen, version, interface = plan(graph), dfc.__version__, None
    if embed:
        files, interface = generate_library(graph, chosen, version)
    else:
        files = generate_files(graph, chosen, version)
    inputs, settings = dict.fromkeys((file, *program.files)), tuple(sorted(params.items()))
    return Bundle(program.name, files, user_sources(graph), tuple(inputs), settings, interface)


def user_sources(graph: Graph) -> tuple[str, ...]:
    """The C files that the program names, relative to the .dfl file that names them."""
    from .build.user_code import find_sources
    from .graph.used import c_functions

    return find_sources(c_functions(graph))


def user_code(graph: Graph) -> UserC | None:
    """The user's C as a library that the interpreter can call; None when the program has none."""
    from .build.library import compile_library
    from .codegen.program import library_of
    from .interpret.user_c import UserC

    sources, program = user_sources(graph), graph.program
    if not sources:
        return None
    files, declarations = library_of(graph, plan(graph))
    return UserC(compile_library(Bundle(program.name, files, sources, program.files)), declarations)


def emit(text: str, file: str, params: Mapping[str, str], wanted: tuple[str, ...]) -> list[tuple[str, str]]:
    """The artefacts asked for, as (name, stable text), in the order of the pipeline."""
    program = check(text, file, params)
    made: list[tuple[str, str]] = []
    if "ast" in wanted:
        from dfc.dsl.ast_text import dump
        from dfc.dsl.parser import parse

        made.append((f"{program.name}.ast", dump(parse(text, file, Diagnostics()))))
    if set(wanted) - {"ast"}:
        graph = flow(program)
        chosen = plan(graph)
        made += [(f"{program.name}.graph", graph_artifact.to_text(graph))] if "graph" in wanted else []
        made += [(f"{program.name}.plan", plan_artifact.to_text(chosen))] if "plan" in wanted else []
        endings = {"c": (".c", ".h"), "header": (".h",), "control": (".json",)}
        chosen_endings = tuple(ending for kind in wanted for ending in endings.get(kind, ()))
        bundle = generate(text, file, params, embed="lib" in wanted)
        made += [(name, content) for name, content in bundle.files if name.endswith(chosen_endings)]
    return made
