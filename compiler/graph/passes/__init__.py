"""The passes over the dataflow graph, in the order they run. Each is a function Graph → Graph in a file of
its own name, and leaves a graph that the verifier accepts."""

from __future__ import annotations

from ...artifacts.graph import Graph, verify
from .drop_unused import drop_unused

PASSES = (drop_unused,)


def run_passes(graph: Graph) -> Graph:
    for one in PASSES:
        graph = one(graph)
        verify(graph)
    return graph
