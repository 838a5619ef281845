"""Whether and how a program streams, in words: what `dfc explain --engine spark` says about it. Needs no Spark."""

from __future__ import annotations

from dfc.dsl import typed

from ..artifacts.graph import Graph
from ..codegen.saving import require_saved
from ..graph.runnable import NotRunnable
from .placement import KEYS, ONE, Placement

_WHERE = {KEYS: "slots by key run the program side by side", ONE: "one slot runs the program"}


def explained(graph: Graph, found: Placement) -> str:
    try:
        require_saved(graph)
    except NotRunnable as why:
        return f"no, E0814: {'; '.join(one.message for one in why.diagnostics.items)}"
    where = _WHERE.get(found.mode, "slots run the program side by side, on runs of rows")
    several = sum(isinstance(step.body, typed.Source) for step in graph.steps) > 1
    meet = "; rows of several sources meet as their micro-batches come" if several else ""
    return f"yes, one task a source reads, {where}{meet}"
