"""Curves over one axis of time, stacked on a sheet, as SVG that needs nothing else.

Colours are names of a theme: on a page they follow the reader's light or dark setting, in a picture they are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from .units import axis_text

Point = tuple[float, float]
LEFT, RIGHT, HEAD, GAP, AXIS = 78, 34, 30, 14, 30
MOST_POINTS = 1500  # of a curve: more could not be told apart
MOST_HOVERS = 500
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class Theme:
    ink: str
    soft: str
    grid: str
    paper: str
    bad: str
    curves: tuple[str, ...]


PICTURE = Theme("#1f2933", "#5f6b76", "#e3e8ec", "#fbfcfd", "#c0392b",
                ("#2563a8", "#d9822b", "#2e7d4f", "#7a4fa3", "#1b8a8f", "#8a6d1b", "#b0488a", "#5f6b76"))
PAGE = Theme("var(--ink)", "var(--soft)", "var(--grid)", "var(--paper)", "var(--bad)",
             tuple(f"var(--c{number})" for number in range(8)))


class Sheet:
    """Panels from top to bottom; `end` is the last moment, in seconds after the start."""

    def __init__(self, title: str, end: float, theme: Theme = PAGE, width: int = 960):
        self.title, self.end, self.theme, self.width = title, end or 1.0, theme, width
        self.height = 8.0
        self._parts: list[str] = []
        self._columns: list[str] = []
        self._points: list[str] = []

    def x(self, time: float) -> float:
        share = min(max(time / self.end, 0.0), 1.0)
        return LEFT + (self.width - LEFT - RIGHT) * share

    def panel(self, title: str, height: float = 110, top: float = 1.0, form: Callable[[float], str] = str,
              bottom: float | None = None, whole: bool = False) -> Panel:
        """Values from 0 to `top`, or, if `bottom` is given, from there on by orders of magnitude. `whole`: numbers of
        things."""
        panel = Panel(self, title, self.height + HEAD, height, top, form, bottom, whole)
        self.height += HEAD + height + GAP
        return panel

    def add(self, part: str) -> None:
        self._parts.append(part)

    def text(self, x: float, y: float, words: str, colour: str, *, anchor: str = "start", size: float = 11,
             bold: bool = False) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self.add(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}" text-anchor="{anchor}"{weight}>'
                 f"{xml(words)}</text>")

    def hover(self, spans: Sequence[tuple[float, float, str]]) -> None:
        """What is told of a span of time, wherever in its column the pointer is."""
        every = math.ceil(len(spans) / MOST_HOVERS) or 1
        for at in range(0, len(spans), every):
            left, right = self.x(spans[at][0]), self.x(spans[min(at + every, len(spans)) - 1][1])
            self._columns.append(f'<rect x="{left:.1f}" y="8" width="{max(right - left, 0.5):.1f}" height="{{height}}" '
                                 f'fill="transparent"><title>{xml(spans[at][2])}</title></rect>')

    def tell(self, x: float, y: float, words: str) -> None:
        """What is told of a point; it goes before what is told of its time."""
        self._points.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="transparent"><title>{xml(words)}</title>'
                            "</circle>")

    def svg(self) -> str:
        self._time_axis()
        height = self.height + AXIS
        columns = [part.replace("{height}", f"{self.height:.0f}") for part in self._columns]
        body = "\n".join([*self._parts, *columns, *self._points])
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height:.0f}" role="img" '
                f'font-family="{_FONT}">\n<title>{xml(self.title)}</title>\n'
                f'<rect width="{self.width}" height="{height:.0f}" fill="{self.theme.paper}"/>\n{body}\n</svg>\n')

    def _time_axis(self) -> None:
        y = self.height - GAP + 2
        step = time_step(self.end)
        for number in range(int(self.end / step) + 1):
            x = self.x(number * step)
            self.add(f'<path d="M{x:.1f} {y:.1f}v5" stroke="{self.theme.soft}"/>')
            self.text(x, y + 18, axis_text(number * step), self.theme.soft, anchor="middle")
        self.text(self.width - RIGHT, y + 34, "time since the start", self.theme.soft, anchor="end")


class Panel:
    """One diagram of a sheet."""

    def __init__(self, sheet: Sheet, title: str, y: float, height: float, top: float, form: Callable[[float], str],
                 bottom: float | None, whole: bool):
        self.sheet, self.y0, self.height, self.form = sheet, y, height, form
        self.top, self.bottom = top or 1.0, bottom
        self._key_x = LEFT + 18 + 7.2 * len(title)
        sheet.text(LEFT, y - 9, title, sheet.theme.ink, size=12, bold=True)
        for value in decades(bottom, self.top) if bottom else ticks(self.top, 4, whole):
            self._grid_line(value)

    def y(self, value: float) -> float:
        if self.bottom:
            span = math.log(self.top / self.bottom)
            share = math.log(max(value, self.bottom) / self.bottom) / span
        else:
            share = value / self.top
        return self.y0 + self.height * (1 - min(max(share, 0.0), 1.0))

    def _grid_line(self, value: float) -> None:
        theme, y = self.sheet.theme, self.y(value)
        self.sheet.add(f'<path d="M{LEFT} {y:.1f}H{self.sheet.width - RIGHT}" stroke="{theme.grid}"/>')
        self.sheet.text(LEFT - 8, y + 4, self.form(value), theme.soft, anchor="end")

    def key(self, colour: str, words: str, dashed: bool = False) -> None:
        """What a colour means, in the title's row."""
        y, pattern = self.y0 - 13, ' stroke-dasharray="4 3"' if dashed else ""
        self.sheet.add(f'<path d="M{self._key_x:.1f} {y:.1f}h16" stroke="{colour}" stroke-width="2.5"{pattern}/>')
        self.sheet.text(self._key_x + 21, y + 4, words, self.sheet.theme.soft)
        self._key_x += 40 + 6.2 * len(words)

    def line(self, points: Iterable[Point], colour: str, *, width: float = 1.6, dashed: bool = False) -> None:
        """Broken where a value is not known."""
        pattern = ' stroke-dasharray="4 3"' if dashed else ""
        for part in unbroken(thinned(list(points))):
            path = "L".join(f"{self.sheet.x(x):.1f} {self.y(y):.1f}" for x, y in part)
            path += f"h{0.1 if len(part) == 1 else 0}"
            self.sheet.add(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
                           f'stroke-linejoin="round" stroke-linecap="round"{pattern}/>')

    def stairs(self, spans: Iterable[tuple[float, float, float]], colour: str) -> None:
        """A value for each span of time, without slopes between them."""
        points: list[Point] = []
        for begin, end, value in spans:
            if points and points[-1][1] == value:
                points[-1] = (end, value)
            else:
                points += [(begin, value), (end, value)]
        self.line(points, colour, width=2)

    def rule(self, value: float, words: str) -> None:
        """A bound, with its name in the title's row."""
        self.sheet.add(f'<path d="M{LEFT} {self.y(value):.1f}H{self.sheet.width - RIGHT}" '
                       f'stroke="{self.sheet.theme.bad}" stroke-width="1.3" stroke-dasharray="4 3"/>')
        self.key(self.sheet.theme.bad, words, dashed=True)

    def shade(self, spans: Iterable[tuple[float, float]], colour: str, opacity: float = 0.13) -> None:
        """Spans of time, behind what is drawn later; neighbours become one."""
        for begin, end in joined(spans):
            left, right = self.sheet.x(begin), self.sheet.x(end)
            self.sheet.add(f'<rect x="{left:.1f}" y="{self.y0:.1f}" width="{max(right - left, 1):.1f}" '
                           f'height="{self.height:.1f}" fill="{colour}" fill-opacity="{opacity:g}"/>')

    def band(self, begin: float, end: float, row: int, rows: int, words: str, colour: str) -> None:
        """A named span of time in one of several rows."""
        left, right, size = self.sheet.x(begin), self.sheet.x(end), self.height / rows
        y = self.y0 + row * size
        self.sheet.add(f'<rect x="{left:.1f}" y="{y + 2:.1f}" width="{max(right - left, 1):.1f}" '
                       f'height="{size - 4:.1f}" rx="3" fill="{colour}" fill-opacity="0.75"/>')
        if right - left > 7 * len(words) + 8:
            self.sheet.text(left + 6, y + size / 2 + 4, words, "#ffffff")

    def mark(self, time: float, value: float, colour: str, words: str) -> None:
        """A point with what is to be said about it."""
        self.sheet.add(f'<circle cx="{self.sheet.x(time):.1f}" cy="{self.y(value):.1f}" r="3.2" fill="{colour}" '
                       f'stroke="{self.sheet.theme.paper}"/>')
        self.sheet.tell(self.sheet.x(time), self.y(value), words)


