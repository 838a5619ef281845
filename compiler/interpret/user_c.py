"""Calls alternates that are written in C, through cffi: rows become C structs, structs become rows.

The one place that knows how such a function is called: `void name(const IN *tuples, size_t count, OUT *result)`
with the window's tuples by event time, ties by arrival.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...dsl.types import Bool, Record, Symbol, Text

_RUNTIME = """
typedef struct dfrt_slice { const char *data; size_t size; } dfrt_slice;
int dfrt_symbol_intern(const char *text, size_t size, uint32_t *out);
dfrt_slice dfrt_symbol_text(uint32_t symbol);
"""


class UserC:
    """`library` holds the functions and, where records have symbols, the runtime's table of them;
    `declarations` are their prototypes and structs as cffi takes them, `structs` the struct of a record by
    the record's name."""

    def __init__(self, library: str | Path, declarations: str, structs: Mapping[str, str]):
        from cffi import FFI  # only programs with C need it

        self.ffi, self.structs = FFI(), structs
        self.ffi.cdef(_RUNTIME + declarations)
        self.library = self.ffi.dlopen(str(library))

    def call(self, function: str, rows: Sequence[tuple], record: Record, result: Record) -> tuple:
        tuples = self.ffi.new(f"{self.structs[record.name]}[]", len(rows))
        for place, row in zip(tuples, rows, strict=True):
            self._fill(place, row, record)
        answer = self.ffi.new(f"{self.structs[result.name]} *")
        getattr(self.library, function)(tuples, len(rows), answer)
        return self._row(answer, result)

    def _fill(self, place, row: tuple, record: Record) -> None:
        for column, value in zip(record.fields, row, strict=True):
            if isinstance(column.type, Text):
                text, field = value.encode(), getattr(place, column.name)
                field.size = len(text)
                self.ffi.memmove(field.data, text, len(text))
            elif isinstance(column.type, Symbol):
                setattr(place, column.name, self._intern(value))
            else:
                setattr(place, column.name, value)

    def _row(self, place, record: Record) -> tuple:
        values = []
        for column in record.fields:
            value = getattr(place, column.name)
            if isinstance(column.type, Text):
                value = bytes(self.ffi.buffer(value.data, value.size)).decode()
            elif isinstance(column.type, Symbol):
                text = self.library.dfrt_symbol_text(value)
                value = bytes(self.ffi.buffer(text.data, text.size)).decode()
            values.append(bool(value) if isinstance(column.type, Bool) else value)
        return tuple(values)

    def _intern(self, text: str) -> int:
        out, data = self.ffi.new("uint32_t *"), text.encode()
        if self.library.dfrt_symbol_intern(data, len(data), out) != 0:
            raise MemoryError("no memory for symbols")
        return out[0]
