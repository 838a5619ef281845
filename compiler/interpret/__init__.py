"""The reference interpreter: the meaning of a program. Sequential, plain, and independent of the C runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from ...dsl import typed
from ..artifacts.graph import Graph
from ..graph.build import build_graph
from ..graph.passes import run_passes
from ..graph.runnable import require_runnable
from .arrivals import WrongFile
from .clock import Clock
from .csv_rows import Malformed, MissingColumn, format_header, format_row, read_csv
from .inlets import Inlet
from .machine import Machine
from .results import Counters, Results
from .same_file import require_own_files
from .sinks import require_sinks, sink_files, write_sinks
from .sources import open_source
from .user_c import UserC

__all__ = ["Counters", "Malformed", "MissingColumn", "Results", "UserC", "WrongFile", "format_header", "format_row",
           "read_csv", "require_own_files", "require_sinks", "run", "sink_files", "write_sinks"]


def run(what: typed.Program | Graph, sources: Mapping[str, Iterable[tuple]] | None = None, *,
        folder: str | Path = ".", active: Mapping[str, str] | None = None, user_c: UserC | None = None,
        clock: Callable[[], int] | tuple[int, int] | None = None, check: bool = True) -> Results:
    """Runs a program to the end of its input.

    `sources` gives the rows of a source by name, tuples of values in record order; the others are opened
    where their connector says, relative to `folder`. `active` chooses alternates by operator; otherwise the
    one of the highest value is used. `user_c` is the compiled C of the program, if what is in use is in C.
    `clock` gives the nanoseconds of processing time: a function, or (start, step) for start, start + step, …
    Raises NotRunnable for what does not run; `check=False` leaves that out.
    """
    graph = what if isinstance(what, Graph) else run_passes(build_graph(what))
    if check:
        require_runnable(graph.program)
    given, time = sources or {}, Clock(clock)
    inlets = [Inlet(step, given[step.name] if step.name in given else open_source(step, Path(folder)), time)
              for step in graph.steps if isinstance(step.body, typed.Source)]
    return Machine(graph, inlets, active or {}, user_c).run()
