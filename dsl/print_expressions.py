"""Expressions, types and literals as text, with no more parentheses than the grammar needs."""

from __future__ import annotations

import re

from . import ast
from .literals import quote

_IF, _OR, _AND, _NOT, _COMPARISON, SUM, _PRODUCT, _SIGN, _POSTFIX = range(9)
_LEVEL = {"or": _OR, "and": _AND, "+": SUM, "-": SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT,
          **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARISON)}


def expression(node: ast.Expr, level: int = _IF) -> str:
    """The text of an expression that stands where the grammar asks for `level` or tighter."""
    own, text = _print(node)
    return text if own >= level else f"({text})"


def conjuncts(node: ast.Expr) -> list[tuple[str, ast.Expr]]:
    """`a and b and c` as its operands, each with its text (`and b`): where a long condition may break."""
    op = node.op if isinstance(node, ast.Binary) and node.op in ("and", "or") else ""
    operands: list[tuple[str, ast.Expr]] = []
    while op and isinstance(node, ast.Binary) and node.op == op:
        operands.append((f"{op} {expression(node.right, _LEVEL[op] + 1)}", node.right))
        node = node.left
    operands.append((expression(node, _LEVEL.get(op, _IF)), node))
    return operands[::-1]


def slack(node: ast.Expr | ast.Auto) -> str:
    """A parameter may be called `auto` like the word that stands in its place here."""
    if isinstance(node, ast.Auto):
        return "auto"
    text = expression(node)
    return f"({text})" if re.match(r"auto\b", text) else text


def value(node: ast.Expr | ast.Range) -> str:
    if not isinstance(node, ast.Range):
        return expression(node)
    step = f" step {expression(node.step)}" if node.step else ""
    return f"{expression(node.low)}..{expression(node.high)}{step}"


def type_ref(node: ast.TypeRef) -> str:
    argument = "" if node.argument is None else f"<{node.argument}>"
    return node.name.text + argument + "".join(f"[{size}]" for size in node.sizes)


def c_function(node: ast.CFunction) -> str:
    names = (node.path, node.name, *((node.merge,) if node.merge else ()))
    return f"c({', '.join(quote(name.value) for name in names)})"


def _print(node: ast.Expr) -> tuple[int, str]:
    """The level of an expression and its text."""
    match node:
        case ast.If():
            return _IF, (f"if {expression(node.condition)} then {expression(node.then)} "
                         f"else {expression(node.otherwise)}")
        case ast.Binary():
            level = _LEVEL[node.op]
            left = level + (level == _COMPARISON)  # comparisons do not associate
            return level, f"{expression(node.left, left)} {node.op} {expression(node.right, level + 1)}"
        case ast.Unary(op="not"):
            return _NOT, f"not {expression(node.operand, _NOT)}"
        case ast.Unary():
            return _SIGN, f"-{expression(node.operand, _SIGN)}"
        case _:
            return _POSTFIX, _postfix(node)


def _postfix(node: ast.Expr) -> str:
    match node:
        case ast.IntLiteral() | ast.FloatLiteral() | ast.Measure():
            return node.text
        case ast.BoolLiteral():
            return "true" if node.value else "false"
        case ast.StringLiteral():
            return quote(node.value)
        case ast.Name():
            return node.name
        case ast.Call():
            return f"{node.function}({_list(node.args)})"
        case ast.Member():
            return f"{expression(node.object, _POSTFIX)}.{node.field}"
        case ast.Index():
            return f"{expression(node.object, _POSTFIX)}[{expression(node.index)}]"
        case ast.ArrayLiteral():
            return f"[{_list(node.elements)}]"
    raise TypeError(f"no expression: {node!r}")


def _list(nodes: tuple[ast.Expr, ...]) -> str:
    return ", ".join(expression(node) for node in nodes)
