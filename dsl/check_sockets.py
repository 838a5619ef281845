"""Connectors over sockets: addresses, who may reach them, and what can travel."""

from __future__ import annotations

import ipaddress
import re

from . import ast
from .mistake import Mistake
from .span import Span
from .types import SYMBOL, Array, Record, Type

SOCKETS = ("tcp", "unix")
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^\[\]:/?\s]+):([0-9]{1,5})")


def check_socket(node: ast.Connector, kind: str, path: str, settings: dict[str, object], record: Record | None, *,
                 source: bool) -> None:
    """Raises a Mistake for what could not work, or would open more than was asked for."""
    if kind == "tcp":
        _address(node, path, settings)
    format_ = settings.get("format", "csv")
    if format_ == "lines" and not source:
        raise Mistake("E0413", _place(node, "format"), "`lines` can't be a sink", expected="csv, jsonl or binary")
    if format_ == "binary" and record is not None and any(_holds_symbol(field.type) for field in record.fields):
        raise Mistake("E0418", _place(node, "format"), f"a socket can't carry the symbols of {record} packed",
                      expected="text<N> fields, or the format csv or jsonl")


def _address(node: ast.Connector, path: str, settings: dict[str, object]) -> None:
    match = _ADDRESS.fullmatch(path)
    if match is None or int(match[2]) > 65535:
        raise Mistake("E0417", node.path.span, f"`{path}` is no address", expected='"HOST:PORT" or "[IPV6]:PORT"')
    if settings.get("listen") and not settings.get("public") and not is_loopback(match[1].strip("[]")):
        raise Mistake("E0416", node.path.span, f"`{path}` can be reached from other machines",
                      expected=f'"127.0.0.1:{match[2]}", or `public: true` if that is meant')


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name is what somebody else says it is


def _holds_symbol(type_: Type) -> bool:
    while isinstance(type_, Array):
        type_ = type_.element
    return type_ == SYMBOL


def _place(node: ast.Connector, setting: str) -> Span:
    return next((one.value.span for one in node.settings if one.name.text == setting), node.span)
