"""Paths in a program: what none can hold, and standard input and output, which have one user each."""

from __future__ import annotations

from collections.abc import Iterable

from . import typed
from .context import Context
from .diagnostics import Note
from .mistake import Mistake
from .span import Span

FILES = ("csv", "jsonl", "lines", "binary")
ZERO_BYTE = "no file has a name with a zero byte"
WITHOUT_ZERO_BYTE = "a path without `\\u{0}`"


def check_path(path: str, span: Span) -> str:
    """The path; a Mistake for one that the system would cut off."""
    if "\0" in path:
        raise Mistake("E0420", span, ZERO_BYTE, expected=WITHOUT_ZERO_BYTE)
    return path


def check_standard_streams(context: Context, steps: Iterable[typed.Step]) -> None:
    """Two sources would tear the rows of standard input, two sinks those that they write."""
    first: dict[type, typed.Step] = {}
    for step in steps:
        kind = type(step.body)
        if kind not in (typed.Source, typed.Sink) or not is_standard(step.body.connector):
            continue
        before = first.setdefault(kind, step)
        if before is not step:
            _report(context, step, before)


def is_standard(connector: typed.Connector) -> bool:
    return connector.kind in FILES and connector.path == "-"


def _report(context: Context, step: typed.Step, before: typed.Step) -> None:
    does, what = ("reads", "input") if isinstance(step.body, typed.Source) else ("writes to", "output")
    context.report(Mistake("E0419", step.body.connector.span, f"`{before.name}` already {does} standard {what}",
                           expected=f"another path for `{step.name}`",
                           notes=(Note(f"`{before.name}` {does} it here", before.body.connector.span),)))
