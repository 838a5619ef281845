"""Drops the steps from which no sink is reached, sources among them.

Before: source a → map b → sink c, and a → filter d, which nobody reads.
After:  source a → map b → sink c.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from ....dsl import typed
from ...artifacts.graph import Graph, with_steps


def drop_unused(graph: Graph) -> Graph:
    sinks = [step.name for step in graph.steps if isinstance(step.body, typed.Sink)]
    used = set(sinks).union(*(nx.ancestors(graph.flow, sink) for sink in sinks))
    return with_steps(graph, tuple(_without_late(step, used) for step in graph.steps if step.name in used))


def _without_late(step: typed.Step, used: set[str]) -> typed.Step:
    """A late stream that nobody reads is none: the late tuples are only counted."""
    body = step.body
    if isinstance(body, typed.Source) and body.late_to is not None and body.late_to not in used:
        return replace(step, body=replace(body, late_to=None))
    return step
