"""The untyped tree, its small parts: names, literals, expressions, types, settings, connectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from .span import Span


@dataclass(frozen=True, slots=True)
class Ident:
    """A name where it stands: declared, or used outside an expression."""

    text: str
    span: Span = field(compare=False)

    def __str__(self) -> str:
        return self.text


# --- expressions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntLiteral:
    """A whole number; `10k` and `2M` are whole numbers too. `text` is how it was written."""

    value: int
    text: str = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    value: float
    text: str = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class BoolLiteral:
    value: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """`value` has its escapes resolved."""

    value: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with a unit: `200ms`, `300k/s`, `2GHz`, `64MiB`, `100MB/s`.

    `kind` is time, rate, frequency, size or bandwidth; `base` is the exact amount in nanoseconds, per
    second, hertz, bytes or bytes per second; `unit` is the unit as written.
    """

    kind: str
    base: Fraction
    unit: str = field(compare=False)
    text: str = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in an expression: a field, a parameter, a part of a state, a stream (before a dot)."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Member:
    """`object.field`."""

    object: Expr
    field: Ident
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """`object[index]`."""

    object: Expr
    index: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    function: Ident
    args: tuple[Expr, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """op: `-` or `not`."""

    op: str
    operand: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """op: + - * / % == != < <= > >= and or."""

    op: str
    left: Expr
    right: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    elements: tuple[Expr, ...]
    span: Span = field(compare=False)


Expr = (IntLiteral | FloatLiteral | BoolLiteral | StringLiteral | Measure | Name | Member | Index | Call
        | Unary | Binary | If | ArrayLiteral)


@dataclass(frozen=True, slots=True)
class Entry:
    """`name: value`, or the shorthand `name` (then `value` is the Name of the same spelling)."""

    name: Ident
    value: Expr
    shorthand: bool = field(compare=False)
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Construct:
    """`{ name: value, … }`: builds a record."""

    entries: tuple[Entry, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CFunction:
    """`c("file.c", "name")`; with a third text `name` takes panes, and `merge` their results."""

    path: StringLiteral
    name: StringLiteral
    span: Span = field(compare=False)
    merge: StringLiteral | None = None


# --- types, settings, connectors --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeRef:
    """`f64`, `timestamp<ms>` (argument "ms"), `text<32>` (argument 32), `f64[8]` (sizes (8,))."""

    name: Ident
    argument: str | int | None
    sizes: tuple[int, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """`name: type` in a record, a state, a list of ports (there the type names a record) or parameters."""

    name: Ident
    type: TypeRef
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Range:
    """`low..high` with an optional `step`."""

    low: Expr
    high: Expr
    step: Expr | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """`name: value`. A bare Name as the value is a word (`holt_winters`) or a parameter."""

    name: Ident
    value: Expr | Range
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Connector:
    """`csv("path")`, `generate(count: 1M, …)`."""

    kind: Ident
    path: Expr | None
    settings: tuple[Setting, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Auto:
    """`auto`, where a clause takes it in place of a value."""

    span: Span = field(compare=False)
