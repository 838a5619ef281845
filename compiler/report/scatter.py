"""Points in a plane, as SVG that needs nothing else: what one thing costs in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .chart import PAGE, Theme, ticks, xml

_WIDTH, _HEIGHT = 960, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 34, 40, 52
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


@dataclass(frozen=True)
class Dot:
    """`kind` chooses the colour, `ring` is a word beside a point that matters, `solid` is drawn stronger."""

    x: float
    y: float
    kind: str
    words: str
    solid: bool = False
    ring: str = ""


def scatter(title: str, across: str, up: str, dots: Sequence[Dot], theme: Theme = PAGE) -> str:
    """Both axes begin at 0. Points above the frame are drawn at its edge."""
    right = max((dot.x for dot in dots), default=1.0) * 1.05 or 1.0
    top = max((dot.y for dot in dots), default=1.0) * 1.08 or 1.0
    kinds = list(dict.fromkeys(dot.kind for dot in dots))
    colours = {kind: theme.curves[at % len(theme.curves)] for at, kind in enumerate(kinds)}

    def at(dot: Dot) -> tuple[float, float]:
        return (_LEFT + (_WIDTH - _LEFT - _RIGHT) * min(dot.x / right, 1.0),
                _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - min(dot.y / top, 1.0)))

    parts = [*_axes(right, top, across, up, theme), *_key(kinds, colours, theme)]
    for dot in sorted(dots, key=lambda dot: (bool(dot.ring), dot.solid)):
        x, y = at(dot)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{4.5 if dot.solid else 3:g}" fill="{colours[dot.kind]}" '
                     f'fill-opacity="{1 if dot.solid else 0.35:g}"><title>{xml(dot.words)}</title></circle>')
        if dot.ring:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8.5" fill="none" stroke="{theme.ink}" '
                         'stroke-width="1.5"/>')
            end = x > _WIDTH * 0.8
            parts.append(_text(x + (-13 if end else 13), y - 7, dot.ring, theme.ink, "end" if end else "start", True))
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            f'font-family="{_FONT}">\n<title>{xml(title)}</title>\n'
            f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="{theme.paper}"/>\n{body}\n</svg>\n')


def _axes(right: float, top: float, across: str, up: str, theme: Theme) -> list[str]:
    parts = [_text(_LEFT, 20, up, theme.ink, "start", True),
             _text(_WIDTH - _RIGHT, _HEIGHT - 10, across, theme.ink, "end", True)]
    for value in ticks(right, 8):
        x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * value / right
        parts += [f'<path d="M{x:.1f} {_TOP}V{_HEIGHT - _BOTTOM}" stroke="{theme.grid}"/>',
                  _text(x, _HEIGHT - _BOTTOM + 18, f"{value:g}", theme.soft, "middle")]
    for value in ticks(top, 5):
        y = _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - value / top)
        parts += [f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{theme.grid}"/>',
                  _text(_LEFT - 8, y + 4, f"{value:g}", theme.soft, "end")]
    return parts


def _key(kinds: Sequence[str], colours: dict[str, str], theme: Theme) -> list[str]:
    parts, x = [], float(_WIDTH - _RIGHT)
    for kind in reversed(kinds):
        x -= 7 * len(kind) + 26
        parts += [f'<circle cx="{x:.1f}" cy="16" r="4.5" fill="{colours[kind]}"/>',
                  _text(x + 9, 20, kind, theme.soft, "start")]
    return parts


def _text(x: float, y: float, words: str, colour: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" fill="{colour}" text-anchor="{anchor}"{weight}>' \
           f"{xml(words)}</text>"
