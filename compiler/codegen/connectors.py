"""Connectors of the program's text as the specifications that the runtime and its command line understand."""

from __future__ import annotations

from ...dsl import typed


def connector_spec(connector: typed.Connector, retry: bool = False) -> str:
    """`csv("a.csv")` is `csv:a.csv`; `generate(count: 5, bid: 1.0..2.0)` is `generate:count=5,bid=1.0..2.0`;
    `tcp("localhost:9000", format: jsonl)` is `tcp:localhost:9000?format=jsonl`."""
    if connector.kind in ("tcp", "unix"):
        return _socket_spec(connector, retry)
    if connector.kind != "generate":
        return f"{connector.kind}:{connector.path}"
    return "generate:" + ",".join(f"{name}={_value(name, value)}" for name, value in connector.settings)


def _socket_spec(connector: typed.Connector, retry: bool) -> str:
    settings = {**dict(connector.settings), **({"retry": True} if retry else {})}
    address = connector.path.replace("%", "%25").replace("?", "%3F")
    words = "&".join(f"{name}={_number(value)}" for name, value in settings.items())
    return f"{connector.kind}:{address}" + (f"?{words}" if words else "")


def _value(name: str, value: object) -> str:
    if isinstance(value, tuple):
        return "..".join(_number(part) for part in value)
    if name == "disorder":
        return f"{int(value)}ns"
    return _number(value)


def _number(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
