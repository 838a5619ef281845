"""Parse tree to `ast`: literals, expressions, records, types, settings and connectors."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from . import ast
from .diagnostics import Diagnostics
from .literals import LiteralError, parse_measure, parse_number, parse_string
from .span import Span


class ExpressionBuilder:
    """`broken` tells that a mistake was found that leaves the declaration without a meaning."""

    def __init__(self, file: str, diagnostics: Diagnostics):
        self.file = file
        self.diagnostics = diagnostics
        self.broken = False

    def _error(self, code: str, span: Span, message: str, **more: Any) -> None:
        self.diagnostics.add(code, span, message, **more)
        self.broken = True

    # --- literals ---

    def on_number(self, span: Span, token: ast.Ident) -> ast.IntLiteral | ast.FloatLiteral:
        value = self._literal(parse_number, token, 0)
        node = ast.IntLiteral if isinstance(value, int) else ast.FloatLiteral
        return node(value, token.text, span)

    def on_measure(self, span: Span, token: ast.Ident) -> ast.Measure:
        kind, base, unit = self._literal(parse_measure, token, ("time", Fraction(0), "s"))
        return ast.Measure(kind, base, unit, token.text, span)

    def on_string(self, span: Span, token: ast.Ident) -> ast.StringLiteral:
        return ast.StringLiteral(self._literal(parse_string, token, ""), span)

    def on_boolean(self, span: Span, token: ast.Ident) -> ast.BoolLiteral:
        return ast.BoolLiteral(token.text == "true", span)

    def _literal(self, read: Any, token: ast.Ident, otherwise: Any) -> Any:
        try:
            return read(token.text)
        except LiteralError as error:
            self._error(error.code, token.span, str(error))
            return otherwise

    # --- expressions ---

    def on_name(self, span: Span, token: ast.Ident) -> ast.Name:
        return ast.Name(token.text, span)

    def on_call(self, span: Span, function: ast.Ident, *args: ast.Expr) -> ast.Call:
        return ast.Call(function, args, span)

    def on_member(self, span: Span, object_: ast.Expr, field: ast.Ident) -> ast.Member:
        return ast.Member(object_, field, span)

    def on_index(self, span: Span, object_: ast.Expr, index: ast.Expr) -> ast.Index:
        return ast.Index(object_, index, span)

    def on_unary(self, span: Span, op: ast.Ident, operand: ast.Expr) -> ast.Unary:
        return ast.Unary(op.text, operand, span)

    def on_binary(self, span: Span, left: ast.Expr, op: ast.Ident, right: ast.Expr) -> ast.Binary:
        return ast.Binary(op.text, left, right, span)

    def on_if_then_else(self, span: Span, condition: ast.Expr, then: ast.Expr, otherwise: ast.Expr) -> ast.If:
        return ast.If(condition, then, otherwise, span)

    def on_group(self, span: Span, inner: ast.Expr) -> ast.Expr:
        return inner

    def on_array(self, span: Span, *elements: ast.Expr) -> ast.ArrayLiteral:
        return ast.ArrayLiteral(elements, span)

    def on_construct(self, span: Span, *entries: ast.Entry) -> ast.Construct:
        return ast.Construct(entries, span)

    def on_entry(self, span: Span, name: ast.Ident, value: ast.Expr | None) -> ast.Entry:
        return ast.Entry(name, value or ast.Name(name.text, name.span), value is None, span)

    # --- C functions: written like a call ---

    def _c_function(self, body: Any) -> ast.CFunction | None:
        if isinstance(body, ast.Call) and body.function.text == "c":
            if len(body.args) in (2, 3) and all(isinstance(arg, ast.StringLiteral) for arg in body.args):
                return ast.CFunction(*body.args[:2], body.span, *body.args[2:])
        return None

    def _must_be_c(self, body: Any) -> ast.CFunction | None:
        function = self._c_function(body)
        if not function:
            self._error("E0024", body.span, "this is no C function", expected='`c("file.c", "name")`')
        return function

    def _construct_or_c(self, body: Any) -> ast.Construct | ast.CFunction | None:
        if isinstance(body, ast.Construct):
            return body
        function = self._c_function(body)
        if not function:
            self._error("E0024", body.span, "this is neither a record nor a C function",
                        expected='`{ field: value, … }` or `c("file.c", "name")`')
        return function

    # --- types and fields ---

    def on_type(self, span: Span, name: ast.Ident, argument: ast.Ident | None, *sizes: ast.Ident) -> ast.TypeRef:
        value = argument and (self._whole(argument) if argument.text[0].isdigit() else argument.text)
        return ast.TypeRef(name, value, tuple(map(self._whole, sizes)), span)

    def _whole(self, token: ast.Ident) -> int:
        value = self._literal(parse_number, token, 1)
        if isinstance(value, int):
            return value
        self._error("E0028", token.span, f"`{token}` is no whole number", expected="a whole number")
        return 1

    def on_field(self, span: Span, name: ast.Ident, type_: ast.TypeRef) -> ast.Field:
        return ast.Field(name, type_, span)

    def on_fields(self, span: Span, *fields: ast.Field) -> tuple[ast.Field, ...]:
        return fields

    def on_params(self, span: Span, *fields: ast.Field) -> tuple[ast.Field, ...]:
        return fields

    def on_names(self, span: Span, *names: ast.Ident) -> tuple[ast.Ident, ...]:
        return names

    def on_properties(self, span: Span, *names: ast.Ident) -> tuple[ast.Ident, ...]:
        return names

    # --- settings and connectors ---

    def on_auto(self, span: Span) -> ast.Auto:
        return ast.Auto(span)

    def on_settings(self, span: Span, *settings: ast.Setting) -> tuple[ast.Setting, ...]:
        return settings

    def on_setting(self, span: Span, name: ast.Ident, value: ast.Expr | ast.Range) -> ast.Setting:
        return ast.Setting(name, value, span)

    def on_range(self, span: Span, low: ast.Expr, high: ast.Expr, step: ast.Expr | None) -> ast.Range:
        return ast.Range(low, high, step, span)

    def on_connector(self, span: Span, kind: ast.Ident, *args: ast.Setting | ast.Expr) -> ast.Connector:
        settings = tuple(arg for arg in args if isinstance(arg, ast.Setting))
        paths = [arg for arg in args if not isinstance(arg, ast.Setting)]
        for extra in paths[1:] if args[:1] == tuple(paths[:1]) else paths:
            self._error("E0025", extra.span, f"`{kind}` takes one path, and it comes first",
                        expected="a setting with its name: `name: value`")
        return ast.Connector(kind, paths[0] if paths else None, settings, span)

    def on_path(self, span: Span, value: ast.Expr) -> ast.Expr:
        return value
