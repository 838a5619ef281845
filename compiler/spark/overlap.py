"""Windows that can be cut by the order of arrival: how far back what they hold reaches. Needs the graph only.

A task that begins in the middle of the stream gives, from some row on, what the whole program gives, if it was fed all
tuples of the windows that were open at that row. Those of a time window of size D are younger than the watermark less
D. Those of a count window are the last N tuples, if tuples are neither dropped nor added before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import networkx as nx
from dfc.dsl import typed

from ..artifacts.graph import Graph

_STATELESS = (typed.Source, typed.Filter, typed.Map, typed.FlatMap, typed.Branch, typed.Union_, typed.Sink, typed.Late)


@dataclass(frozen=True)
class Overlap:
    """What a stretch needs before it: some time in units of the stream's, or rows, from a multiple of `slide` on."""

    time: int = 0
    rows: int = 0
    slide: int = 1

    @property
    def words(self) -> str:
        return f"{self.rows} rows" if self.rows else "the time of its longest window"


def overlap_of(graph: Graph) -> Overlap | str:
    """Or why there is none."""
    sources = [step for step in graph.steps if isinstance(step.body, typed.Source)]
    if len(sources) > 1:
        return "and there are several sources"
    if sources[0].body.processing_time:
        return "and windows go by the clock"
    windows = [step for step in graph.steps if _is_window(step.body)]
    for step in graph.steps:
        if step not in windows and not _is_stateless(step.body):
            return f"`{step.name}` can't be cut by ranges"
    for step in windows:
        wrong = _why_not(graph, step, sources[0].body)
        if wrong:
            return f"`{step.name}` can't be cut by ranges: {wrong}"
    sizes = [step.body.window for step in windows]
    if isinstance(sizes[0], typed.TimeWindow):
        return Overlap(time=max(window.size for window in sizes))
    return Overlap(rows=max(max(window.size, window.slide) for window in sizes),
                   slide=math.lcm(*(window.slide for window in sizes)))


def _is_window(body: typed.Body) -> bool:
    return isinstance(body, typed.Operator) and body.window is not None


def _is_stateless(body: typed.Body) -> bool:
    return isinstance(body, _STATELESS) or isinstance(body, typed.Operator) and body.window is None


def _why_not(graph: Graph, step: typed.Step, source: typed.Source) -> str:
    before = [graph.step(name).body for name in nx.ancestors(graph.flow, step.name)]
    if any(map(_is_window, before)):
        return "it stands behind another window"
    if any(isinstance(body, typed.Late) for body in before):
        return "late tuples are windowed at the end"
    if getattr(step.body, "expire_after", None) is not None:
        return "its keys expire"
    if isinstance(step.body.window, typed.TimeWindow):
        return ""
    if not isinstance(step.body.window, typed.CountWindow):
        return "how far back it reaches is not known before"
    if step.body.keys:
        return "it counts tuples of each key"
    if source.event_time is not None:
        return "how many tuples were late before is not known"
    if any(not isinstance(body, typed.Source | typed.Map) for body in before):
        return "how many tuples came through to it is not known"
    return ""
