"""Arrays in rows and in columns: in a row an array is a tuple, in a file it is one column an element.

`v: f64[2]` is the columns `v[0]` and `v[1]`, `m: i8[2][2]` is `m[0][0]`, `m[0][1]`, `m[1][0]`, `m[1][1]`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl.types import Array, Field, Record, Type


def flat_record(record: Record) -> Record:
    """The record as columns of scalars."""
    if not has_arrays(record):
        return record
    return Record(record.name, tuple(one for field in record.fields for one in _columns(field)))


def has_arrays(record: Record) -> bool:
    return any(isinstance(field.type, Array) for field in record.fields)


def flatten(row: tuple, record: Record) -> tuple:
    """The values of a row, one a column."""
    if not has_arrays(record):
        return row
    return tuple(one for value, field in zip(row, record.fields, strict=True) for one in _scalars(value, field.type))


def nest(scalars: tuple, record: Record) -> tuple:
    """The row whose columns have these values."""
    if not has_arrays(record):
        return scalars
    following = iter(scalars)
    return tuple(_value(following, field.type) for field in record.fields)


def _columns(field: Field) -> list[Field]:
    if not isinstance(field.type, Array):
        return [field]
    elements = (Field(f"{field.name}[{i}]", field.type.element) for i in range(field.type.size))
    return [column for element in elements for column in _columns(element)]


def _scalars(value, type_: Type) -> list:
    if not isinstance(type_, Array):
        return [value]
    return [one for element in value for one in _scalars(element, type_.element)]


def _value(following: Iterator, type_: Type):
    if not isinstance(type_, Array):
        return next(following)
    return tuple(_value(following, type_.element) for _ in range(type_.size))
