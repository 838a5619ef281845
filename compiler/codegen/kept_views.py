"""Views of windows that keep their tuples: which columns a group has, what is put there, how it is read again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...dsl import typed
from ...dsl.typed_walk import walk
from ...dsl.types import Array, Int, Record, Text, Type
from ..artifacts.parts import Part
from ..graph.walk import has_time
from .aggregates import arguments_of
from .c_types import Member, declare, element_members, fields_of, members_of
from .entering import Entering
from .expressions import Scope, c_store, c_value
from .names import column, identifier
from .step_views import Context

BY_TIME = ("time_window", "session_window", "moving_window")


@dataclass(frozen=True)
class Column:
    """An array of a group; `put` stores what a tuple has for it at place `at`."""

    c: str
    declaration: str
    put: str
    members: tuple[Member, ...]  # of an element
    struct: str = ""  # whose members they are; '' for a scalar, text or array


@dataclass(frozen=True)
class RowPart:
    """What aggregates read of a tuple that is kept; `read` takes it from place `i` of the columns."""

    declaration: str
    read: str


@dataclass(frozen=True)
class Computed:
    """What workers compute of a tuple, from what was kept of it, into `row`."""

    name: str
    statement: str


def copy(target: str, source: str, type_: Type) -> str:
    if isinstance(type_, Text | Array):
        return f"memcpy(&{target}, &{source}, sizeof {target});"
    return f"{target} = {source};"


def pointer(type_: Type, name: str) -> str:
    """The declaration of a column."""
    return declare(type_, f"(*{name})" if isinstance(type_, Array) else f"*{name}")


def value_parts(taken: Entering) -> dict[str, object]:
    """The values that are computed from a tuple when it comes: their declarations and the code."""
    scope = Scope(taken.symbols)
    return {"values": tuple(declare(v.expr.type, v.name) for v in taken.at_once),
            "value_stores": tuple(c_store(f"values.{v.name}", v.expr.type, v.expr, scope) for v in taken.at_once)}


def kept_parts(context: Context, step: typed.Step, kind: str, taken: Entering,
               alternates: tuple[typed.Alternate, ...]) -> dict[str, object]:
    """The columns: whole tuples where C takes them so, the fields and values that somebody reads, and times where
    there are any."""
    record, timed = context.input(step), has_time(context.graph, step)
    in_c = [a for a in alternates if isinstance(a.body, typed.CFunction)]
    whole = any(not a.columns for a in in_c)
    read = _fields_read(taken, record)
    named = {name for a in in_c for name in a.columns} | (set() if whole else {f.name for f in read})
    columns = [_field_column(f.name, f.type) for f in record.fields if f.name in named]
    columns += [_value_column(v.name, v.expr.type) for v in taken.at_once if v.kept]
    if whole:
        columns.insert(0, Column(
            "tuples", f"{context.record(record)} *tuples", "columns.tuples[at] = *t;",
            tuple(member for c, type_ in fields_of(record) for member in members_of(type_, c)), context.record(record)))
    columns[:0] = [_lifted_column(taken, aggregate, c) for aggregate, c in taken.lifted.items()
                   if aggregate not in taken.lifted_later]  # aligned to 16 bytes
    has_times = timed or whole or not columns
    if has_times:
        columns.insert(0, Column("times", "int64_t *times", "columns.times[at] = time;",
                                 element_members(Int(64, True))))
    by_time = kind in BY_TIME
    return {"columns": tuple(columns), "reads": bool(taken.aggregates or taken.more),
            "row": _row(taken, read, whole), "computed": _computed(taken), "has_times": has_times, "by_time": by_time,
            "sorts": timed and kind in ("count_window", "delta_window"),
            "kept_order": "order of time, ties by arrival" if by_time else "order of arrival"}


def _fields_read(taken: Entering, record: Record):
    """The fields that aggregates read as they are."""
    kept = [a for a in taken.aggregates.values() if a not in taken.lifted or a in taken.lifted_later]
    exprs = (*kept, *(value.expr for value in taken.by_workers))
    used = {part.name for expr in exprs for part in walk(expr) if isinstance(part, typed.FieldRef)}
    return [f for f in record.fields if f.name in used | taken.more]


def _field_column(name: str, type_: Type) -> Column:
    c = column(name)
    return Column(c, pointer(type_, c), copy(f"columns.{c}[at]", f"t->{identifier(name)}", type_),
                  element_members(type_))


def _value_column(name: str, type_: Type) -> Column:
    return Column(name, pointer(type_, name), copy(f"columns.{name}[at]", f"values.{name}", type_),
                  element_members(type_))


def _lifted_column(taken: Entering, aggregate: typed.Aggregate, c: str) -> Column:
    kind = f"aggregate_{identifier(aggregate.function)}"
    state = next(d for d in taken.program.aggregates if d.name == aggregate.function).state
    members = tuple(member for f in state.fields for member in members_of(f.type, identifier(f.name)))
    put = _lift(aggregate, f"columns.{c}[at]", Scope(taken.symbols, state="(&values)"))
    return Column(c, f"struct {kind} *{c}", put, members, f"struct {kind}")


def _lift(aggregate: typed.Aggregate, place: str, scope: Scope) -> str:
    args = "".join(f", {c_value(arg, scope)}" for arg in arguments_of(aggregate))
    return f"aggregate_{identifier(aggregate.function)}_add(faults, &{place}, true{args});"


def _computed(taken: Entering) -> tuple[Computed, ...]:
    scope = Scope(taken.symbols, ("row",), state="row")
    values = [Computed(v.name, c_store(f"row->{v.name}", v.expr.type, v.expr, scope)) for v in taken.by_workers]
    lifted = [Computed(c, _lift(a, f"row->{c}", scope)) for a, c in taken.lifted.items() if a in taken.lifted_later]
    return tuple(values + lifted)


def computed_for(taken: Entering, aggregates: Iterable[typed.Aggregate]) -> tuple[str, ...]:
    """What workers compute of a tuple for these aggregates, in the order in which it can be computed."""
    used = [taken.aggregates[one] for one in aggregates]
    names = {part.name for one in used for part in walk(one) if isinstance(part, typed.LocalRef)}
    names |= {taken.lifted[one] for one in used if one in taken.lifted_later}
    return tuple(one.name for one in _computed(taken) if one.name in names)


def _row(taken: Entering, read, whole: bool) -> tuple[RowPart, ...]:
    def field(name: str, type_: Type) -> RowPart:
        c = identifier(name)
        place = f"columns->tuples[i].{c}" if whole else f"columns->{column(name)}[i]"
        return RowPart(declare(type_, c), copy(f"row.{c}", place, type_))

    fields = [field(f.name, f.type) for f in read]
    values = [RowPart(declare(v.expr.type, v.name), copy(f"row.{v.name}", f"columns->{v.name}[i]", v.expr.type))
              for v in taken.at_once if v.kept]
    values += [RowPart(declare(v.expr.type, v.name), _nothing(v.name)) for v in taken.by_workers]
    lifted = [RowPart(f"struct aggregate_{identifier(a.function)} {c}",
                      _nothing(c) if a in taken.lifted_later else f"row.{c} = columns->{c}[i];")
              for a, c in taken.lifted.items()]
    return tuple(fields + values + lifted)


def _nothing(name: str) -> str:
    """Until it is computed; what only other alternates read is not."""
    return f"memset(&row.{name}, 0, sizeof row.{name});"


# --- what C is called with --------------------------------------------------------------------------


def operator_name(context: Context, step: typed.Step) -> str:
    """Of a part the operator that it is of: C knows that one only."""
    body = context.graph.step(step.name).body
    return body.operator.name if isinstance(body, Part) else step.name


def call_parts(context: Context, step: typed.Step, alternate: typed.Alternate) -> tuple[str, ...]:
    """The statements that fill `window`, the view of an alternate in C."""
    if not alternate.columns:
        view = context.names.window_view(operator_name(context, step))
        return (f"{view} window = {{columns.tuples + from, columns.times + from, count, start, end}};",)
    record, parts = context.input(step), []
    for name in alternate.columns:
        c, type_ = column(name), record.field(name).type
        cast = "(const void *)" if isinstance(type_, Text | Array) else ""  # the same layout, but another struct
        parts.append(f".{c} = {cast}(columns.{c} + from)")
    parts += [".times = columns.times + from"] if has_time(context.graph, step) else []
    view = context.names.columns_view(operator_name(context, step), alternate.name)
    keys = tuple(copy(f"window.key.{identifier(k)}", f"k->{identifier(k)}", record.field(k).type)
                 for k in step.body.keys)
    return (f"{view} window = {{{', '.join(parts)}, .count = count, .start = start, .end = end}};", *keys)


def merge_parts(context: Context, step: typed.Step) -> tuple[str, ...]:
    """The statements that fill `panes`, the view of a merge function, with `pane_count` panes at `given`."""
    record = context.input(step)
    keys = tuple(copy(f"panes.key.{identifier(k)}", f"k->{identifier(k)}", record.field(k).type)
                 for k in step.body.keys)
    view = context.names.panes_view(operator_name(context, step))
    return (f"{view} panes = {{.panes = given, .count = pane_count, .start = start, .end = end}};", *keys)
