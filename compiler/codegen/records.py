"""Records as C structs, with the functions that parse, print, pack and unpack them."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl.types import Bool, Float, Int, Record, Symbol, Text, Type
from .c_types import capacity, declare, elements_of, fields_of, kind, packed_size, unit_ns
from .names import Names, c_string
from .templating import render


@dataclass(frozen=True)
class FieldView:
    c: str
    title: str
    kind: str
    capacity: int
    unit_ns: int
    parse: str
    parse_field: str
    print: str
    decode: tuple[str, ...]
    encode: str


@dataclass(frozen=True)
class RecordView:
    c: str
    title: str
    quoted: str
    declarations: tuple[str, ...]
    packed_size: int
    fields: tuple[FieldView, ...]
    read: bool
    written: bool


def record_view(record: Record, names: Names, read: bool, written: bool) -> RecordView:
    """An array is as many fields as it has elements: `v[0]`, `v[1]`, …"""
    scalars = [(place, title, type_) for c, f in zip((c for c, _ in fields_of(record)), record.fields, strict=True)
               for (place, type_), (title, _) in zip(elements_of(f.type, c), elements_of(f.type, f.name), strict=True)]
    offsets = [sum(packed_size(type_) for _, _, type_ in scalars[:i]) for i in range(len(scalars))]
    fields = tuple(_field(place, title, type_, i, offsets[i], len(scalars) == 1)
                   for i, (place, title, type_) in enumerate(scalars))
    declarations = tuple(declare(type_, c) for c, type_ in fields_of(record))
    return RecordView(names.record(record.name), record.name, c_string(record.name), declarations,
                      sum(packed_size(type_) for _, _, type_ in scalars), fields, read, written)


def scalar_fields(record: Record) -> list[str]:
    """The field that each field of the runtime's table belongs to."""
    return [f.name for f in record.fields for _ in elements_of(f.type, f.name)]


def record_code(views: list[RecordView]) -> str:
    return render("records.c.j2", records=views)


def _field(c: str, title: str, type_: Type, index: int, offset: int, lone: bool) -> FieldView:
    return FieldView(c, c_string(title), kind(type_), capacity(type_), unit_ns(type_), _parse(c, type_, index),
                     _parse_field(c, type_, index), _print(c, type_, lone), _decode(c, type_, index, offset),
                     _encode(c, type_, offset))


def _parse(c: str, type_: Type, index: int) -> str:
    """From a slice of a row that was split."""
    return _taken("parse", type_, f"row[{index}].data, row[{index}].size", f"&r->{c}")


def _parse_field(c: str, type_: Type, index: int) -> str:
    """From a row as it stands in its block; short symbols are looked for among the last ones first."""
    field = f"dfrt_row_field(rows, bounds, columns[{index}], end)"
    return _taken("field", type_, field + (", rows->recent" if isinstance(type_, Symbol) else ""), f"&r->{c}")


def _taken(how: str, type_: Type, source: str, place: str) -> str:
    match type_:
        case Int() | Float():
            return f"dfrt_{how}_{type_}({source}, {place})"
        case Bool() | Symbol():
            return f"dfrt_{how}_{'bool' if isinstance(type_, Bool) else 'symbol'}({source}, {place})"
        case Text(size):
            return f"dfrt_{how}_text({source}, {place}, {size})"
    return f"dfrt_{how}_i64({source}, {place})"


def _print(c: str, type_: Type, lone: bool) -> str:
    match type_:
        case Int(_, signed):
            return f"dfrt_put_{'i' if signed else 'u'}64(out, r->{c});"
        case Float(bits):
            return f"dfrt_put_f{bits}(out, r->{c});"
        case Bool():
            return f"dfrt_put_bool(out, r->{c});"
        case Symbol():
            return f"dfrt_put_{'lone_' if lone else ''}symbol(out, r->{c});"
        case Text():
            return f"dfrt_put_{'lone_' if lone else ''}text(out, r->{c}.data, r->{c}.size);"
    return f"dfrt_put_i64(out, r->{c});"


def _decode(c: str, type_: Type, index: int, offset: int) -> tuple[str, ...]:
    match type_:
        case Text(size):
            return (f"if (!dfrt_text_decode(packed + {offset}, &r->{c}, {size})) return {index};",)
        case Bool():
            return (f"if (packed[{offset}] > 1) return {index};", f"r->{c} = packed[{offset}] == 1;")
    return (f"dfrt_unpack(&r->{c}, packed + {offset}, {packed_size(type_)});",)


def _encode(c: str, type_: Type, offset: int) -> str:
    match type_:
        case Text(size):
            return f"memcpy(packed + {offset}, r->{c}.data, {size});"
        case Bool():
            return f"packed[{offset}] = r->{c} ? 1 : 0;"
    return f"dfrt_pack(packed + {offset}, &r->{c}, {packed_size(type_)});"
