"""Records of a program as columns of Parquet.

Timestamps and durations stay what they are in the language, counts of their unit: Spark's own timestamps end at
microseconds. Spark reads unsigned numbers as the next larger signed type, and u64 as decimal(20).
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from dfc.compiler.interpret.arrays import flat_record
from dfc.dsl import typed
from dfc.dsl.types import UNIT_NS, Bool, Float, Int, Record, Text, Type, is_time

FILE, ROW = "_file", "_row"  # where a row came from: the file, and the line (of Parquet: the row) in it
HOUR_NS = 3600 * 10 ** 9


def arrow_type(type_: Type) -> pa.DataType:
    match type_:
        case Int(bits=bits, signed=signed):
            return getattr(pa, f"{'' if signed else 'u'}int{bits}")()
        case Float(bits=bits):
            return pa.float64() if bits == 64 else pa.float32()
        case Bool():
            return pa.bool_()
    return pa.int64() if is_time(type_) else pa.string()


@dataclass(frozen=True, slots=True)
class SourceColumns:
    """A source as it lies in files: its columns, which of them is the event time, and how long a unit of it is."""

    name: str
    record: Record  # of scalars
    time: str | None
    unit_ns: int
    separator: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.record.fields)

    def schema(self) -> pa.Schema:
        return pa.schema([(field.name, arrow_type(field.type)) for field in self.record.fields])

    def described(self) -> dict[str, object]:
        return {"columns": {field.name: str(field.type) for field in self.record.fields}, "time": self.time}

    @property
    def longest(self) -> dict[str, int]:
        """Bytes that a text column may have."""
        return {field.name: field.type.size for field in self.record.fields if isinstance(field.type, Text)}


def sources_of(program: typed.Program) -> dict[str, SourceColumns]:
    return {step.name: _columns(step) for step in program.steps if isinstance(step.body, typed.Source)}


def _columns(step: typed.Step) -> SourceColumns:
    body = step.body
    time = None if body.processing_time else body.event_time
    unit = UNIT_NS[step.record.field(time).type.unit] if time else 1
    return SourceColumns(step.name, flat_record(step.record), time, unit,
                         str(dict(body.connector.settings).get("separator", ",")))
