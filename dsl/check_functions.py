"""Functions and aggregates of the program: signatures first, so that bodies may call any of them."""

from __future__ import annotations

from . import ast, typed
from .builtins import AGGREGATES, CASTS, SCALAR_FUNCTIONS
from .check_bodies import check_body, constant_count
from .check_expressions import check_expression
from .check_types import c_function, type_or_wrong, unique
from .context import Context, Signature, unknown
from .conversions import store
from .diagnostics import Note
from .mistake import WRONG, Mistake
from .scope import Scope, locals_
from .settings import PROPERTIES
from .typed_walk import walk
from .types import Array, Field, Int, Record, Text, Type

_TAKEN = {**dict.fromkeys(SCALAR_FUNCTIONS, "function"), **dict.fromkeys(AGGREGATES, "aggregate"),
          **dict.fromkeys(CASTS, "conversion")}


def declare_functions(context: Context, decls: list[ast.FunctionDecl], aggregates: list[ast.AggregateDecl]) -> None:
    """Fills the tables of signatures."""
    for decl in (*decls, *aggregates):
        name = decl.name.text
        if name in _TAKEN:
            context.report(Mistake("E0115", decl.name.span, f"`{name}` is a built-in {_TAKEN[name]}",
                                   expected="another name"))
        params = tuple((p.name.text, _parameter(context, p.type)) for p in unique(context, decl.params, "parameter"))
        table = context.functions if isinstance(decl, ast.FunctionDecl) else context.aggregates
        table[name] = Signature(name, params, _result(context, decl.result), decl.name.span)


def _parameter(context: Context, ref: ast.TypeRef) -> Type:
    """Texts are passed as slices, and an array of texts has none."""
    type_ = type_or_wrong(context, ref)
    element = type_
    while isinstance(element, Array):
        element = element.element
    if isinstance(element, Text) and element is not type_:
        context.report(Mistake("E0216", ref.span, "an array of texts can't be passed to a function",
                               expected="an array of symbols, or single texts"))
    return type_


def _result(context: Context, ref: ast.TypeRef) -> Type:
    type_ = type_or_wrong(context, ref)
    if isinstance(type_, Array):
        context.report(Mistake("E0216", ref.span, f"a function gives a single value, not {type_}",
                               expected="a function for each element"))
    return type_


def check_function(context: Context, decl: ast.FunctionDecl) -> typed.Function:
    """The function with its body as its result's type."""
    signature = context.functions[decl.name.text]
    if isinstance(decl.body, ast.CFunction):
        body: typed.Expr | typed.CFunction = c_function(context, decl.body)
    else:
        scope = Scope(locals_(signature.params), owner=signature.name, owner_kind="parameter")
        body = _as_result(context, check_expression(context, scope, decl.body), signature)
    return typed.Function(signature.name, signature.params, signature.result, body, decl.span)


def _as_result(context: Context, value: typed.Expr, signature: Signature) -> typed.Expr:
    if WRONG in (value.type, signature.result):
        return value
    stored = store(value, signature.result)
    if stored is None:
        message = f"`{signature.name}` gives {signature.result}, this is {value.type}"
        context.report(Mistake("E0210", value.span, message, expected=str(signature.result)))
    return stored or value


def report_recursion(context: Context, functions: list[typed.Function]) -> None:
    """A function is put in place where it is called, so it can't call itself, not even through others."""
    bodies = {f.name: f for f in functions}
    calls = {name: _called(f.body) & set(bodies) for name, f in bodies.items()}
    while leaves := [name for name, called in calls.items() if not called & set(calls)]:
        for name in leaves:
            del calls[name]
    for name in [name for name in calls if _reaches(calls, name)][:1]:
        others = [other for other in calls if other != name and _reaches(calls, other)]
        notes = tuple(Note(f"`{other}` takes part in it", context.functions[other].span) for other in others)
        context.report(Mistake("E0114", context.functions[name].span, f"`{name}` calls itself",
                               expected="a function that ends without itself", notes=notes))


def _reaches(calls: dict[str, set[str]], start: str) -> bool:
    seen, todo = set(), set(calls[start])
    while todo:
        name = todo.pop()
        seen.add(name)
        todo |= calls.get(name, set()) - seen
    return start in seen


def _called(body: typed.Expr | typed.CFunction) -> set[str]:
    """The functions of the program that an expression calls."""
    parts = () if isinstance(body, typed.CFunction) else walk(body)
    return {part.function for part in parts if isinstance(part, typed.Call) and part.user}


# --- aggregates -------------------------------------------------------------------------------------


def check_aggregate(context: Context, decl: ast.AggregateDecl) -> typed.AggregateDef:
    """A user-defined aggregate: as lift, combine and lower, or in C over opaque state."""
    signature = context.aggregates[decl.name.text]
    properties = _properties(context, decl)
    if isinstance(decl.body, ast.OpaqueAggregate):
        return _opaque(context, decl, decl.body, signature, properties)
    body = decl.body
    parts = tuple((part.name.text, type_or_wrong(context, part.type))
                  for part in unique(context, body.state, "part of the state"))
    state = Record(f"{signature.name}.state", tuple(Field(*part) for part in parts))
    lift = check_body(context, Scope(locals_(signature.params), owner=signature.name, owner_kind="parameter"),
                      body.lift, state, "")
    sides = {side: locals_(parts, f"{side}.") for side in ("left", "right")}
    combine = check_body(context, Scope({}, owner="left and right", owner_kind="part", qualified=sides), body.combine,
                         state, "")
    lower = check_expression(context, Scope(locals_(parts), owner="the state", owner_kind="part"), body.lower)
    return typed.AggregateDef(signature.name, signature.params, signature.result, state, lift.values, combine.values,
                              _as_result(context, lower, signature), properties, None, decl.span)


def _opaque(context: Context, decl: ast.AggregateDecl, body: ast.OpaqueAggregate, signature: Signature,
            properties: frozenset[str]) -> typed.AggregateDef:
    """State in C is so many bytes; they stand in the record as one array."""
    size = None
    with context.reporting():
        size = constant_count(context, body.state_bytes, "the size of the state") if body.state_bytes else None
    fields = (Field("bytes", Array(Int(8, False), size)),) if size else ()
    nothing = typed.Literal(0, signature.result, decl.span)
    state = Record(f"{signature.name}.state", fields)
    return typed.AggregateDef(signature.name, signature.params, signature.result, state, (), (), nothing, properties,
                              c_function(context, body.function), decl.span)


def _properties(context: Context, decl: ast.AggregateDecl) -> frozenset[str]:
    for word in decl.properties:
        if word.text not in PROPERTIES:
            context.report(unknown("E0400", word.span, "property", word.text, list(PROPERTIES)))
        elif word.text == "invertible":
            context.warn("W0106", word.span, "`invertible` is not used: nothing takes tuples out of a state again")
    return frozenset(word.text for word in decl.properties)
