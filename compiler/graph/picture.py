"""The dataflow graph as a picture: DOT for Graphviz, and SVG that needs nothing else."""

from __future__ import annotations

import unicodedata
from xml.sax.saxutils import escape, quoteattr

from ...dsl import typed
from ..artifacts.graph import Graph, record_text
from ..artifacts.step_text import describe, kind_of
from .labels import detail_lines, field_lines, kind_label
from .layout import Box, Layout, place

_COLOURS = {  # (header, body)
    "source": ("#2e7d4f", "#eef7f1"), "sink": ("#37517e", "#eef2f9"), "late": ("#b3541e", "#fcf2ec"),
    "filter": ("#8a6d1b", "#fbf7ea"), "branch": ("#8a6d1b", "#fbf7ea"), "map": ("#46707e", "#eef5f7"),
    "flatmap": ("#46707e", "#eef5f7"), "union": ("#5f6b76", "#f2f4f5"), "join": ("#9c3152", "#fbeff3"),
    "broadcast": ("#9c3152", "#fbeff3"), "port": ("#5f6b76", "#f2f4f5"),
}
_STATEFUL = ("#6a4393", "#f5f0fa")
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_TITLE, _TEXT, _LINE_HEIGHT, _HEADER, _PAD = 13, 11, 16, 44, 10


def colours(step: typed.Step) -> tuple[str, str]:
    return _COLOURS.get(kind_of(step.body), _STATEFUL)


# --- DOT --------------------------------------------------------------------------------------------


def to_dot(graph: Graph) -> str:
    lines = [f"digraph {dot_text(graph.program.name)} {{", "  rankdir=TB;",
             '  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11];',
             '  edge [color="#7a8590", fontname="Helvetica", fontsize=9];']
    for step in graph.steps:
        label = "\n".join((step.name, kind_label(step), *detail_lines(step, graph), *field_lines(step)))
        header, body = colours(step)
        paint = f"color={dot_text(header)}, fillcolor={dot_text(body)}"
        lines.append(f"  {dot_text(step.name)} [label={dot_text(label)}, {paint}];")
    for step in graph.steps:
        for port, name in enumerate(step.inputs):
            lines.append(f"  {dot_text(name)} -> {dot_text(step.name)}{_dot_edge(step, port)};")
    return "\n".join([*lines, "}"]) + "\n"


def dot_text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _dot_edge(step: typed.Step, port: int) -> str:
    settings = [f"label={dot_text(port_label(step, port))}"] if port_label(step, port) else []
    settings += ["style=dashed"] if isinstance(step.body, typed.Late) else []
    return f" [{', '.join(settings)}]" if settings else ""


def port_label(step: typed.Step, port: int) -> str:
    """Where the inputs of a step differ."""
    if isinstance(step.body, typed.Join):
        return ("left", "right")[port]
    return ("", "slow")[port] if isinstance(step.body, typed.Broadcast) else ""


# --- SVG --------------------------------------------------------------------------------------------


def to_svg(graph: Graph) -> str:
    texts = {step.name: (detail_lines(step, graph), field_lines(step)) for step in graph.steps}
    sizes = {step.name: _size(step, *texts[step.name]) for step in graph.steps}
    layout = place(graph.flow, sizes)
    lines = head_svg(f"Dataflow of {graph.program.name}", layout)
    for step in graph.steps:
        lines += _edges_svg(step, layout)
    for step in graph.steps:
        lines += _box_svg(step, layout.boxes[step.name], *texts[step.name])
    return "\n".join([*lines, "</svg>"]) + "\n"


def head_svg(title: str, layout: Layout) -> list[str]:
    width, height = round(layout.width), round(layout.height)
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="{_FONT}">',
            f"<title>{_xml(title)}</title>",
            '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0.5L8 4L0 7.5Z" fill="#7a8590"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="#fbfcfd"/>']


def text_width(text: str, size: float) -> float:
    """Rather too wide than too narrow: the reader's font is not known here."""
    return size * sum(map(_ems, text))


