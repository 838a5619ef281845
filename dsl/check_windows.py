"""Windows and keys: sizes as counts of tuples or units of the stream's time, and what results may refer to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import ast, typed
from .check_bodies import constant_count, constant_time
from .check_expressions import check_expression
from .context import Context, unknown
from .conversions import pass_on
from .diagnostics import Note
from .mistake import WRONG, Mistake, is_wrong
from .scope import Scope, of_record
from .span import Span
from .types import Duration, Record, Timestamp, Type, can_be_key, is_number, is_time

PROCESSING_UNIT = "ns"


@dataclass(frozen=True, slots=True)
class CheckedWindow:
    """`window` is None after a mistake; `bounds` is the type of window_start, `unit` that of the results."""

    window: typed.Window | None
    bounds: Timestamp | None
    unit: str | None
    no_bounds: str = ""


def check_window(context: Context, node: ast.Window, record: Record | None, unit: str | None) -> CheckedWindow:
    """The window over a stream of the given record and unit of time."""
    try:
        return _window(context, node, record, unit)
    except Mistake as mistake:
        context.report(mistake)
        # Bounds of a broken time window still have a type, so that its results are checked.
        bounds = None if isinstance(node, ast.CountWindow | ast.DeltaWindow) else Timestamp(unit or PROCESSING_UNIT)
        return CheckedWindow(None, bounds, unit, _no_bounds(node))


def _window(context: Context, node: ast.Window, record: Record | None, unit: str | None) -> CheckedWindow:
    match node:
        case ast.CountWindow():
            return CheckedWindow(_count(context, node), None, unit, _no_bounds(node))
        case ast.DeltaWindow():
            return CheckedWindow(_delta(context, node, record), None, unit, _no_bounds(node))
    own = PROCESSING_UNIT if node.processing or record is None else unit
    if own is None:
        raise no_event_time(node.span, "a window over time")
    made = _time(context, node, own) if isinstance(node, ast.TimeWindow) else _session(context, node, own)
    return CheckedWindow(made, Timestamp(own), own)


def _no_bounds(node: ast.Window) -> str:
    return "a delta window" if isinstance(node, ast.DeltaWindow) else "a count window"


def no_event_time(span: Span, what: str) -> Mistake:
    return Mistake("E0306", span, f"{what} needs event time, and the stream has none",
                   expected="a source with `event time FIELD`, or `processing time`")


def _count(context: Context, node: ast.CountWindow) -> typed.CountWindow | None:
    size = constant_count(context, node.size, "the size of a count window")
    slide = constant_count(context, node.slide, "the slide of a count window") if node.slide else size
    if size is None or slide is None:
        return None
    return typed.CountWindow(size, 1 if node.every_tuple else slide, node.partial, node.span, node.every_tuple)


def _time(context: Context, node: ast.TimeWindow, unit: str) -> typed.TimeWindow | None:
    size = constant_time(context, node.size, unit, "the size of a time window")
    slide = constant_time(context, node.slide, unit, "the slide of a time window") if node.slide else size
    if size is None or slide is None:
        return None
    return typed.TimeWindow(size, slide, node.span, node.every_tuple, node.processing)


def _session(context: Context, node: ast.SessionWindow, unit: str) -> typed.SessionWindow | None:
    gap = constant_time(context, node.gap, unit, "the gap of a session")
    return None if gap is None else typed.SessionWindow(gap, node.span, node.processing)


def _delta(context: Context, node: ast.DeltaWindow, record: Record | None) -> typed.DeltaWindow | None:
    """The threshold is of the type of the value, or of the difference of two of them."""
    value = check_expression(context, of_record(record), node.value)
    threshold = check_expression(context, Scope({}), node.threshold)
    if is_wrong(value, threshold):
        return None
    if not (is_number(value.type) or is_time(value.type)):
        raise Mistake("E0208", value.span, f"a delta window goes by a number or a time, this is {value.type}",
                      expected="a number or a time")
    if not isinstance(threshold, typed.Literal):
        raise Mistake("E0309", threshold.span, "the threshold must be known when the program is compiled",
                      expected="a literal or a parameter")
    return typed.DeltaWindow(_threshold(threshold, value), value, node.span)


def _threshold(threshold: typed.Literal, value: typed.Expr) -> typed.Expr:
    target = Duration(value.type.unit) if is_time(value.type) else value.type
    fitting = pass_on(threshold, target)
    if fitting is None:
        raise Mistake("E0208", threshold.span, f"the threshold is {threshold.type}, the value {value.type}",
                      expected=str(target))
    if threshold.value < 0:
        raise Mistake("E0308", threshold.span, f"the threshold is {threshold.value}", expected="at least 0")
    return fitting


# --- keys -------------------------------------------------------------------------------------------


def check_keys(context: Context, keys: tuple[ast.Ident, ...], record: Record | None) -> tuple[str, ...]:
    """The fields after `by` that exist and can be keys; the others are reported."""
    return named_fields(context, keys, record, "key", lambda key: key_field(context, key, record))


def named_fields(context: Context, names: tuple[ast.Ident, ...], record: Record | None, what: str,
                 check: Callable[[ast.Ident], Type]) -> tuple[str, ...]:
    """Each name once; `check` raises for one that is no good field of the record."""
    good: dict[str, ast.Ident] = {}
    for name in names if record is not None else ():
        with context.reporting():
            check(name)
            if name.text in good:
                raise Mistake("E0112", name.span, f"the {what} `{name}` is named twice",
                              notes=(Note("first here", good[name.text].span),))
        good.setdefault(name.text, name)
    return tuple(good)


def key_field(context: Context, key: ast.Ident, record: Record) -> Type:
    """The type of a key of the record."""
    type_ = field_of(context, key, record)
    if type_ != WRONG and not can_be_key(type_):
        raise Mistake("E0312", key.span, f"`{key}` is {type_}, which can't be a key",
                      expected="an integer, bool, time, symbol or text", notes=context.owner(record.name)[1])
    return type_


def field_of(context: Context, name: ast.Ident, record: Record) -> Type:
    """The type of a field of the record."""
    where, notes = context.owner(record.name)
    field = record.field(name.text)
    if field is None:
        raise unknown("E0100", name.span, "field", name.text, [f.name for f in record.fields], where=where,
                      notes=notes)
    return field.type
