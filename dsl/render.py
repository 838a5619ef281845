"""Diagnostics as text for people (the line, a marker, what was expected) and as JSON lines for tools."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping

from .diagnostics import Diagnostic, Diagnostics
from .span import Span

_TAB = "    "
_COLOURS = {"error": "\033[1;31m", "warning": "\033[1;33m", "frame": "\033[1;34m", "bold": "\033[1m"}
_PLAIN = "\033[0m"


def render(diagnostics: Diagnostics | Iterable[Diagnostic], sources: Mapping[str, str], colour: bool = False) -> str:
    """All diagnostics in the order of their places, and the summary line; '' when there are none."""
    items = diagnostics.sorted() if isinstance(diagnostics, Diagnostics) else list(diagnostics)
    if not items:
        return ""
    blocks = [render_one(item, sources, colour) for item in items]
    return "\n".join(blocks) + "\n" + summary(items) + "\n"


def summary(items: Iterable[Diagnostic]) -> str:
    """`3 errors, 1 warning`."""
    severities = [item.severity for item in items]
    counts = [(severities.count(word), word) for word in ("error", "warning")]
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in counts if n)


def render_one(item: Diagnostic, sources: Mapping[str, str], colour: bool = False) -> str:
    """One diagnostic with its snippet, and a snippet for every note that has a place in a known text."""
    paint = _Paint(colour)
    spans = [item.span, *(note.span for note in item.notes if note.span)]
    width = max(len(str(span.line)) for span in spans)
    lines = [f"{paint(item.severity, f'{item.severity}[{item.code}]')}{paint('bold', f': {item.message}')}"]
    lines += _snippet(item.span, sources, width, paint, item.severity)
    if item.expected:
        lines.append(_remark("expected", item.expected, width, paint))
    if item.fix:
        lines.append(_remark("help", f"did you mean `{item.fix}`?", width, paint))
    for note in item.notes:
        lines.append(_remark("note", note.message, width, paint))
        if note.span:
            lines += _snippet(note.span, sources, width, paint, "frame", "-")
    return "\n".join(lines) + "\n"


def to_json(item: Diagnostic) -> str:
    """The diagnostic as one line of JSON."""
    notes = [{"message": note.message, **(_place(note.span) if note.span else {})} for note in item.notes]
    return json.dumps({"code": item.code, "severity": item.severity, **_place(item.span), "message": item.message,
                       "expected": item.expected, "fix": item.fix, "notes": notes}, ensure_ascii=False)


def _place(span: Span) -> dict[str, object]:
    return {"file": span.file, "line": span.line, "column": span.column,
            "end_line": span.end_line, "end_column": span.end_column}


class _Paint:
    """Wraps text in an escape sequence, or leaves it alone."""

    def __init__(self, colour: bool):
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"{_COLOURS[style]}{text}{_PLAIN}" if self.colour else text


def _remark(kind: str, text: str, width: int, paint: _Paint) -> str:
    indent = " " * (width + 6)
    return f"{' ' * (width + 1)} {paint('frame', '=')} {paint('bold', kind)}: " + text.replace("\n", f"\n{indent}")


def _snippet(span: Span, sources: Mapping[str, str], width: int, paint: _Paint, style: str,
             mark: str = "^") -> list[str]:
    """The place, the line and the marker below it; only the place when the text is not known."""
    place = f"{' ' * width} {paint('frame', '-->')} {span}"
    text = sources.get(span.file)
    lines = text.split("\n") if text is not None else []
    if not 1 <= span.line <= len(lines):
        return [place]
    line = lines[span.line - 1].rstrip("\r")
    empty, bar = f"{' ' * (width + 1)} {paint('frame', '|')}", paint("frame", "|")
    shown = f" {paint('frame', str(span.line).rjust(width))} {bar} {_shown(line)}"
    return [place, empty, shown.rstrip(), f"{empty} {_marker(line, span, paint, style, mark)}"]


def _marker(line: str, span: Span, paint: _Paint, style: str, mark: str) -> str:
    """Spaces up to the place and marks under it; a span over several lines is marked to the line's end."""
    last = span.end_column - 1 if span.end_line == span.line else len(line)
    before = _display_width(line[: span.column - 1].ljust(span.column - 1))
    return " " * before + paint(style, mark * max(1, _display_width(line[span.column - 1: last])))


def _shown(line: str) -> str:
    """Control characters would move the marker or the terminal; tabs have a fixed width."""
    return "".join(_TAB if c == "\t" else c if c.isprintable() or _is_mark(c) else "\N{REPLACEMENT CHARACTER}"
                   for c in line)


def _display_width(text: str) -> int:
    return sum(_character_width(c) for c in text)


def _character_width(c: str) -> int:
    if c == "\t":
        return len(_TAB)
    if _is_mark(c):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _is_mark(c: str) -> bool:
    return unicodedata.category(c) in ("Mn", "Me")
