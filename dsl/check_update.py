"""`update`: state of a key that each tuple changes, by expressions or by C, and the result read from it."""

from __future__ import annotations

from . import ast, typed
from .check_bodies import check_body, constant_time, stored_value
from .check_expressions import check_expression
from .check_types import c_function, resolve_type, unique
from .context import Context, unknown
from .mistake import WRONG, Mistake
from .scope import Scope, fields, locals_
from .span import NOWHERE
from .streams import Stream
from .types import Field, Record


def check_update(context: Context, stage: ast.UpdateStage, keys: tuple[str, ...], stream: Stream, name: str,
                 declared: Record | None) -> typed.Update:
    """The update of a stream."""
    parts = unique(context, stage.state, "part of the state")
    state = Record(f"{name}.state", tuple(Field(part.name.text, _type(context, part)) for part in parts))
    _no_shadows(context, parts, stream)
    initial = tuple(stored_value(context, check_expression(context, Scope({}), part.initial), field, state)
                    for part, field in zip(parts, state.fields, strict=True))
    scope = _scope(stream, state)
    body = check_body(context, scope, stage.construct, declared, name, stage.result and stage.result.span)
    after = _next(context, stage.next, scope, state)
    return typed.Update(keys, state, initial, after, body, expiry(context, stage, stream))


def _type(context: Context, part: ast.StateField):
    try:
        return resolve_type(context, part.type)
    except Mistake as mistake:
        context.report(mistake)
        return WRONG


def _no_shadows(context: Context, parts: list[ast.StateField], stream: Stream) -> None:
    for part in parts:
        if stream.record and stream.record.field(part.name.text):
            where, notes = context.owner(stream.record.name)
            context.report(Mistake("E0104", part.name.span, f"`{part.name}` is a field of {where} too",
                                   expected="another name for the state", notes=notes))


def _scope(stream: Stream, state: Record) -> Scope:
    if stream.record is None:
        return Scope({}, unknown=True)
    parts = locals_(tuple((f.name, f.type) for f in state.fields))
    return Scope({**fields(stream.record), **parts}, owner=f"{stream.record} and the state", owner_kind="streams")


def _next(context: Context, node: ast.Construct | ast.CFunction, scope: Scope,
          state: Record) -> tuple[typed.Expr, ...] | typed.CFunction:
    """The new values in the order of the state; a part that is not mentioned stays as it is."""
    if isinstance(node, ast.CFunction):
        return c_function(context, node)
    values: dict[str, typed.Expr] = {}
    for entry in unique(context, node.entries, "part of the state"):
        value = check_expression(context, scope, entry.value)
        field = state.field(entry.name.text)
        if field is None:
            choices = [f.name for f in state.fields]
            context.report(unknown("E0212", entry.name.span, "part", entry.name.text, choices, where="the state"))
            continue
        values[field.name] = stored_value(context, value, field, state)
    return tuple(values.get(f.name) or typed.LocalRef(f.name, f.type, NOWHERE) for f in state.fields)


def expiry(context: Context, node: ast.UpdateStage | ast.OperatorDecl, stream: Stream) -> int | None:
    """`expire after`, in units of the stream's time; without event time in nanoseconds, and without effect."""
    if node.expire_after is None:
        return None
    if stream.record is not None and stream.unit is None:
        context.warn("W0107", node.expire_after.span, "no key ever expires: the stream has no event time",
                     expected="a source with `event time` or `processing time`")
    with context.reporting():
        return constant_time(context, node.expire_after, stream.unit or "ns", "the time after which a key expires")
    return None
