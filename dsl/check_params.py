"""Parameters: their types, their values as written, and those given on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from . import ast, typed
from .check_bodies import check_constant
from .check_types import resolve_type
from .context import Context, unknown
from .conversions import pass_on
from .mistake import Mistake
from .span import Span
from .types import UNIT_NS, Bool, Duration, Float, Int, Text, Type, is_number, is_string

_COUNTS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_INTEGER = re.compile(r"(-?[0-9][0-9_]*)(k|M|G|)")
_FLOAT = re.compile(r"-?[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?|-?inf|nan")
_TIME = re.compile(r"(-?[0-9][0-9_]*(?:\.[0-9]+)?)(ns|us|ms|s|min|h|d)")


COMMAND_LINE = "<command line>"


def command_line(given: Mapping[str, str]) -> str:
    """The settings of the command line as the text that messages show."""
    return " ".join(f"-D {name}={value}" for name, value in given.items())


def _place(given: Mapping[str, str], name: str, of_value: bool) -> Span:
    """The place of a parameter's name or value in the text of the command line."""
    before = [f"-D {other}={value} " for other, value in given.items()][: list(given).index(name)]
    column = len("".join(before)) + len("-D ") + (len(name) + 1 if of_value else 0) + 1
    return Span(COMMAND_LINE, 1, column, 1, column + len(given[name] if of_value else name))


def check_params(context: Context, decls: list[ast.ParamDecl], given: Mapping[str, str]) -> None:
    """Fills the table of parameters. A parameter sees those before it."""
    for name in given:
        if name not in {decl.name.text for decl in decls}:
            choices = [decl.name.text for decl in decls]
            context.report(unknown("E0105", _place(given, name, False), "parameter", name, choices))
    for decl in decls:
        try:
            _param(context, decl, given)
        except Mistake as mistake:
            context.report(mistake)
            context.lost.add(decl.name.text)


def _param(context: Context, decl: ast.ParamDecl, given: Mapping[str, str]) -> None:
    name = decl.name.text
    type_ = resolve_type(context, decl.type)
    if not (is_number(type_) or is_string(type_) or isinstance(type_, Bool | Duration)):
        raise Mistake("E0216", decl.type.span, f"a parameter can't be {type_}",
                      expected="a number, bool, duration, symbol or text")
    value: object = _default(context, decl, type_)
    if name in given:
        value = read_literal(given[name], type_, name, _place(given, name, True))
    if value is None:
        context.lost.add(name)
    else:
        context.params[name] = typed.Param(name, type_, value, decl.span)


def _default(context: Context, decl: ast.ParamDecl, type_: Type) -> object | None:
    """The value as written, None after a mistake."""
    with context.reporting():
        value = check_constant(context, decl.value, "a parameter's value")
        if value is None:
            return None
        passed = pass_on(value, type_)
        if not isinstance(passed, typed.Literal):
            missing_unit = isinstance(type_, Duration) and isinstance(decl.value, ast.IntLiteral)
            if isinstance(type_, Int) and isinstance(value.type, Int):
                raise Mistake("E0209", decl.value.span, f"{value.value} does not fit {type_}",
                              expected=f"{type_.low} to {type_.high}")
            if isinstance(type_, Text) and is_string(value.type):
                raise Mistake("E0210", decl.value.span, f"the text has {len(value.value.encode())} bytes and does not "
                              f"fit {type_}", expected=f"at most {type_.size} bytes of UTF-8")
            raise Mistake("E0414" if missing_unit else "E0210", decl.value.span,
                          f"the parameter `{decl.name}` is {type_}, this is {value.type}", expected=str(type_),
                          around="{}ms" if missing_unit else "")
        return passed.value
    return None


def read_literal(text: str, type_: Type, name: str, place: Span) -> int | float | bool | str:
    """A value from the command line, read as a literal of the type."""
    value = _read(text, type_)
    if value is None:
        raise Mistake("E0106", place, f"`{text}` is no value for the parameter `{name}`",
                      expected=_wanted(type_))
    return value


def _read(text: str, type_: Type) -> int | float | bool | str | None:
    match type_:
        case Bool():
            return {"true": True, "false": False}.get(text)
        case Int():
            found = _INTEGER.fullmatch(text)
            value = int(found[1].replace("_", "")) * _COUNTS[found[2]] if found else None
            return value if value is not None and type_.low <= value <= type_.high else None
        case Float():
            return float(text.replace("_", "")) if _FLOAT.fullmatch(text) else None
        case Duration():
            return _read_time(text, type_.unit)
        case Text():
            return _unquoted(text) if len(_unquoted(text).encode("utf-8", "surrogateescape")) <= type_.size else None
    return _unquoted(text)


def _read_time(text: str, unit: str) -> int | None:
    found = _TIME.fullmatch(text)
    if not found:
        return None
    count = Fraction(found[1].replace("_", "")) * UNIT_NS[found[2]] / UNIT_NS[unit]
    return int(count) if count.denominator == 1 else None


def _unquoted(text: str) -> str:
    """A shell leaves a string without quotes; with them it means the same."""
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text


def _wanted(type_: Type) -> str:
    if isinstance(type_, Int):
        return f"a whole number from {type_.low} to {type_.high}"
    if isinstance(type_, Duration):
        return f"a whole number of {type_.unit} with its unit, such as 200{type_.unit}"
    return {"bool": "true or false"}.get(str(type_), f"a literal of {type_}")
