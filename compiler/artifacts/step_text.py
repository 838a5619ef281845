"""What a step does, in words: the lines that the graph's text, its JSON and its picture show."""

from __future__ import annotations

from dataclasses import fields

from ...dsl import typed
from .expression_text import construct_lines, expression_text

_KINDS = {
    typed.Source: "source", typed.Late: "late", typed.Filter: "filter", typed.Map: "map",
    typed.FlatMap: "flatmap", typed.Union_: "union", typed.Join: "join", typed.Broadcast: "broadcast",
    typed.Scan: "scan", typed.Branch: "branch", typed.Update: "update", typed.Operator: "operator",
    typed.Port: "port", typed.Sink: "sink",
}


def kind_of(body: typed.Body) -> str:
    return _KINDS[type(body)]


def describe(body: typed.Body) -> tuple[str, ...]:
    """Nothing for a step that is said by its kind."""
    match body:
        case typed.Source():
            return (connector_text(body.connector), *_source_lines(body))
        case typed.Filter():
            return (f"where {expression_text(body.predicate)}",)
        case typed.Branch():
            before = tuple(f"unless {expression_text(one)}" for one in body.before)
            return before + (() if body.predicate is None else (f"where {expression_text(body.predicate)}",))
        case typed.Map() | typed.Broadcast():
            return construct_lines(body.construct)
        case typed.FlatMap():
            return (f"each {expression_text(body.sequence)} as {body.element}",)
        case typed.Join():
            return (join_text(body), *construct_lines(body.construct))
        case typed.Scan():
            return (*keys_lines(body.keys), *construct_lines(body.construct))
        case typed.Update():
            return _update_lines(body)
        case typed.Operator():
            return _operator_lines(body)
        case typed.Port():
            return (f"port {body.port}",)
        case typed.Sink():
            return (connector_text(body.connector), f"order {body.order}")
    return ()


def connector_text(connector: typed.Connector) -> str:
    path = (f'"{connector.path}"',) if connector.path else ()
    settings = (f"{name}: {_setting(value)}" for name, value in connector.settings)
    return f"{connector.kind}({', '.join((*path, *settings))})"


def _setting(value: object) -> str:
    return f"{value[0]}..{value[1]}" if isinstance(value, tuple) else str(value)


def window_text(window: typed.Window) -> str:
    match window:
        case typed.CountWindow():
            words = f"count {window.size} slide {window.slide}" + (" partial" if window.partial else "")
        case typed.TimeWindow():
            words = f"time {window.size} slide {window.slide}" + (" processing" if window.processing else "")
        case typed.SessionWindow():
            words = f"session gap {window.gap}" + (" processing" if window.processing else "")
        case typed.DeltaWindow():
            words = f"delta {expression_text(window.threshold)} of {expression_text(window.value)}"
    return words + (" every tuple" if getattr(window, "every_tuple", False) else "")


def join_text(body: typed.Join) -> str:
    pairs = (left if left == right else f"{left} = {right}"
             for left, right in zip(body.left_keys, body.right_keys, strict=True))
    return f"by {', '.join(pairs)} within {body.within}"


def keys_lines(keys: tuple[str, ...]) -> tuple[str, ...]:
    return (f"by {', '.join(keys)}",) if keys else ()


def _source_lines(body: typed.Source) -> tuple[str, ...]:
    if body.processing_time:
        return ("processing time",)
    if body.event_time is None:
        return ()
    slack = "auto" if body.slack is None else body.slack
    late = f" late to {body.late_to}" if body.late_to else ""
    return (f"event time {body.event_time} slack {slack}{late}",)


def _operator_lines(body: typed.Operator) -> tuple[str, ...]:
    lines = [*keys_lines(body.keys)]
    if body.window is not None:
        lines.append(f"window {window_text(body.window)}")
    if body.order != "total":
        lines.append(f"order {body.order}")
    if body.pattern is not None:
        lines.append(f"pattern {pattern_text(body.pattern)}")
    for alternate in body.alternates:
        lines += _alternate_lines(alternate)
    return tuple(lines)


def _alternate_lines(alternate: typed.Alternate) -> tuple[str, ...]:
    head = f"alternate {alternate.name} value {alternate.value}"
    head += f" columns {', '.join(alternate.columns)}" if alternate.columns else ""
    if isinstance(alternate.body, typed.CFunction):
        merge = f', "{alternate.body.merge}"' if alternate.body.merge else ""
        return (f'{head} = c("{alternate.body.path}", "{alternate.body.name}"{merge})',)
    return (head, *(f"  {line}" for line in construct_lines(alternate.body)))


def _update_lines(body: typed.Update) -> tuple[str, ...]:
    names = [part.name for part in body.state.fields]
    initial = ", ".join(f"{name} = {expression_text(one)}" for name, one in zip(names, body.initial, strict=True))
    if isinstance(body.next, typed.CFunction):
        then = f'with c("{body.next.path}", "{body.next.name}")'
    else:
        parts = (f"{name} = {expression_text(one)}" for name, one in zip(names, body.next, strict=True))
        then = "with " + ", ".join(parts)
    return (*keys_lines(body.keys), f"state {initial}", then, *construct_lines(body.construct))


def pattern_text(pattern: typed.Pattern) -> str:
    """`pane_farming { workers: 3, merge: ring }`: what is left to the compiler is left out."""
    names = (part.name for part in fields(pattern) if part.name not in ("name", "span"))
    settings = [f"{name}: {getattr(pattern, name)}" for name in names if getattr(pattern, name) is not None]
    return f"{pattern.name} {{ {', '.join(settings)} }}" if settings else pattern.name
