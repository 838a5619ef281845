"""Expressions: every name looked up, every type known, every conversion written out.

A mistake is reported at the node where it is seen; what it leaves behind has the type WRONG, so that nothing
around it complains again.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from . import ast, typed
from .check_calls import Calls
from .constants import fold
from .context import Context, unknown
from .conversions import as_i64, unify, unify_all
from .mistake import WRONG, Mistake, is_wrong, wrong
from .operators import binary, inversion, negation
from .scope import Scope
from .span import Span
from .suggest import nearest
from .types import BOOL, F64, I64, SYMBOL, U64, UNIT_NS, Array, Duration, Int

_BOUNDS = {"window_start": "start", "window_end": "end"}


def check_expression(context: Context, scope: Scope, node: ast.Expr) -> typed.Expr:
    """The typed expression; of type WRONG when a mistake in it was reported."""
    return Expressions(context, scope).check(node)


class Expressions(Calls):
    """The rules, one method a kind of node. Calls of functions and aggregates stand in `check_calls.py`."""

    def __init__(self, context: Context, scope: Scope):
        self.context, self.scope = context, scope

    def check(self, node: ast.Expr) -> typed.Expr:
        try:
            # The rule is called from here, without a step between: expressions may be 200 levels deep.
            return _RULES[type(node)](self, node)
        except Mistake as mistake:
            self.context.report(mistake)
            return wrong(node.span)

    def with_scope(self, scope: Scope) -> Expressions:
        return Expressions(self.context, scope)

    # --- names --------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> typed.Expr:
        scope, name = self.scope, node.name
        if scope.unknown:
            return wrong(node.span)
        if name in _BOUNDS and (not scope.in_aggregate() or name not in scope.names):
            if scope.bounds or name not in scope.names:
                return self._bound(name, node.span)
        if name in scope.names:
            return self._standing_alone(name, node.span)
        if name in scope.ambiguous:
            raise self._ambiguous(name, node.span)
        if name in self.context.params:
            self.context.used_params.add(name)
            param = self.context.params[name]
            return typed.Literal(param.value, param.type, node.span)
        raise self._no_name(name, node.span)

    def _standing_alone(self, name: str, span: Span) -> typed.Expr:
        keys = self.scope.keys
        if keys is not None and name not in keys:
            raise Mistake("E0302", span, f"`{name}` differs from tuple to tuple of the window",
                          expected="a key named in `by`, or an aggregate of the field",
                          around="{}: last({})" if self.scope.shorthand else "last({})")
        return replace(self.scope.names[name], span=span)

    def _bound(self, name: str, span: Span) -> typed.Expr:
        if self.scope.bounds is None:
            raise Mistake("E0307", span, f"{self.scope.no_bounds} has no `{name}`",
                          expected="a time or session window's result")
        return typed.WindowBound(_BOUNDS[name], self.scope.bounds, span)

    def _ambiguous(self, name: str, span: Span) -> Mistake:
        choices = [f"{qualifier}.{name}" for qualifier in self.scope.qualified]
        return Mistake("E0113", span, f"both inputs have a field `{name}`", expected=" or ".join(choices),
                       fix=f"{name}: {choices[0]}" if self.scope.shorthand else choices[0])

    def _no_name(self, name: str, span: Span) -> Mistake:
        choices = [*self.scope.suggestions(), *self.context.params]
        if not self.scope.names and not self.scope.qualified:
            mistake = unknown("E0309", span, "parameter", name, choices)
            mistake.message += ", and what stands here must be known when the program is compiled"
            return mistake
        where, notes = self.context.owner(self.scope.owner)
        kind = "field" if self.scope.owner_kind in ("record", "streams") else self.scope.owner_kind
        fields = self.scope.suggestions()
        mistake = unknown("E0100", span, kind, name, choices, where=where, notes=notes)
        if not nearest(name, self.context.params):
            mistake.expected = unknown("", span, "", name, fields).expected
        return mistake

    def _member(self, node: ast.Member) -> typed.Expr:
        if self.scope.unknown:
            return wrong(node.span)
        qualifier = _dotted(node.object)
        if qualifier is None:
            self.check(node.object)
            raise Mistake("E0217", node.span, "only a stream's name can stand before a dot",
                          expected="stream.field in the body of a join")
        if qualifier not in self.scope.qualified:
            raise self._no_qualifier(qualifier, node)
        names = self.scope.qualified[qualifier]
        if node.field.text not in names:
            raise unknown("E0100", node.field.span, "field", node.field.text, list(names), where=qualifier)
        return replace(names[node.field.text], span=node.span)

    def _no_qualifier(self, qualifier: str, node: ast.Member) -> Mistake:
        if not self.scope.qualified:
            known = node.field.text in self.scope.names
            return Mistake("E0217", node.span, "there is only one input here: fields need no stream before them",
                           expected="the field's name alone", fix=node.field.text if known else "")
        return unknown("E0100", node.object.span, "input", qualifier, list(self.scope.qualified))

    # --- operators ----------------------------------------------------------------------------------

    def _unary(self, node: ast.Unary) -> typed.Expr:
        # -9223372036854775808 is one number, though its digits alone do not fit.
        if node.op == "-" and isinstance(node.operand, ast.IntLiteral):
            return integer(-node.operand.value, node.span)
        operand = self.check(node.operand)
        if is_wrong(operand):
            return wrong(node.span)
        return negation(operand, node.span) if node.op == "-" else inversion(operand, node.span)

    def _binary(self, node: ast.Binary) -> typed.Expr:
        left, right = self.check(node.left), self.check(node.right)
        if is_wrong(left, right):
            return wrong(node.span)
        return binary(node.op, left, right, node.span)

    def _if(self, node: ast.If) -> typed.Expr:
        condition, then, otherwise = self.check(node.condition), self.check(node.then), self.check(node.otherwise)
        if condition.type not in (BOOL, WRONG):
            self.context.report(no_condition(condition))
        if is_wrong(then, otherwise):
            return wrong(node.span)
        branches = unify(then, otherwise)
        if branches is None:
            raise Mistake("E0203", otherwise.span, f"`else` gives {otherwise.type}, `then` gives {then.type}",
                          expected=f"{then.type} in both branches")
        if condition.type != BOOL:
            return wrong(node.span)
        return fold(typed.If(condition, *branches, branches[0].type, node.span))

    # --- arrays -------------------------------------------------------------------------------------

    def _index(self, node: ast.Index) -> typed.Expr:
        array, index = self.check(node.object), self.check(node.index)
        if is_wrong(array, index):
            return wrong(node.span)
        if not isinstance(array.type, Array):
            raise Mistake("E0215", array.span, f"{array.type} has no elements", expected="an array")
        if not isinstance(index.type, Int):
            raise Mistake("E0215", index.span, f"{index.type} is no index", expected="an integer")
        if isinstance(index, typed.Literal) and not 0 <= index.value < array.type.size:
            raise Mistake("E0215", index.span, f"there is no element {index.value} in {array.type}",
                          expected=f"0 to {array.type.size - 1}")
        return typed.Element(array, as_i64(index, "an index is signed, this is u64"), array.type.element, node.span)

    def _array(self, node: ast.ArrayLiteral) -> typed.Expr:
        elements = [self.check(element) for element in node.elements]
        if is_wrong(*elements):
            return wrong(node.span)
        if not elements:
            raise Mistake("E0215", node.span, "an array has at least one element", expected="[a, b, …]")
        unified = unify_all(elements, "an array's elements have one type")
        return typed.ArrayOf(tuple(unified), Array(unified[0].type, len(unified)), node.span)


def no_condition(expr: typed.Expr) -> Mistake:
    return Mistake("E0202", expr.span, f"a condition is true or false, this is {expr.type}", expected="bool",
                   around="{} != 0" if isinstance(expr.type, Int) else "")


_RULES = {
    ast.IntLiteral: lambda _, node: integer(node.value, node.span),
    ast.FloatLiteral: lambda _, node: typed.Literal(node.value, F64, node.span),
    ast.BoolLiteral: lambda _, node: typed.Literal(node.value, BOOL, node.span),
    ast.StringLiteral: lambda _, node: typed.Literal(node.value, SYMBOL, node.span),
    ast.Measure: lambda _, node: duration(node),
    ast.Name: Expressions._name, ast.Member: Expressions._member, ast.Index: Expressions._index,
    ast.Call: Expressions.call, ast.Unary: Expressions._unary, ast.Binary: Expressions._binary,
    ast.If: Expressions._if, ast.ArrayLiteral: Expressions._array,
}


def integer(value: int, span: Span) -> typed.Literal:
    """An integer literal is i64; one that only u64 can hold is u64."""
    for type_ in (I64, U64):
        if type_.low <= value <= type_.high:
            return typed.Literal(value, type_, span)
    raise Mistake("E0209", span, "the number does not fit 64 bits", expected=f"{I64.low} to {U64.high}")


def duration(node: ast.Measure) -> typed.Literal:
    """A literal length of time, in the unit it was written in or the largest that makes it whole."""
    if node.kind != "time":
        raise Mistake("E0213", node.span, f"a {node.kind} can't be used in an expression",
                      expected="a number or a length of time")
    by_size = sorted(UNIT_NS, key=UNIT_NS.__getitem__, reverse=True)
    for unit in [node.unit, *by_size]:
        count = node.base / Fraction(UNIT_NS[unit])
        if count.denominator == 1:
            return typed.Literal(_fitting(int(count), node.span), Duration(unit), node.span)
    raise Mistake("E0206", node.span, f"{node.text} is no whole number of nanoseconds", expected="at least 1ns")


def _fitting(count: int, span: Span) -> int:
    if count > I64.high:
        raise Mistake("E0209", span, "the length of time does not fit 64 bits", expected="a shorter one")
    return count


def _dotted(node: ast.Expr) -> str | None:
    """`bids`, or `route.good` for a port."""
    if isinstance(node, ast.Name):
        return node.name
    if isinstance(node, ast.Member) and isinstance(node.object, ast.Name):
        return f"{node.object.name}.{node.field.text}"
    return None

