"""Calls: conversions by a type's name, built-in functions, functions of the program, and aggregates."""

from __future__ import annotations

from . import ast, typed
from .builtins import AGGREGATES, CASTS, SCALAR_FUNCTIONS, AggregateSignature, ScalarSignature
from .context import Context, Signature, unknown
from .conversions import cast, pass_on, unify_all
from .mistake import Mistake, is_wrong, wrong
from .scope import Scope
from .types import (
    BOOL,
    F64,
    I64,
    SCALARS,
    SYMBOL,
    U64,
    Duration,
    Float,
    Int,
    Sequence,
    Timestamp,
    Type,
    can_be_key,
    is_number,
    is_string,
    is_time,
)

_WINDOWED = ("window", "running")
_KINDS = {"number": "a number", "real": "a number", "string": "a symbol or text", "ordered": "a number or a time",
          "moment": "a timestamp", "hashed": "an integer, bool, time, symbol or text"}


class Calls:
    """The part of `Expressions` that deals with calls."""

    context: Context
    scope: Scope

    def call(self, node: ast.Call) -> typed.Expr:
        name = node.function.text
        if name in self.context.functions:
            return self._user_function(self.context.functions[name], node)
        if name in self.context.aggregates:
            return self._user_aggregate(self.context.aggregates[name], node)
        if name in AGGREGATES:
            return self._aggregate(AGGREGATES[name], node)
        if name in SCALAR_FUNCTIONS:
            return self._scalar(SCALAR_FUNCTIONS[name], node)
        if name in CASTS:
            return self._cast(name, node)
        if name in self.context.lost:
            return wrong(node.span)
        self._of_tuples(node) if self.scope.aggregates in _WINDOWED else self._arguments(node)
        raise self._no_function(node)

    def _no_function(self, node: ast.Call) -> Mistake:
        choices = [*self.context.functions, *SCALAR_FUNCTIONS, *CASTS]
        if self.scope.aggregates in _WINDOWED:
            choices = [*AGGREGATES, *self.context.aggregates, *choices]
        mistake = unknown("E0103", node.function.span, "function", node.function.text, choices)
        mistake.expected = "" if mistake.fix else mistake.expected
        return mistake

    def _arguments(self, node: ast.Call) -> list[typed.Expr]:
        return list(map(self.check, node.args))

    # --- conversions --------------------------------------------------------------------------------

    def _cast(self, name: str, node: ast.Call) -> typed.Expr:
        args = self._arguments(node)
        _count_arguments(node, 1, f"{name}(x)")
        if is_wrong(*args):
            return wrong(node.span)
        target, source = SCALARS[name], args[0].type
        possible = is_string(source) if target == SYMBOL else is_number(source) or is_time(source)
        if not possible:
            raise Mistake("E0214", args[0].span, f"{source} can't become {target}",
                          expected="a symbol or text" if target == SYMBOL else "a number or a time")
        return cast(args[0], target)

    # --- scalar functions ---------------------------------------------------------------------------

    def _scalar(self, signature: ScalarSignature, node: ast.Call) -> typed.Expr:
        args = self._arguments(node)
        _count_arguments(node, len(signature.params), str(signature), signature.variadic)
        self._need_module(signature, node)
        if is_wrong(*args):
            return wrong(node.span)
        kinds = [kind for _, kind in signature.params]
        kinds += [kinds[-1]] * (len(args) - len(kinds))
        args = [_argument(arg, kind, signature.name) for arg, kind in zip(args, kinds, strict=True)]
        if signature.result == "same":
            args = [_widened(arg) for arg in unify_all(args, f"`{signature.name}` gives one of them")]
        return typed.Call(signature.name, tuple(args), _scalar_result(signature.result, args[0].type), node.span)

    def _need_module(self, signature: ScalarSignature, node: ast.Call) -> None:
        if signature.module and signature.module not in self.context.modules:
            raise Mistake("E0110", node.function.span,
                          f"`{signature.name}` is in {signature.module}, which is not in use",
                          expected=f"the line `use {signature.module}` above")

    def _user_function(self, signature: Signature, node: ast.Call) -> typed.Expr:
        args = self._passed(signature, node, self._arguments(node), "function")
        if is_wrong(*args):
            return wrong(node.span)
        return typed.Call(signature.name, tuple(args), signature.result, node.span, user=True)

    def _passed(self, signature: Signature, node: ast.Call, args: list[typed.Expr], kind: str) -> list[typed.Expr]:
        """The arguments as the declared parameters take them."""
        names = ", ".join(name for name, _ in signature.params)
        notes = self.context.declared_at(kind, signature.name)
        _count_arguments(node, len(signature.params), f"{signature.name}({names})", notes=notes)
        passed = []
        for arg, (name, type_) in zip(args, signature.params, strict=True):
            value = pass_on(arg, type_)
            if value is None:
                around = f"{type_}({{}})" if str(type_) in CASTS and is_number(arg.type) else ""
                raise Mistake("E0208", arg.span, f"`{name}` of {signature.name} takes {type_}, this is {arg.type}",
                              expected=str(type_), around=around, notes=notes)
            passed.append(value)
        return passed

    # --- aggregates ---------------------------------------------------------------------------------

    def _allow_aggregate(self, node: ast.Call) -> None:
        name, scope = node.function.text, self.scope
        if scope.in_aggregate() and not scope.nests:
            raise Mistake("E0301", node.span, f"`{name}` stands inside `{scope.aggregates}`, too deep",
                          expected="a value of one tuple")
        if not scope.aggregates:
            other = {"min": "least", "max": "greatest"}.get(name) if len(node.args) > 1 else None
            raise Mistake("E0300", node.function.span, f"`{name}` needs the tuples of a window, here is only one",
                          expected="a function of single values; aggregates stand in `aggregate`, `scan` and windowed "
                                   "operators", fix=other or "")

    def _of_tuples(self, node: ast.Call) -> list[typed.Expr]:
        """The arguments, each of which is a value of one tuple of the window."""
        inside = self.with_scope(self.scope.inside(node.function.text))
        return list(map(inside.check, node.args))

    def _aggregate(self, signature: AggregateSignature, node: ast.Call) -> typed.Expr:
        self._allow_aggregate(node)
        args = self._of_tuples(node)
        takes = 0 if signature.takes == "none" else 1
        _count_arguments(node, takes + len(signature.settings), str(signature))
        settings = [_constant_in(arg, *bounds) for arg, bounds in zip(args[takes:], signature.settings, strict=True)]
        if is_wrong(*args):
            return wrong(node.span)
        value = _argument(args[0], signature.takes, signature.name) if takes else None
        return _of_window(signature, value, tuple(settings), node)

    def _user_aggregate(self, signature: Signature, node: ast.Call) -> typed.Expr:
        self._allow_aggregate(node)
        args = self._passed(signature, node, self._of_tuples(node), "aggregate")
        if is_wrong(*args):
            return wrong(node.span)
        first = args[0] if args else None
        return typed.Aggregate(signature.name, first, (), signature.result, node.span, True, tuple(args[1:]))


