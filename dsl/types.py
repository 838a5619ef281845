"""The types of the language: what a field can hold, and how one type becomes another."""

from __future__ import annotations

from dataclasses import dataclass

UNIT_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000,
           "min": 60_000_000_000, "h": 3_600_000_000_000, "d": 86_400_000_000_000}


@dataclass(frozen=True, slots=True)
class Int:
    bits: int
    signed: bool

    def __str__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.bits}"

    @property
    def low(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.bits - 1 if self.signed else self.bits)) - 1


@dataclass(frozen=True, slots=True)
class Float:
    bits: int

    def __str__(self) -> str:
        return f"f{self.bits}"


@dataclass(frozen=True, slots=True)
class Bool:
    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A point on the time axis: a signed 64-bit count of units."""

    unit: str

    def __str__(self) -> str:
        return f"timestamp<{self.unit}>"


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: a signed 64-bit count of units."""

    unit: str

    def __str__(self) -> str:
        return f"duration<{self.unit}>"


@dataclass(frozen=True, slots=True)
class Symbol:
    """An interned string: four bytes in a record, equal when the identities are."""

    def __str__(self) -> str:
        return "symbol"


@dataclass(frozen=True, slots=True)
class Text:
    """A string of at most `size` bytes of UTF-8, kept inside the record."""

    size: int

    def __str__(self) -> str:
        return f"text<{self.size}>"


@dataclass(frozen=True, slots=True)
class Array:
    element: Type
    size: int

    def __str__(self) -> str:
        return f"{self.element}[{self.size}]"


@dataclass(frozen=True, slots=True)
class Sequence:
    """What `flatmap` unrolls: any number of elements. It can't be stored in a field."""

    element: Type

    def __str__(self) -> str:
        return f"sequence of {self.element}"


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Record:
    """Fields in order. Two records fit each other when names and types of their fields are equal."""

    name: str
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return self.name

    def field(self, name: str) -> Field | None:
        return next((f for f in self.fields if f.name == name), None)

    def names_alternate(self) -> bool:
        """Whether a field says which alternate of an operator made the tuple."""
        field = self.field("alternate")
        return field is not None and field.type == SYMBOL

    def fits(self, other: Record) -> bool:
        return self.fields == other.fields


Type = Int | Float | Bool | Timestamp | Duration | Symbol | Text | Array | Sequence | Record

I64, U64, F64, BOOL, SYMBOL = Int(64, True), Int(64, False), Float(64), Bool(), Symbol()
SCALARS: dict[str, Type] = {
    **{f"i{bits}": Int(bits, True) for bits in (8, 16, 32, 64)},
    **{f"u{bits}": Int(bits, False) for bits in (8, 16, 32, 64)},
    "int": I64, "f32": Float(32), "f64": F64, "float": F64, "bool": BOOL, "symbol": SYMBOL,
}


def is_number(type_: Type) -> bool:
    return isinstance(type_, Int | Float)


def is_time(type_: Type) -> bool:
    return isinstance(type_, Timestamp | Duration)


def is_string(type_: Type) -> bool:
    return isinstance(type_, Symbol | Text)


def can_be_key(type_: Type) -> bool:
    """Floats are no keys: NaN is not equal to itself."""
    return isinstance(type_, Int | Bool | Timestamp | Duration | Symbol | Text)
