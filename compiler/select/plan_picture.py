"""The plan as a picture: a box for each thread, with the steps and parts that it runs, and the ways between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import networkx as nx

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.parts import Merge, Owned, Reduce, Windows, Work, divided, in_ring
from ..artifacts.plan import Edge, Plan, Segment, patterns_of
from ..graph.labels import kind_label
from ..graph.layout import Box, Layout, place
from ..graph.picture import colours, dot_text, frame_svg, head_svg, text_svg, text_width, way_svg

_ROUTES = {"key": "by key", "deal": "in turn", "turn": "in turn", "all": "to all", "task": "tasks", "one": ""}
_GIVEN = {"whole": "whole windows", "panes": "panes", "shares": "shares of windows"}
_TITLE, _TEXT, _LINE, _HEADER, _PAD = 13, 11, 16, 28, 10


@dataclass(frozen=True, slots=True)
class Thread:
    """One replica of a segment."""

    name: str
    title: str
    lines: tuple[str, ...]
    first: typed.Step | None  # gives the box its colour
    ring: bool = False  # passes on to the next replica what it knows of open windows

    @property
    def size(self) -> tuple[float, float]:
        width = max(text_width(self.title, _TITLE) * 1.08, *(text_width(line, _TEXT) for line in self.lines), 84.0)
        return width + 2 * _PAD, _HEADER + len(self.lines) * _LINE + _PAD


def _role(step: typed.Step) -> str:
    match step.body:
        case Windows(gives=gives):
            return f"keeps tuples, hands out {_GIVEN[gives]}"
        case Work(second=True):
            return "goes over its share again"
        case Work(partial=False):
            return "computes windows"
        case Work():
            return "computes what it is handed"
        case Reduce():
            return "reduces, and hands out again"
        case Merge():
            return "merges, by turns" if in_ring(step.body) else "merges"
        case Owned():
            return "sees all, computes its own windows"
    return kind_label(step)


def _threads(graph: Graph, segment: Segment) -> Iterator[Thread]:
    steps = [graph.step(name) for name in segment.steps]
    lines = tuple(f"{step.name}: {_role(step)}" for step in steps) or ("puts results in order",)
    count = max(1, segment.degree)
    for number in range(count):
        which = f", replica {number + 1} of {count}" if count > 1 else ""
        yield Thread(f"{segment.number}.{number}", f"thread: {segment.kind}{which}", lines, steps[0] if steps else None,
                     count > 1 and any(in_ring(step.body) for step in steps))


def _all_threads(graph: Graph, plan: Plan) -> tuple[dict[int, list[Thread]], dict[str, Thread]]:
    parts = divided(graph, patterns_of(plan.decisions, plan.layout))
    if plan.layout is not None and plan.layout.kind == "fused":
        steps = tuple(name for segment in plan.segments for name in segment.steps)
        one = list(_threads(parts, Segment(0, "everything", steps, "")))
        return {segment.number: one for segment in plan.segments}, {one[0].name: one[0]}
    found = {segment.number: list(_threads(parts, segment)) for segment in plan.segments}
    return found, {thread.name: thread for threads in found.values() for thread in threads}


def _ways(plan: Plan, threads: dict[int, list[Thread]]) -> Iterator[tuple[Thread, Thread, Edge]]:
    """Each pair of threads once, by the first edge between them."""
    seen = set()
    for edge in plan.edges:
        for before in threads[edge.source]:
            for after in threads[edge.target]:
                if before is not after and (before.name, after.name) not in seen:
                    seen.add((before.name, after.name))
                    yield before, after, edge


def _turns(threads: dict[int, list[Thread]]) -> Iterator[tuple[Thread, Thread]]:
    """From each thread of a ring to the next."""
    for replicas in threads.values():
        if replicas[0].ring:
            yield from zip(replicas, replicas[1:] + replicas[:1], strict=True)


def to_dot(graph: Graph, plan: Plan) -> str:
    threads, boxes = _all_threads(graph, plan)
    lines = [f"digraph {dot_text(graph.program.name)} {{", "  rankdir=TB;",
             '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
             '  edge [color="#7a8590", fontname="Helvetica", fontsize=9];']
    for thread in boxes.values():
        header, body = _colours(thread)
        label = dot_text("\n".join((thread.title, *thread.lines)))
        paint = f"color={dot_text(header)}, fillcolor={dot_text(body)}"
        lines.append(f"  {dot_text(thread.name)} [label={label}, {paint}];")
    for before, after, edge in _ways(plan, threads):
        lines.append(f"  {dot_text(before.name)} -> {dot_text(after.name)} [label={dot_text(_ROUTES[edge.routing])}];")
    for before, after in _turns(threads):
        lines.append(f"  {dot_text(before.name)} -> {dot_text(after.name)} [style=dashed, constraint=false];")
    return "\n".join([*lines, "}"]) + "\n"


def to_svg(graph: Graph, plan: Plan) -> str:
    threads, boxes = _all_threads(graph, plan)
    ways = list(_ways(plan, threads))
    flow = nx.DiGraph()
    flow.add_nodes_from(boxes)
    flow.add_edges_from((before.name, after.name) for before, after, _ in ways)
    layout = place(flow, {name: thread.size for name, thread in boxes.items()})
    lines = head_svg(f"Threads of {graph.program.name}", layout)
    for name in boxes:
        lines += _arrivals(name, [(before.name, edge) for before, after, edge in ways if after.name == name], layout)
    lines += [_turn(layout.boxes[before.name], layout.boxes[after.name]) for before, after in _turns(threads)]
    for name, thread in boxes.items():
        lines += _box(thread, layout.boxes[name])
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrivals(name: str, ways: list[tuple[str, Edge]], layout: Layout) -> list[str]:
    """Side by side, in the order in which they come; beside the last stands how the thread is chosen."""
    box, lines = layout.boxes[name], []
    ordered = sorted(ways, key=lambda way: layout.boxes[way[0]].middle)
    for number, (before, _) in enumerate(ordered):
        x = box.x + box.width * (number + 1) / (len(ordered) + 1)
        lines.append(way_svg(before, name, x, layout))
    label = _ROUTES[ordered[0][1].routing] if ordered else ""
    if label:
        last = box.x + box.width * len(ordered) / (len(ordered) + 1)
        lines.append(text_svg(last + 6, box.y - 8, label, 10, "#5f6b76"))
    return lines


def _turn(before: Box, after: Box) -> str:
    """To the neighbour on the right; from the last one back, around those between."""
    y = before.y + before.height - _LINE
    if after.x > before.x:
        path = f"M{before.x + before.width:.1f},{y:.1f} L{after.x:.1f},{y:.1f}"
    else:
        low = before.y + before.height
        path = (f"M{before.middle:.1f},{low:.1f} C{before.middle:.1f},{low + 28:.1f} "
                f"{after.middle:.1f},{low + 28:.1f} {after.middle:.1f},{low:.1f}")
    return f'<path d="{path}" fill="none" stroke="#7a8590" stroke-dasharray="5 4" marker-end="url(#arrow)"/>'


def _box(thread: Thread, box: Box) -> list[str]:
    header, body = _colours(thread)
    lines = frame_svg(box, _HEADER, header, body)
    lines.append(text_svg(box.x + _PAD, box.y + 19, thread.title, _TITLE, "#ffffff", "bold"))
    for number, line in enumerate(thread.lines):
        lines.append(text_svg(box.x + _PAD, box.y + _HEADER + _LINE * (number + 1), line, _TEXT, "#1f2933"))
    return lines


def _colours(thread: Thread) -> tuple[str, str]:
    if thread.first is None:
        return "#5f6b76", "#f2f4f5"
    return colours(getattr(thread.first.body, "operator", thread.first))
