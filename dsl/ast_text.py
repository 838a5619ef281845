"""The untyped tree as indented text, one node a line: what `--emit ast` shows."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from fractions import Fraction

from . import ast


def dump(tree: ast.Program) -> str:
    """Every node with its kind, its plain values and where it starts; its parts indented below."""
    return "\n".join(_node("", tree, "")) + "\n"


def _node(label: str, node: object, indent: str) -> list[str]:
    plain, parts = [], []
    for f in fields(node):
        inner = getattr(node, f.name)
        if f.name == "span":
            continue
        if _is_tree(inner):
            parts += _parts(f.name, inner, indent + "  ")
        else:
            plain.append(f" {f.name}={_plain(inner)}")
    head = f"{indent}{label}{type(node).__name__}{''.join(plain)} @{node.span.line}:{node.span.column}"
    return [head, *parts]


def _is_tree(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_is_tree, value))
    return is_dataclass(value) and not isinstance(value, ast.Ident)


def _parts(name: str, value: object, indent: str) -> list[str]:
    if not isinstance(value, tuple):
        return _node(f"{name}: ", value, indent)
    return [f"{indent}{name}:"] + [line for inner in value for line in _node("", inner, indent + "  ")]


def _plain(value: object) -> str:
    match value:
        case None:
            return "-"
        case ast.Ident():
            return value.text
        case tuple():
            return f"({', '.join(map(_plain, value))})"
        case str() | float() | bool():
            return repr(value)
        case Fraction() | int():
            return str(value)
    raise TypeError(f"no plain value: {value!r}")
