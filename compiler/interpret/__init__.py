"""The reference interpreter: the meaning of a program. Sequential, plain, and independent of the C runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ...dsl import typed
from ..artifacts.graph import Graph
from ..graph.build import build_graph
from ..graph.passes import run_passes
from ..graph.runnable import require_runnable
from .csv_rows import Malformed, MissingColumn, format_header, format_row, read_csv
from .inlets import Inlet
from .machine import Machine
from .results import Counters, Results
from .sinks import write_sinks
from .sources import open_source
from .user_c import UserC

__all__ = ["Counters", "Malformed", "MissingColumn", "Results", "UserC", "format_header", "format_row", "read_csv",
           "run", "write_sinks"]


def run(what: typed.Program | Graph, sources: Mapping[str, Iterable[tuple]] | None = None, *,
        folder: str | Path = ".", active: Mapping[str, str] | None = None, user_c: UserC | None = None) -> Results:
    """Runs a program to the end of its input.

    `sources` gives the rows of a source by name, tuples of values in record order; the others are opened
    where their connector says, relative to `folder`. `active` chooses alternates by operator; otherwise the
    one of the highest value is used. `user_c` is the compiled C of the program, if an alternate in use is in
    C. Raises NotRunnable for what does not run.
    """
    graph = what if isinstance(what, Graph) else run_passes(build_graph(what))
    require_runnable(graph.program)
    given = sources or {}
    inlets = [Inlet(step, given[step.name] if step.name in given else open_source(step, Path(folder)))
              for step in graph.steps if isinstance(step.body, typed.Source)]
    return Machine(graph, inlets, active or {}, user_c).run()
