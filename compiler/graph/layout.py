"""Places boxes in layers, top to bottom, so that no box overlaps another and no edge crosses one.

Sugiyama's way: longest-path layers, stand-ins where an edge passes a layer, order by barycentres, and then
coordinates that pull every box below the middle of its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import networkx as nx

GAP_X, GAP_Y, MARGIN, LANE = 36.0, 64.0, 28.0, 14.0
_SWEEPS = 12

Vertex = str | tuple[str, str, int]
"""A step, or the stand-in of an edge (from, to) in a layer."""


@dataclass(frozen=True, slots=True)
class Box:
    """Left, top, width, height."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Layout:
    """`lanes` are, by edge, the places (x, top, bottom) at which it passes through the layers between."""

    width: float
    height: float
    boxes: dict[str, Box]
    layer_bottoms: dict[str, float]
    lanes: dict[tuple[str, str], tuple[tuple[float, float, float], ...]]


def place(flow: nx.DiGraph, sizes: Mapping[str, tuple[float, float]]) -> Layout:
    """`sizes` are (width, height) by step. The order of the graph's nodes breaks all ties."""
    flow = nx.DiGraph(flow)
    level = layers_of(flow)
    proper = _with_stand_ins(flow, level)
    rows = _ordered(proper)
    widths = {vertex: sizes[vertex][0] if isinstance(vertex, str) else LANE for vertex in proper}
    middles = _middles(proper, rows, widths)
    tops = _tops(rows, sizes)
    return _layout(flow, level, middles, tops, sizes)


def layers_of(flow: nx.DiGraph) -> dict[str, int]:
    """The longest way from a source; a step without inputs stands right above its first reader."""
    level: dict[str, int] = {}
    for name in nx.lexicographical_topological_sort(flow, key=list(flow).index):
        level[name] = max((level[before] + 1 for before in flow.predecessors(name)), default=0)
    for name in flow:
        if flow.in_degree(name) == 0 and flow.out_degree(name) > 0:
            level[name] = min(level[after] for after in flow.successors(name)) - 1
    return level


def _with_stand_ins(flow: nx.DiGraph, level: Mapping[str, int]) -> nx.DiGraph:
    """Every edge goes from one layer to the next."""
    proper = nx.DiGraph()
    for name in flow:
        proper.add_node(name, layer=level[name])
    for before, after in flow.edges:
        chain: list[Vertex] = [before]
        for layer in range(level[before] + 1, level[after]):
            proper.add_node((before, after, layer), layer=layer)
            chain.append((before, after, layer))
        nx.add_path(proper, [*chain, after])
    return proper


def _ordered(proper: nx.DiGraph) -> list[list[Vertex]]:
    """The layers, each in the order with the fewest crossings that the sweeps came to."""
    rows: list[list[Vertex]] = [[] for _ in range(1 + max(nx.get_node_attributes(proper, "layer").values(), default=0))]
    for vertex, layer in proper.nodes(data="layer"):
        rows[layer].append(vertex)
    best, fewest = [list(row) for row in rows], _crossings(proper, rows)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows[1:] if down else rows[-2::-1]:
            _by_barycentre(proper, rows, row, down)
        crossings = _crossings(proper, rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return best


def _by_barycentre(proper: nx.DiGraph, rows: list[list[Vertex]], row: list[Vertex], down: bool) -> None:
    place_of = {vertex: i for each in rows for i, vertex in enumerate(each)}
    neighbours = proper.pred if down else proper.succ

    def weight(vertex: Vertex) -> float:
        near = [place_of[other] for other in neighbours[vertex]]
        return sum(near) / len(near) if near else place_of[vertex]

    row.sort(key=weight)


def _crossings(proper: nx.DiGraph, rows: list[list[Vertex]]) -> int:
    place_of = {vertex: i for row in rows for i, vertex in enumerate(row)}
    total = 0
    for row in rows:
        edges = [(place_of[a], place_of[b]) for a in row for b in proper.succ[a]]
        total += sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(edges) for c, d in edges[:i])
    return total


def _middles(proper: nx.DiGraph, rows: list[list[Vertex]], widths: Mapping[Vertex, float]) -> dict[Vertex, float]:
    middles: dict[Vertex, float] = {}
    for row in rows:
        middles.update(_spread(row, dict.fromkeys(row, 0.0), widths))
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        for row in rows[1:] if down else rows[-2::-1]:
            neighbours = proper.pred if down else proper.succ
            wished = {vertex: _mean([middles[other] for other in neighbours[vertex]], middles[vertex])
                      for vertex in row}
            middles.update(_spread(row, wished, widths))
    left = min((middles[vertex] - widths[vertex] / 2 for vertex in middles), default=0.0)
    return {vertex: middle - left + MARGIN for vertex, middle in middles.items()}


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(row: list[Vertex], wished: Mapping[Vertex, float], widths: Mapping[Vertex, float]) -> dict[Vertex, float]:
    """The places nearest to the wishes (least squares) that keep order and distance: pool adjacent violators."""
    offsets, at = [], 0.0
    for i, vertex in enumerate(row):
        at += (widths[row[i - 1]] + widths[vertex]) / 2 + GAP_X if i else 0.0
        offsets.append(at)
    pools: list[list[float]] = []  # sum of the wishes without offset, and how many
    for vertex, offset in zip(row, offsets, strict=True):
        pools.append([wished[vertex] - offset, 1])
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] >= pools[-1][0] / pools[-1][1]:
            total, members = pools.pop()
            pools[-1] = [pools[-1][0] + total, pools[-1][1] + members]
    bases = [total / members for total, members in pools for _ in range(int(members))]
    return {vertex: base + offset for vertex, base, offset in zip(row, bases, offsets, strict=True)}


def _tops(rows: list[list[Vertex]], sizes: Mapping[str, tuple[float, float]]) -> list[tuple[float, float]]:
    """Top and bottom of each layer."""
    tops, y = [], MARGIN
    for row in rows:
        height = max((sizes[vertex][1] for vertex in row if isinstance(vertex, str)), default=0.0)
        tops.append((y, y + height))
        y += height + GAP_Y
    return tops


def _layout(flow: nx.DiGraph, level: Mapping[str, int], middles: Mapping[Vertex, float],
            tops: list[tuple[float, float]], sizes: Mapping[str, tuple[float, float]]) -> Layout:
    boxes = {name: Box(middles[name] - sizes[name][0] / 2, tops[level[name]][0], *sizes[name]) for name in flow}
    lanes = {(before, after): tuple((middles[before, after, layer], *tops[layer])
                                    for layer in range(level[before] + 1, level[after]))
             for before, after in flow.edges}
    right = max([box.x + box.width for box in boxes.values()]
                + [lane[0] + LANE / 2 for each in lanes.values() for lane in each], default=0.0)
    bottoms = {name: tops[level[name]][1] for name in flow}
    return Layout(right + MARGIN, (tops[-1][1] if boxes else 0.0) + MARGIN, boxes, bottoms, lanes)