# --- numbers ----------------------------------------------------------------------------------------


def ticks(top: float, most: int, whole: bool = False) -> list[float]:
    """Round values from 0 up to the top."""
    rough = max(top / most, 1.0 if whole else 0.0) or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * 0.999)
    return [step * number for number in range(math.floor(top / step * 1.0001) + 1)]


def decades(bottom: float, top: float) -> list[float]:
    """Powers of ten in the range, with their doubles and fives where there are few."""
    first, last = math.floor(math.log10(bottom)), math.ceil(math.log10(top))
    factors = (1, 2, 5) if last - first <= 3 else (1,)
    values = [10.0 ** power * factor for power in range(first, last + 1) for factor in factors]
    return [value for value in values if bottom * 0.999 <= value <= top * 1.001]


def time_step(end: float) -> float:
    """Round in seconds, minutes or hours; about ten on the axis."""
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400)
    return next((step for step in steps if end / step <= 11), steps[-1] * math.ceil(end / steps[-1] / 10))


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> list[Point]:
    """At most about so many: of each stretch the lowest and the highest, so that no peak is lost."""
    if len(points) <= most:
        return list(points)
    size, kept = math.ceil(2 * len(points) / most), []
    for at in range(0, len(points), size):
        part = [point for point in points[at:at + size] if math.isfinite(point[1])] or [points[at]]
        kept += sorted({min(part, key=lambda p: p[1]), max(part, key=lambda p: p[1])})
    return kept


def unbroken(points: Iterable[Point]) -> list[list[Point]]:
    parts: list[list[Point]] = [[]]
    for point in points:
        if math.isfinite(point[1]):
            parts[-1].append(point)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for begin, end in spans:
        if found and begin <= found[-1][1] + 1e-9:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def xml(text: str) -> str:
    """Escaped; characters that XML can't carry at all become a replacement character."""
    return escape("".join(c if c in "\t\n" or c >= " " and c not in "\ufffe\uffff" and not "\ud800" <= c <= "\udfff"
                          else "\ufffd" for c in text))
