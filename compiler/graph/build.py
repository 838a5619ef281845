"""Typed program → dataflow graph, verified."""

from __future__ import annotations

from ...dsl import typed
from ..artifacts.graph import Graph, graph_of, verify


def build_graph(program: typed.Program) -> Graph:
    graph = graph_of(program)
    verify(graph)
    return graph
