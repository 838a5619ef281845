"""Typed expressions as text: fully parenthesised where precedence needs it, conversions written as calls."""

from __future__ import annotations

import json

from ...dsl import typed

_LEVELS = {"or": 1, "and": 2, "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4,
           "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
_NOT, _NEGATION, _ATOM = 3, 7, 8


def expression_text(expr: typed.Expr) -> str:
    return _text(expr)[0]


def construct_lines(construct: typed.Construct) -> tuple[str, ...]:
    """A line a field: `name = value`."""
    return tuple(f"{column.name} = {expression_text(value)}"
                 for column, value in zip(construct.record.fields, construct.values, strict=True))


def _text(expr: typed.Expr) -> tuple[str, int]:
    """The text, and how tightly it binds."""
    match expr:
        case typed.Literal():
            text = _literal(expr)
            return text, _NEGATION if text.startswith("-") else _ATOM
        case typed.FieldRef():
            return ("right." if expr.side else "") + expr.name, _ATOM
        case typed.LocalRef():
            return expr.name, _ATOM
        case typed.Unary(op="not"):
            return f"not {_within(expr.operand, _NOT)}", _NOT
        case typed.Unary():
            return f"-{_within(expr.operand, _NEGATION)}", _NEGATION
        case typed.Binary():
            return _binary(expr)
        case typed.If():
            parts = (expression_text(one) for one in (expr.condition, expr.then, expr.otherwise))
            return "if {} then {} else {}".format(*parts), 0
        case typed.Cast():
            return f"{expr.type}({expression_text(expr.operand)})", _ATOM
        case typed.Call():
            return f"{expr.function}({', '.join(map(expression_text, expr.args))})", _ATOM
        case typed.Aggregate():
            value = () if expr.value is None else (expression_text(expr.value),)
            return f"{expr.function}({', '.join((*value, *map(repr, expr.settings)))})", _ATOM
        case typed.WindowBound():
            return f"window_{expr.bound}", _ATOM
        case typed.Element():
            return f"{_within(expr.array, _ATOM)}[{expression_text(expr.index)}]", _ATOM
        case typed.ArrayOf():
            return f"[{', '.join(map(expression_text, expr.elements))}]", _ATOM
    raise TypeError(f"no expression: {expr!r}")


def _within(expr: typed.Expr, level: int) -> str:
    text, binds = _text(expr)
    return text if binds >= level else f"({text})"


def _binary(expr: typed.Binary) -> tuple[str, int]:
    """Operators of one level group to the left; comparisons not at all."""
    level = _LEVELS[expr.op]
    left = _within(expr.left, level + (level == 4))
    return f"{left} {expr.op} {_within(expr.right, level + 1)}", level


def _literal(expr: typed.Literal) -> str:
    if isinstance(expr.value, bool):
        return "true" if expr.value else "false"
    return json.dumps(expr.value, ensure_ascii=False) if isinstance(expr.value, str) else repr(expr.value)