def _ems(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return 0.9 if character in "mwMW@%" else 0.62 if character.isupper() else 0.56


def _size(step: typed.Step, details: tuple[str, ...], fields: tuple[str, ...]) -> tuple[float, float]:
    width = max(text_width(step.name, _TITLE) * 1.08, text_width(kind_label(step), _TEXT),
                *(text_width(line, _TEXT) for line in (*details, *fields, "")), 84.0)
    rows = len(details) + len(fields)
    return width + 2 * _PAD, _HEADER + (rows * _LINE_HEIGHT + _PAD + (6 if details and fields else 0) if rows else 0)


def _edges_svg(step: typed.Step, layout: Layout) -> list[str]:
    box, lines = layout.boxes[step.name], []
    order = sorted(range(len(step.inputs)), key=lambda port: (_arrives_from(step, port, layout), port))
    for place_, port in enumerate(order):
        name = step.inputs[port]
        x = box.x + box.width * (place_ + 1) / (len(order) + 1)
        lines.append(way_svg(name, step.name, x, layout, isinstance(step.body, typed.Late)))
        if port_label(step, port):
            lines.append(f'<text x="{x + 6:.1f}" y="{box.y - 8:.1f}" font-size="10" fill="#5f6b76">'
                         f"{_xml(port_label(step, port))}</text>")
    return lines


def _arrives_from(step: typed.Step, port: int, layout: Layout) -> float:
    """Edges enter side by side as they come, so that they do not cross at the box."""
    lanes = layout.lanes[step.inputs[port], step.name]
    return lanes[-1][0] if lanes else layout.boxes[step.inputs[port]].middle


def way_svg(before: str, after: str, x_end: float, layout: Layout, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return (f'<path d="{_path(before, after, x_end, layout)}" fill="none" stroke="#7a8590" stroke-width="1.5"'
            f'{dashes} marker-end="url(#arrow)"/>')


def _path(before: str, after: str, x_end: float, layout: Layout) -> str:
    """Straight down beside boxes, curved in the space between two layers."""
    box = layout.boxes[before]
    x, y = box.middle, layout.layer_bottoms[before]
    path = f"M{x:.1f} {box.y + box.height:.1f}V{y:.1f}"
    for lane_x, top, bottom in layout.lanes[before, after]:
        path += _curve(x, y, lane_x, top) + f"V{bottom:.1f}"
        x, y = lane_x, bottom
    return path + _curve(x, y, x_end, layout.boxes[after].y - 1)


def _curve(x: float, y: float, to_x: float, to_y: float) -> str:
    half = (y + to_y) / 2
    return f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"


def _box_svg(step: typed.Step, box: Box, details: tuple[str, ...], fields: tuple[str, ...]) -> list[str]:
    header, body = colours(step)
    x, y = box.x, box.y
    lines = [f"<g><title>{_xml(_hover(step))}</title>", *frame_svg(box, _HEADER, header, body)]
    lines.append(text_svg(x + _PAD, y + 19, step.name, _TITLE, "#ffffff", "bold"))
    lines.append(text_svg(x + _PAD, y + 35, kind_label(step), _TEXT, "#ffffff", opacity=0.85))
    return [*lines, *_lines_svg(x + _PAD, y + _HEADER + _LINE_HEIGHT, details, fields, box, header), "</g>"]


def frame_svg(box: Box, height: float, header: str, body: str) -> list[str]:
    """A box with a header of this height; one that is no higher has the header's colour all over."""
    frame = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}"'
    radius = f'height="{box.height:.1f}" rx="7"'
    top = min(height, box.height)
    x, y = box.x, box.y
    lower = (f"M{x:.1f} {y + top:.1f}V{y + 7:.1f}a7 7 0 0 1 7 -7H{x + box.width - 7:.1f}a7 7 0 0 1 7 7V{y + top:.1f}Z"
             if top < box.height else "")
    return [f'<rect {frame} {radius} fill="{body if lower else header}"/>',
            *([f'<path d="{lower}" fill="{header}"/>'] if lower else []),
            f'<rect {frame} {radius} fill="none" stroke="{header}" stroke-width="1.2"/>']


def _lines_svg(x: float, y: float, details: tuple[str, ...], fields: tuple[str, ...], box: Box, rule: str) -> list[str]:
    lines = []
    for line in details:
        lines.append(text_svg(x, y, line, _TEXT, "#1f2933"))
        y += _LINE_HEIGHT
    if details and fields:
        lines.append(f'<path d="M{box.x:.1f} {y - 9:.1f}h{box.width:.1f}" stroke="{rule}" stroke-opacity="0.25"/>')
        y += 6
    for line in fields:
        lines.append(text_svg(x, y, line, _TEXT, "#5f6b76"))
        y += _LINE_HEIGHT
    return lines


def text_svg(x: float, y: float, text: str, size: int, fill: str, weight: str = "normal", opacity: float = 1.0) -> str:
    more = (' font-weight="bold"' if weight == "bold" else "") + (f' fill-opacity="{opacity}"' if opacity < 1 else "")
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill={quoteattr(fill)}{more}>{_xml(text)}</text>'


def _hover(step: typed.Step) -> str:
    title = f"{kind_of(step.body)} {step.name}"
    return "\n".join((title, *describe(step.body), record_text(step.record), str(step.span)))


def _xml(text: str) -> str:
    """Escaped; characters that XML can't carry at all become a replacement character."""
    return escape("".join(c if c in "\t\n" or c >= " " and c not in "\ufffe\uffff" else "\ufffd" for c in text))
