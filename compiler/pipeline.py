"""The whole of dfc on one screen: text → typed program → graph → plan → C and controller configuration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import dfc
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics, ProgramError

from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .artifacts.plan import Plan

if TYPE_CHECKING:
    from .select.asked import Asked
    from .select.explain import Explanation


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


def learned(graph: Graph, asked: Asked | None) -> Graph:
    """The graph as a profile makes it begin."""
    from .select.asked import request_of
    from .select.learned import begun_slack

    return begun_slack(graph, request_of(graph.program, asked).profile) if asked and asked.profile else graph


def plan(graph: Graph, asked: Asked | None = None) -> Plan:
    """Graph → which steps share a thread, which are replicated; with predictions when somebody asked for a plan: on the
    command line, or by `resources { cores … }` or `pattern …` in the program."""
    from .select.asked import Asked, request_of
    from .select.planned import plan_of

    return plan_of(graph, request_of(graph.program, asked or Asked()))


def sequential(graph: Graph) -> Plan:
    """Graph → the plan without any pattern, whatever the program asks for: a pattern never changes what it means."""
    from .select.choose import choose

    return choose(graph, None)


def explain(text: str, file: str, params: Mapping[str, str], diagnostics: Diagnostics | None = None,
            asked: Asked | None = None) -> Explanation:
    """Text → what was decided, why, and what every pattern would give. The plan is that of `plan` with equal words."""
    from .select.asked import Asked, request_of
    from .select.explain import Explanation
    from .select.learned import learned_lines
    from .select.planned import planned

    graph = learned(flow(check(text, file, params, diagnostics)), asked)
    request = request_of(graph.program, asked or Asked())
    found = planned(graph, request)
    learned_from = learned_lines(graph, found.choice, request.profile, found.alternates)
    return Explanation(graph, found.plan, found.choice, learned_from)


def generate(text: str, file: str, params: Mapping[str, str], embed: bool = False,
             diagnostics: Diagnostics | None = None, asked: Asked | None = None, saves: bool = False) -> Bundle:
    """Text → everything that a C compiler needs; with `embed` also what others call the program by, with `saves` in one
    thread and so that its state can be saved."""
    from .codegen.program import generate_files, generate_library

    program = check(text, file, params, diagnostics)
    graph = learned(flow(program), asked)
    chosen, version, interface = sequential(graph) if saves else plan(graph, asked), dfc.__version__, None
    if embed or saves:
        files, interface = generate_library(graph, chosen, version, saves)
    else:
        files = generate_files(graph, chosen, version)
    inputs, settings = dict.fromkeys((file, *program.files)), tuple(sorted(params.items()))
    return Bundle(program.name, files, user_sources(graph), tuple(inputs), settings, interface)


def user_sources(graph: Graph) -> tuple[str, ...]:
    """The C files that the program names, relative to the .dfl file that names them."""
    from .build.user_code import find_sources
    from .graph.used import c_functions

    return find_sources(c_functions(graph))
