"""Connectors of sources and sinks: which there are, whether they take a path, and their settings."""

from __future__ import annotations

from . import ast, typed
from .check_expressions import check_expression
from .check_paths import check_path
from .check_settings import check_settings
from .check_sockets import SOCKETS, check_socket
from .context import Context, unknown
from .mistake import WRONG, Mistake, is_wrong
from .scope import Scope
from .settings import CONNECTORS, ConnectorKind, Setting
from .span import Span
from .suggest import listing
from .types import SYMBOL, Int, Record, is_number, is_string


def check_connector(context: Context, node: ast.Connector, record: Record | None, *,
                    source: bool) -> typed.Connector | None:
    """The connector; None after a mistake that was reported."""
    with context.reporting():
        kind = _kind(node, source)
        path = _path(context, node, kind)
        known = dict(kind.settings)
        if kind.fields and record is not None:
            known = {**_field_settings(record), **known}
        settings = check_settings(context, node.settings, known, f"{kind.name}(…)")
        if kind.name == "generate":
            _generator(node, settings, record)
        format_ = dict(settings).get("format", "csv") if kind.name in SOCKETS else kind.name
        if format_ == "lines" and source:
            _one_string(context, node, record)
        if kind.name in SOCKETS:
            check_socket(node, kind.name, path, dict(settings), record, source=source)
        return typed.Connector(kind.name, path, settings, node.span)
    return None


def _kind(node: ast.Connector, source: bool) -> ConnectorKind:
    kind = CONNECTORS.get(node.kind.text)
    usable = [name for name, k in CONNECTORS.items() if (k.source if source else k.sink)]
    if kind is None:
        raise unknown("E0404", node.kind.span, "connector", node.kind.text, usable)
    if kind.name not in usable:
        word = "source" if source else "sink"
        raise Mistake("E0413", node.kind.span, f"`{kind.name}` can't be a {word}", expected=listing(usable))
    return kind


def _path(context: Context, node: ast.Connector, kind: ConnectorKind) -> str:
    if node.path is None:
        if kind.path:
            raise Mistake("E0403", node.span, f"`{kind.name}` needs a path", expected=f'{kind.name}("path")')
        return ""
    if not kind.path:
        raise Mistake("E0403", node.path.span, f"`{kind.name}` takes no path", expected=f"{kind.name}(name: value, …)")
    value = check_expression(context, Scope({}), node.path)
    if not is_wrong(value) and (not isinstance(value, typed.Literal) or not is_string(value.type)):
        raise Mistake("E0402", node.path.span, f"a path is a string, this is {value.type}", expected='"path"')
    return check_path(value.value, node.path.span) if isinstance(value.value, str) else ""


def _field_settings(record: Record) -> dict[str, Setting]:
    """A generator may be told the range of each field that is a number."""
    return {field.name: Setting("number", span=True) for field in record.fields if is_number(field.type)}


def _generator(node: ast.Connector, settings: tuple[tuple[str, object], ...], record: Record | None) -> None:
    """What a generator can't do: rates that are not whole, fields that are not drawn from a range, a number and a file
    that say the same."""
    places = {setting.name.text: setting.value.span for setting in node.settings}
    _files(dict(settings), places)
    for name, value in settings:
        field = record and record.field(name)
        if name == "rate" and (value < 1 or value != int(value)):
            raise Mistake("E0402", places[name], "a generator's rate is a whole number of tuples a second",
                          expected="such as 1000/s")
        if field is None or not is_number(field.type) or name in dict(CONNECTORS["generate"].settings):
            continue
        if not isinstance(value, tuple) or len(value) != 2:
            raise Mistake("E0402", places[name], f"`{name}` is drawn from a range", expected=f"{name}: 1..100")
        if isinstance(field.type, Int) and any(part != int(part) for part in value):
            raise Mistake("E0402", places[name], f"`{name}` is {field.type}, its range has fractions",
                          expected="whole numbers")


def _files(settings: dict[str, object], places: dict[str, Span]) -> None:
    for name, others in (("rates", ("rate",)), ("weights", ("keys", "zipf"))):
        if name not in settings:
            continue
        if not settings[name] or any(mark in settings[name] for mark in ",\n"):
            raise Mistake("E0402", places[name], "the path of such a file is not empty and has no comma",
                          expected=f'{name}: "path"')
        for other in others:
            if other in settings:
                raise Mistake("E0401", places[name], f"`{name}` and `{other}` say the same: one of them can stand",
                              expected=f"`{name}` without `{other}`")


def _one_string(context: Context, node: ast.Connector, record: Record | None) -> None:
    if record is not None and not (len(record.fields) == 1 and
                                   (is_string(record.fields[0].type) or record.fields[0].type == WRONG)):
        raise Mistake("E0415", node.kind.span, f"a line is one string, {record} is not",
                      expected=f"a record with one field of text<N> or {SYMBOL}",
                      notes=context.declared_at("record", record.name))
