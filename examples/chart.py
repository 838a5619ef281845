"""Just enough to draw the results of the examples as SVG: a picture holds panels, a panel has two axes and marks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape

INK, SOFT, GRID, PAPER = "#1f2933", "#5f6b76", "#e3e8ec", "#fbfcfd"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#2563a8", "#d9822b", "#2e7d4f", "#c0392b", "#7a4fa3", "#9aa5b1"
COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, "#1b8a8f", "#8a6d1b", "#b0488a")


class Picture:
    """The sheet: a title, a line below it, and what panels draw."""

    def __init__(self, title: str, subtitle: str, width: int = 900, height: int = 420):
        self.width, self.height = width, height
        self.parts = [f'<rect width="{width}" height="{height}" fill="{PAPER}"/>']
        self.text(24, 30, title, size=17, bold=True)
        self.text(24, 50, subtitle, colour=SOFT)

    def text(self, x: float, y: float, words: str, *, size: int = 12, colour: str = INK, anchor: str = "start",
             bold: bool = False, upright: bool = False) -> None:
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upright else ""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
                          f"{weight}{turned}>{escape(words)}</text>")

    def key(self, x: float, y: float, entries: Iterable[tuple[str, str]]) -> None:
        """Colours and what they mean, in a row."""
        for colour, words in entries:
            self.parts.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="12" height="9" rx="2" fill="{colour}"/>')
            self.text(x + 17, y, words, size=11, colour=SOFT)
            x += 34 + 6.1 * len(words)

    def svg(self) -> str:
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" role="img" '
                f"font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\">\n{body}\n</svg>\n")


class Panel:
    """A rectangle of the picture with its own axes: `x` and `y` are the ranges of values that it shows."""

    def __init__(self, picture: Picture, box: tuple[float, float, float, float], x: tuple[float, float],
                 y: tuple[float, float]):
        self.picture, self.x_range, self.y_range = picture, x, y
        self.left, self.top, self.width, self.height = box

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + self.width * (value - low) / ((high - low) or 1)

    def y(self, value: float) -> float:
        low, high = self.y_range
        return self.top + self.height * (1 - (value - low) / ((high - low) or 1))

    def axes(self, x_name: str, y_name: str, x_form: Callable[[float], str] | None = None,
             y_form: Callable[[float], str] | None = None, lines: int = 5) -> None:
        """Grid lines with their values; an axis without a form of its values stays bare."""
        for value in ticks(*self.y_range, lines) if y_form else ():
            self._add(f'<path d="M{self.left:.1f} {self.y(value):.1f}h{self.width:.1f}" stroke="{GRID}"/>')
            self.picture.text(self.left - 8, self.y(value) + 4, y_form(value), size=11, colour=SOFT, anchor="end")
        below = self.top + self.height
        for value in ticks(*self.x_range, 8) if x_form else ():
            self._add(f'<path d="M{self.x(value):.1f} {below:.1f}v4" stroke="{GREY}"/>')
            self.picture.text(self.x(value), below + 17, x_form(value), size=11, colour=SOFT, anchor="middle")
        self._add(f'<path d="M{self.left:.1f} {below:.1f}h{self.width:.1f}" stroke="{GREY}"/>')
        self.picture.text(self.left + self.width, below + 34, x_name, size=11, colour=SOFT, anchor="end")
        self.picture.text(self.left, self.top - 8, y_name, size=11, colour=SOFT)

    def line(self, points: Iterable[tuple[float, float]], colour: str, width: float = 1.5) -> None:
        path = "L".join(f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in points)
        self._add(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-linejoin="round"/>')

    def bar(self, x: tuple[float, float], y: tuple[float, float], colour: str, opacity: float = 1) -> None:
        """A rectangle between two values on each axis, cut at the panel's edge; a thin one stays visible."""
        left, right = sorted(min(max(self.x(value), self.left), self.left + self.width) for value in x)
        top, bottom = sorted(min(max(self.y(value), self.top), self.top + self.height) for value in y)
        shade = f' fill-opacity="{opacity}"' if opacity < 1 else ""
        self._add(f'<rect x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" '
                  f'height="{max(bottom - top, 1):.1f}" fill="{colour}"{shade}/>')

    def dot(self, x: float, y: float, colour: str, radius: float = 3) -> None:
        self._add(f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{radius}" fill="{colour}"/>')

    def _add(self, part: str) -> None:
        self.picture.parts.append(part)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round values within the range, at most about so many."""
    rough = (high - low) / most or 1
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(low / step)
    return [step * number for number in range(first, math.floor(high / step) + 1)]


def padded(values: Iterable[float], share: float = 0.06) -> tuple[float, float]:
    """The range of the values with some air around it."""
    known = list(values)
    low, high = min(known), max(known)
    air = (high - low) * share or 1
    return low - air, high + air
