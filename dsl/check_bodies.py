"""Bodies `{ field: value, … }`: each value as its field takes it, in the record's order; and constants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from . import ast, typed
from .check_expressions import check_expression, no_condition
from .constants import units
from .context import Context, unknown
from .conversions import loses, nanoseconds, store
from .diagnostics import Note
from .mistake import WRONG, Mistake, is_wrong, wrong
from .scope import Scope
from .span import Span
from .suggest import listing, nearest
from .types import BOOL, SYMBOL, Array, Duration, Field, Int, Record, Sequence, Type, is_number

LONGEST = 1 << 59  # units of time: several such windows after each other stay within 64 bits


def check_body(context: Context, scope: Scope, node: ast.Construct, declared: Record | None, step: str,
               place: Span | None = None, implied: tuple[str, ...] = (),
               alternate: str | None = None) -> typed.Construct:
    """A body that builds the declared record, or one inferred from its values and named after the step.

    `place` is where a missing field is reported: the record's name after `->`. `implied` are keys, which need
    not be written when the declared record has a field of that name; nor must the name of the `alternate`.
    """
    entries = _once(context, node.entries)
    short = replace(scope, shorthand=True)
    values = {entry.name.text: check_expression(context, short if entry.shorthand else scope, entry.value)
              for entry in entries}
    if declared is None:
        return _inferred(context, values, step, node.span)
    for name in implied:
        if name in scope.names and declared.field(name) and name not in values:
            values[name] = replace(scope.names[name], span=node.span)
    if alternate and declared.names_alternate():
        values.setdefault("alternate", typed.Literal(alternate, SYMBOL, node.span))
    for entry in entries:
        _report_unless_field(context, entry, declared, values)
    _report_missing(context, declared, values, place or node.span)
    stored = tuple(stored_value(context, values.get(f.name, wrong(node.span)), f, declared) for f in declared.fields)
    return typed.Construct(declared, stored, node.span)


def _once(context: Context, entries: Iterable[ast.Entry]) -> list[ast.Entry]:
    """The entries without those whose name came before."""
    first: dict[str, ast.Entry] = {}
    for entry in entries:
        before = first.setdefault(entry.name.text, entry)
        if before is not entry:
            context.report(Mistake("E0112", entry.name.span, f"the field `{entry.name}` is given twice",
                                   notes=(Note("first here", before.name.span),)))
    return list(first.values())


def _inferred(context: Context, values: dict[str, typed.Expr], step: str, span: Span) -> typed.Construct:
    for name, value in values.items():
        if isinstance(value.type, Sequence):
            context.report(Mistake("E0210", value.span, f"a {value.type} can't be kept in the field `{name}`",
                                   expected="a single value; `flatmap` unrolls a sequence"))
            values[name] = wrong(value.span)
    record = context.infer(step, tuple(Field(name, value.type) for name, value in values.items()), span)
    return typed.Construct(record, tuple(values.values()), span)


def _report_unless_field(context: Context, entry: ast.Entry, record: Record, values: dict[str, typed.Expr]) -> None:
    name = entry.name.text
    if record.field(name):
        return
    missing = [f.name for f in record.fields if f.name not in values]
    where, notes = context.owner(record.name)
    mistake = unknown("E0212", entry.name.span, "field", name, missing or [f.name for f in record.fields],
                      where=where, notes=notes)
    if missing:
        mistake.fix = nearest(name, missing)
        values.setdefault(mistake.fix, wrong(entry.span))  # the near field counts as given
    context.report(mistake)


def _report_missing(context: Context, record: Record, values: dict[str, typed.Expr], place: Span) -> None:
    missing = [f.name for f in record.fields if f.name not in values]
    if missing:
        word = "field" if len(missing) == 1 else "fields"
        where, notes = context.owner(record.name)
        names = listing(missing).replace(" or ", " and ")
        context.report(Mistake("E0211", place, f"{where} also has the {word} {names}",
                               expected="a value for every field", notes=notes))


def stored_value(context: Context, value: typed.Expr, field: Field, owner: Record) -> typed.Expr:
    """A value as a declared field keeps it; a mistake is reported and leaves WRONG."""
    if field.type == WRONG:
        return wrong(value.span)
    if loses(value, field.type):
        context.warn("W0103", value.span, f"this does not fit `{field.name}`, which is {field.type}, and is changed",
                     notes=context.declared_at("record", owner.name))
    stored = store(value, field.type)
    if stored is None:
        context.report(Mistake("E0210", value.span, f"the field `{field.name}` is {field.type}, this is {value.type}",
                               expected=_storable(field.type), notes=context.declared_at("record", owner.name)))
        return wrong(value.span)
    return stored


def _storable(type_: Type) -> str:
    if is_number(type_):
        return "a number"
    if isinstance(type_, Array):
        return f"{type_}: an array of {type_.size} elements"
    return str(type_)


# --- predicates and constants -----------------------------------------------------------------------


def check_predicate(context: Context, scope: Scope, node: ast.Expr) -> typed.Expr:
    """An expression that is true or false."""
    predicate = check_expression(context, scope, node)
    if predicate.type not in (BOOL, WRONG):
        context.report(no_condition(predicate))
        return wrong(node.span)
    return predicate


def check_constant(context: Context, node: ast.Expr, what: str) -> typed.Literal | None:
    """An expression whose value is known now; None after a mistake."""
    value = check_expression(context, Scope({}), node)
    if is_wrong(value):
        return None
    if not isinstance(value, typed.Literal):
        raise Mistake("E0309", node.span, f"{what} must be known when the program is compiled",
                      expected="a literal, a parameter, or arithmetic on them")
    return value


def constant_count(context: Context, node: ast.Expr, what: str, least: int = 1) -> int | None:
    """A whole number of tuples or things."""
    value = check_constant(context, node, what)
    if value is None:
        return None
    if not isinstance(value.type, Int):
        raise Mistake("E0308", node.span, f"{what} is a whole number, this is {value.type}", expected="an integer")
    if value.value < least:
        raise Mistake("E0308", node.span, f"{what} is {value.value}", expected=f"at least {least}")
    return value.value


def constant_number(context: Context, node: ast.Expr, what: str) -> float | None:
    """A number that is not negative."""
    value = check_constant(context, node, what)
    if value is None:
        return None
    if not is_number(value.type):
        raise Mistake("E0308", node.span, f"{what} is a number, this is {value.type}", expected="a number")
    if not value.value >= 0:
        raise Mistake("E0308", node.span, f"{what} is {value.value}", expected="at least 0")
    return float(value.value)


def constant_time(context: Context, node: ast.Expr, unit: str, what: str, least: int = 1) -> int | None:
    """A length of time as a whole count of units."""
    value = check_constant(context, node, what)
    if value is None:
        return None
    if not isinstance(value.type, Duration):
        number = isinstance(value.type, Int)
        raise Mistake("E0414", node.span, f"{what} is a length of time, this is {value.type}",
                      expected="a number with a unit: ns us ms s min h d",
                      around=f"{{}}{unit}" if number and isinstance(node, ast.IntLiteral) else "")
    count = units(nanoseconds(value), unit)
    if count is None:
        raise Mistake("E0206", node.span, f"{context.written(node.span) or what} does not divide into {unit}",
                      expected=f"a whole number of {unit}, the unit of the stream's time")
    if count < least:
        raise Mistake("E0308", node.span, f"{what} is {value.value}{value.type.unit}",
                      expected=f"at least {least}{unit}")
    if count > LONGEST:
        raise Mistake("E0308", node.span, f"{what} is {value.value}{value.type.unit}",
                      expected=f"at most {LONGEST}{unit}")
    return count
