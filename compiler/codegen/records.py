"""Records as C structs, with the functions that parse, print, pack and unpack them."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl.types import Array, Bool, Float, Int, Record, Symbol, Text, Type
from .c_types import capacity, declare, elements_of, fields_of, kind, packed_size, scalar_of, unit_ns
from .names import Names, c_string
from .templating import render

UNROLLED = 8  # elements of an array that are written out one by one: of more there is a loop


@dataclass(frozen=True)
class FieldView:
    """A line of the table of fields."""

    c: str
    title: str
    kind: str
    capacity: int
    unit_ns: int


@dataclass(frozen=True)
class MoveView:
    """The statements that move a scalar, or all elements of a large array, between a record and its other forms."""

    parse: tuple[str, ...]
    parse_field: tuple[str, ...]
    print: tuple[str, ...]
    decode: tuple[str, ...]
    encode: tuple[str, ...]


@dataclass(frozen=True)
class RecordView:
    c: str
    title: str
    quoted: str
    declarations: tuple[str, ...]
    packed_size: int
    fields: tuple[FieldView, ...]
    moves: tuple[MoveView, ...]
    looped: bool  # some array is moved in a loop
    read: bool
    written: bool


@dataclass(frozen=True)
class _Run:
    """Scalars of one type that lie behind each other: where the first one stands in a row and in a packed record."""

    place: str
    type: Type
    count: int
    index: int
    offset: int


def record_view(record: Record, names: Names, read: bool, written: bool) -> RecordView:
    """An array is as many fields as it has elements: `v[0]`, `v[1]`, …"""
    runs = _runs(record)
    places = (element for c, type_ in fields_of(record) for element in elements_of(type_, c))
    titles = (element for f in record.fields for element in elements_of(f.type, f.name))
    fields = tuple(FieldView(place, c_string(title), kind(type_), capacity(type_), unit_ns(type_))
                   for (place, type_), (title, _) in zip(places, titles, strict=True))
    moves = tuple(_move(run, len(fields) == 1) for run in runs) if read or written else ()
    declarations = tuple(declare(type_, c) for c, type_ in fields_of(record))
    return RecordView(names.record(record.name), record.name, c_string(record.name), declarations,
                      sum(run.count * packed_size(run.type) for run in runs), fields, moves,
                      any(run.count > 1 for run in runs), read, written)


def _runs(record: Record) -> list[_Run]:
    runs: list[_Run] = []
    index = offset = 0
    for c, field_type in fields_of(record):
        type_, count = scalar_of(field_type)
        taken = elements_of(field_type, c) if count <= UNROLLED else ((f"{c}{_looped_place(field_type)}", type_),)
        for place, _ in taken:
            runs.append(_Run(place, type_, count // len(taken), index, offset))
            index += count // len(taken)
            offset += count // len(taken) * packed_size(type_)
    return runs


def _looped_place(type_: Type) -> str:
    """Where element `i` stands, counted through all dimensions: `[i / 4][i % 4]` of `f64[3][4]`."""
    place, below = "", scalar_of(type_)[1]
    outermost = True
    while isinstance(type_, Array):
        below //= type_.size
        at = f"i / {below}" if below > 1 else "i"
        place += f"[{at}]" if outermost else f"[{at} % {type_.size}]"
        type_, outermost = type_.element, False
    return place


def scalar_fields(record: Record) -> list[str]:
    """The field that each field of the runtime's table belongs to."""
    return [f.name for f in record.fields for _ in elements_of(f.type, f.name)]


def record_code(views: list[RecordView]) -> str:
    return render("records.c.j2", records=views)


def _move(run: _Run, lone: bool) -> MoveView:
    """Of a run of several, `i` counts: the same statements in a loop."""
    c, type_ = run.place, run.type
    if run.count == 1:
        index, offset, wrong, give_up = f"{run.index}", f"{run.offset}", f"return {run.index};", "break;"
    else:
        size = packed_size(type_)
        index, offset = _from(run.index, "i"), _from(run.offset, "i" if size == 1 else f"{size} * i")
        wrong, give_up = f"return (int){f'({index})' if run.index else index};", "return n;"
    return MoveView(_loop(run, f"if (!{_parse(c, type_, index)}) {wrong}"),
                    _loop(run, f"if (!{_parse_field(c, type_, index)}) {give_up}"),
                    _loop(run, *(("if (i > 0) dfrt_put_char(out, ',');",) if run.count > 1 else ()),
                          _print(c, type_, lone)),
                    _loop(run, *_decode(c, type_, offset, wrong)), _loop(run, _encode(c, type_, offset)))


def _from(first: int, counted: str) -> str:
    return f"{first} + {counted}" if first else counted


def _loop(run: _Run, *statements: str) -> tuple[str, ...]:
    if run.count == 1:
        return statements
    head, inner = f"for (size_t i = 0; i < {run.count}; i++)", tuple(f"    {line}" for line in statements)
    return (head, *inner) if len(inner) == 1 else (f"{head} {{", *inner, "}")


def _parse(c: str, type_: Type, index: str) -> str:
    """From a slice of a row that was split."""
    return _taken("parse", type_, f"row[{index}].data, row[{index}].size", f"&r->{c}")


def _parse_field(c: str, type_: Type, index: str) -> str:
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


def _decode(c: str, type_: Type, offset: str, wrong: str) -> tuple[str, ...]:
    match type_:
        case Text(size):
            return (f"if (!dfrt_text_decode(packed + {offset}, &r->{c}, {size})) {wrong}",)
        case Bool():
            return (f"if (packed[{offset}] > 1) {wrong}", f"r->{c} = packed[{offset}] == 1;")
    return (f"dfrt_unpack(&r->{c}, packed + {offset}, {packed_size(type_)});",)


def _encode(c: str, type_: Type, offset: str) -> str:
    match type_:
        case Text(size):
            return f"memcpy(packed + {offset}, r->{c}.data, {size});"
        case Bool():
            return f"packed[{offset}] = r->{c} ? 1 : 0;"
    return f"dfrt_pack(packed + {offset}, &r->{c}, {packed_size(type_)});"