def _count_arguments(node: ast.Call, count: int, usage: str, variadic: bool = False, notes: tuple = ()) -> None:
    given = len(node.args)
    if given != count and not (variadic and given > count):
        word = "argument" if given == 1 else "arguments"
        raise Mistake("E0207", node.span, f"`{node.function.text}` is given {given} {word}", expected=usage,
                      notes=notes)


def _argument(arg: typed.Expr, kind: str, function: str) -> typed.Expr:
    """An argument of a built-in as its kind asks for it."""
    type_ = arg.type
    numeric = is_number(type_) or kind == "number" and function != "abs" and isinstance(type_, Duration)
    fits = {"real": numeric, "number": numeric, "string": is_string(type_),
            "ordered": is_number(type_) or is_time(type_), "moment": isinstance(type_, Timestamp),
            "hashed": can_be_key(type_)}.get(kind, not isinstance(type_, Sequence))
    if not fits:
        raise Mistake("E0208", arg.span, f"`{function}` does not take {type_}", expected=_KINDS.get(kind, "a value"))
    if kind == "moment":
        return cast(arg, Timestamp("s"))
    if kind == "hashed" and not is_string(type_):
        return cast(arg, U64)
    return cast(arg, F64) if kind == "real" else arg


def _widened(arg: typed.Expr) -> typed.Expr:
    """Functions compute with the machine types of arithmetic."""
    if is_number(arg.type):
        return cast(arg, F64 if isinstance(arg.type, Float) else U64 if arg.type == U64 else I64)
    return arg


def _scalar_result(result: str, first: Type) -> Type:
    return {"real": F64, "int": I64, "hash": U64, "bool": BOOL, "pieces": Sequence(first)}.get(result, first)


def _constant_in(arg: typed.Expr, name: str, low: float, high: float, low_included: bool) -> float:
    """A setting of an aggregate: a number that is known now and inside its bounds."""
    if is_wrong(arg):
        return low
    if not isinstance(arg, typed.Literal) or not is_number(arg.type):
        raise Mistake("E0309", arg.span, f"`{name}` must be known when the program is compiled",
                      expected="a number, or a parameter")
    if not (low <= arg.value <= high) or arg.value == low and not low_included:
        sign = "<=" if low_included else "<"
        raise Mistake("E0317", arg.span, f"`{name}` is {arg.value}", expected=f"{low:g} {sign} {name} <= {high:g}")
    return float(arg.value)


def _of_window(signature: AggregateSignature, value: typed.Expr | None, settings: tuple[float, ...],
               node: ast.Call) -> typed.Expr:
    """The aggregate with its value as the machine type it is computed in; a sum of durations is one again."""
    given = value.type if value is not None else I64
    computed: Type = {"int": I64, "real": F64, "keep": given, "sum": _sum_type(given)}[signature.result]
    if value is not None and signature.result in ("real", "sum"):
        value = cast(value, computed)
    result = typed.Aggregate(signature.name, value, settings, computed, node.span)
    return cast(result, given) if signature.result == "sum" and isinstance(given, Duration) else result


def _sum_type(type_: Type) -> Type:
    if isinstance(type_, Float):
        return F64
    return U64 if isinstance(type_, Int) and not type_.signed else I64
