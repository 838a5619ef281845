"""The user's C for the reference interpreter: compiled into a library, with the declarations that cffi reads.

The interpreter itself knows nothing of generated code; this is where the two meet.
"""

from __future__ import annotations

from . import pipeline
from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .interpret.user_c import UserC


def user_code(graph: Graph) -> UserC | None:
    """The library; None when the program names no C."""
    from .build.library import compile_library
    from .codegen.program import library_of
    from .select.choose import choose

    sources, program = pipeline.user_sources(graph), graph.program
    if not sources:
        return None
    files, declarations = library_of(graph, choose(graph))
    return UserC(compile_library(Bundle(program.name, files, sources, program.files)), declarations)
