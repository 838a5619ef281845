"""How the types of the language look in C."""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl.types import UNIT_NS, Array, Bool, Duration, Float, Int, Record, Symbol, Text, Timestamp, Type
from .names import identifier


def c_type(type_: Type) -> str:
    """The type of a variable or field; a text is the struct that records hold, an array has `declare` only."""
    match type_:
        case Int(bits, signed):
            return f"{'' if signed else 'u'}int{bits}_t"
        case Float(bits):
            return "double" if bits == 64 else "float"
        case Bool():
            return "bool"
        case Timestamp() | Duration():
            return "int64_t"
        case Symbol():
            return "dfrt_symbol"
        case Text(size):
            return f"struct {{ uint32_t size; char data[{size}]; }}"
    raise TypeError(f"{type_} has no C type")


def declare(type_: Type, name: str) -> str:
    """The declaration of a variable or field."""
    while isinstance(type_, Array):
        type_, name = type_.element, f"{name}[{type_.size}]"
    return f"{c_type(type_)} {name}"


def elements_of(type_: Type, place: str) -> tuple[tuple[str, Type], ...]:
    """The scalars of a field with their places: `v[0]`, `v[1]`, … of an array, else the field itself."""
    if not isinstance(type_, Array):
        return ((place, type_),)
    return tuple(found for i in range(type_.size) for found in elements_of(type_.element, f"{place}[{i}]"))


def scalar_of(type_: Type) -> tuple[Type, int]:
    """The type of a field's scalars, and how many there are."""
    count = 1
    while isinstance(type_, Array):
        type_, count = type_.element, count * type_.size
    return type_, count


def kind(type_: Type) -> str:
    """The dfrt_kind of a field."""
    match type_:
        case Int() | Float():
            return f"DFRT_{str(type_).upper()}"
        case Bool():
            return "DFRT_BOOL"
        case Timestamp():
            return "DFRT_TIMESTAMP"
        case Duration():
            return "DFRT_DURATION"
        case Symbol():
            return "DFRT_SYMBOL"
        case Text():
            return "DFRT_TEXT"
    raise TypeError(f"{type_} has no kind")


def packed_size(type_: Type) -> int:
    match type_:
        case Int(bits) | Float(bits):
            return bits // 8
        case Bool():
            return 1
        case Symbol():
            return 4
        case Text(size):
            return size
    return 8


@dataclass(frozen=True)
class Member:
    """A scalar of a struct that is saved with it, or, with an `offset`, of an element of an array."""

    place: str
    kind: str
    capacity: int
    offset: int | None = None


def members_of(type_: Type, place: str) -> tuple[Member, ...]:
    return tuple(Member(where, kind(scalar), capacity(scalar)) for where, scalar in elements_of(type_, place))


def element_members(type_: Type) -> tuple[Member, ...]:
    """Of an array whose elements have this type."""
    scalars = elements_of(type_, "")
    return tuple(Member(where, kind(scalar), capacity(scalar), i * _c_size(scalar))
                 for i, (where, scalar) in enumerate(scalars))


def _c_size(type_: Type) -> int:
    """sizeof; a text is its length and its bytes."""
    return (4 + type_.size + 3) // 4 * 4 if isinstance(type_, Text) else packed_size(type_)


def type_bytes(type_: Type) -> int:
    """sizeof."""
    scalar, count = scalar_of(type_)
    return count * _c_size(scalar)


def record_bytes(record: Record) -> int:
    """sizeof, but for what the alignment adds."""
    return sum(type_bytes(field.type) for field in record.fields)


def unit_ns(type_: Type) -> int:
    return UNIT_NS[type_.unit] if isinstance(type_, Timestamp | Duration) else 0


def capacity(type_: Type) -> int:
    return type_.size if isinstance(type_, Text) else 0


def fields_of(record: Record) -> tuple[tuple[str, Type], ...]:
    return tuple((identifier(field.name), field.type) for field in record.fields)
