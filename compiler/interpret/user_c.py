"""Calls what is written in C, through cffi: rows become C structs, structs become rows.

The one place that knows how such functions are called. An alternate is `bool name(const WINDOW *window, RESULT
*result)` for windows, where WINDOW has whole tuples, or columns and then the key; `bool name(const RECORD *tuple,
RESULT *result)` for single tuples; false says that there is no result, and with ports RESULT says which of them have
one. A function over panes is `bool name(const WINDOW *pane, dfrt_bytes *result)`, and `bool merge(const PANES *panes,
RESULT *result)` with what it gave. An update is `void name(STATE *state, const RECORD *tuple)`, a function `RESULT
name(parameters)`, an aggregate the three functions of `Folded` in program_aggregates.py. Fields are matched by
position: a field's name in C may differ from that in the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...dsl.types import Array, Bool, Float, Record, Symbol, Text, Type
from .numbers import cut_text

_RUNTIME = """
typedef uint32_t dfrt_symbol;
typedef struct dfrt_slice { const char *data; size_t size; } dfrt_slice;
int dfrt_symbol_intern(const char *text, size_t size, dfrt_symbol *out);
dfrt_slice dfrt_symbol_text(dfrt_symbol symbol);
typedef struct dfrt_bytes { unsigned char *data; size_t size, capacity; } dfrt_bytes;
typedef struct dfrt_pane { const void *data; size_t size; } dfrt_pane;
void dfrt_bytes_free(dfrt_bytes *bytes);
"""
_ALIGNMENT = 16


class Held(NamedTuple):
    """A struct of C, and what owns the memory it points to."""

    place: object
    owners: list


class UserC:
    """`library` holds the functions and the runtime's table of symbols; `declarations` are their prototypes and
    structs as cffi takes them."""

    def __init__(self, library: str | Path, declarations: str):
        from cffi import FFI  # only programs with C need it

        self.ffi = FFI()
        self.ffi.cdef(_RUNTIME + declarations)
        self.library = self.ffi.dlopen(str(library))
        self.symbols: dict[str, int] = {}

    # --- alternates ---------------------------------------------------------------------------------

    def call_tuple(self, function: str, row: tuple, given: Record, result: Record | Mapping[str, Record]):
        call, taken, made = self._function(function)
        place = self.ffi.new(f"{taken.cname} *")
        self._fill(place, row, given)
        return self._answer(call, place, made, result)

    def call_window(self, function: str, window: Held, result: Record | Mapping[str, Record]):
        call, _, made = self._function(function)
        return self._answer(call, window.place, made, result)

    def call_panes(self, function: str, merge: str, window: Held, bounds: tuple[int, int], key: tuple[tuple, Record],
                   result: Record | Mapping[str, Record]):
        """The window is its only pane."""
        (pane, *_), (call, taken, made) = self._function(function), self._function(merge)
        given = self.ffi.new("dfrt_bytes *")
        try:
            if not pane(window.place, given):
                return None
            one = self.ffi.new("dfrt_pane *", (given.data, given.size))
            panes = self.ffi.new(f"{taken.cname} *")
            panes.panes, panes.count, (panes.start, panes.end) = one, 1, bounds
            self._fill_key(panes, key)
            return self._answer(call, panes, made, result)
        finally:
            self.library.dfrt_bytes_free(given)

    def window(self, function: str, rows: Sequence[tuple], times: Sequence[int], bounds: tuple[int, int],
               given: Record) -> Held:
        """The struct that the function takes, with whole tuples."""
        _, taken, _ = self._function(function)
        record = dict(taken.fields)["tuples"].type.item
        tuples, at = self.ffi.new(f"{record.cname}[]", len(rows)), self.ffi.new("int64_t[]", list(times))
        for number, row in enumerate(rows):
            self._fill(tuples + number, row, given)
        return Held(self.ffi.new(f"{taken.cname} *", (tuples, at, len(rows), *bounds)), [tuples, at])

    def columns(self, function: str, columns: Sequence[tuple[Type, Sequence]], times: Sequence[int],
                bounds: tuple[int, int], key: tuple[tuple, Record]) -> Held:
        """The struct has the columns, times where the stream has them, a count, the bounds, and the key."""
        _, taken, _ = self._function(function)
        window, kept = self.ffi.new(f"{taken.cname} *"), []
        fields = taken.fields
        for (name, field), (type_, values) in zip(fields, columns, strict=False):
            setattr(window, name, self._array(field.type, values, type_, kept))
        if "times" in {name for name, _ in fields[len(columns):]}:
            kept.append(self.ffi.new("int64_t[]", list(times)))
            window.times = kept[-1]
        window.count, (window.start, window.end) = len(times), bounds
        self._fill_key(window, key)
        return Held(window, kept)

    def _fill_key(self, place, key: tuple[tuple, Record]) -> None:
        values, parts = key
        if values:
            self._fill(self.ffi.addressof(place[0], "key"), values, parts)

    def _array(self, pointer, values: Sequence, type_: Type, kept: list):
        """The values in C, as what `pointer` points to; `kept` holds their memory."""
        place, owner = self.zeroed(len(values) * self.ffi.sizeof(pointer.item))
        kept.append(owner)
        array = self.ffi.cast(pointer, place)
        for number, value in enumerate(values):
            self._put(array + number, value, type_)
        return array

    def _function(self, name: str):
        """The function, the struct it takes and the struct it fills."""
        call = getattr(self.library, name)
        taken, made = self.ffi.typeof(call).args
        return call, taken.item, made.item

    def _answer(self, call, taken, made, result: Record | Mapping[str, Record]):
        """The row, or by port the row or None; None when there is no result at all."""
        place = self.ffi.new(f"{made.cname} *")
        if not call(taken, place):
            return None
        return self._row(place, result) if isinstance(result, Record) else self._ports(place, result)

    def _ports(self, place, ports: Mapping[str, Record]) -> dict[str, tuple | None]:
        """For each port the struct has a bool and a record, in this order."""
        names = [name for name, _ in self.ffi.typeof(place).item.fields]
        return {port: self._row(self.ffi.addressof(place[0], names[2 * i + 1]), record)
                if getattr(place, names[2 * i]) else None for i, (port, record) in enumerate(ports.items())}

    # --- state, functions, aggregates ---------------------------------------------------------------

    def call_update(self, function: str, state: tuple, parts: Record, row: tuple, given: Record) -> tuple:
        """The state after the tuple."""
        call, now, taken = self._function(function)
        place, tuple_ = self.ffi.new(f"{now.cname} *"), self.ffi.new(f"{taken.cname} *")
        self._fill(place, state, parts)
        self._fill(tuple_, row, given)
        call(place, tuple_)
        return self._row(place, parts)

    def call_function(self, function: str, args: Sequence, result: Type | None, *before):
        """`before` are pointers that go before the arguments. A result of None is void."""
        call = getattr(self.library, function)
        types = self.ffi.typeof(call).args[len(before):]
        kept: list = []
        passed = [self._argument(arg, type_, kept) for arg, type_ in zip(args, types, strict=True)]
        answer = call(*before, *passed)
        return None if result is None else self._value(answer, result)

    def _argument(self, value, type_, kept: list):
        """What C declares says how a string is passed; `kept` holds its bytes during the call."""
        if isinstance(value, tuple):
            return [self._argument(element, type_.item, kept) for element in value]
        if not isinstance(value, str):
            return value
        if type_.kind != "struct":
            return self._intern(value)
        kept.append(self.ffi.new("char[]", value.encode()))
        return self.ffi.new("dfrt_slice *", (kept[-1], len(value.encode())))[0]

    def zeroed(self, size: int):
        """Bytes aligned for anything, and what owns them."""
        owner = self.ffi.new("char[]", size + _ALIGNMENT)
        return owner + -int(self.ffi.cast("uintptr_t", owner)) % _ALIGNMENT, owner

    # --- values -------------------------------------------------------------------------------------

    def _fill(self, place, row: tuple, record: Record) -> None:
        names = self.ffi.typeof(place).item.fields
        for (name, _), column, value in zip(names, record.fields, row, strict=True):
            self._put(self.ffi.addressof(place[0], name), value, column.type)

    def _put(self, place, value, type_: Type) -> None:
        if isinstance(type_, Array):
            for i, element in enumerate(value):
                self._put(self.ffi.addressof(place[0], i), element, type_.element)
        elif isinstance(type_, Text):
            text = value.encode()
            place.size = len(text)
            self.ffi.memmove(place.data, text, len(text))
        else:
            place[0] = self._intern(value) if isinstance(type_, Symbol) else value

    def _row(self, place, record: Record) -> tuple:
        names = self.ffi.typeof(place).item.fields
        return tuple(self._value(getattr(place, name), column.type)
                     for (name, _), column in zip(names, record.fields, strict=True))

    def _value(self, value, type_: Type):
        if isinstance(type_, Array):
            return tuple(self._value(value[i], type_.element) for i in range(type_.size))
        if isinstance(type_, Text):
            held = self.ffi.typeof(value.data).kind == "array"  # in a record; a slice only points
            size = min(value.size, type_.size) if held else value.size
            return cut_text(self._text(value.data, size), type_.size)
        if isinstance(type_, Symbol):
            slice_ = self.library.dfrt_symbol_text(value)
            return self._text(slice_.data, slice_.size)
        return bool(value) if isinstance(type_, Bool) else float(value) if isinstance(type_, Float) else int(value)

    def _text(self, data, size: int) -> str:
        return bytes(self.ffi.buffer(data, size)).decode(errors="replace")

    def _intern(self, text: str) -> int:
        if text not in self.symbols:
            out, data = self.ffi.new("dfrt_symbol *"), text.encode()
            if self.library.dfrt_symbol_intern(data, len(data), out) != 0:
                raise MemoryError("no memory for symbols")
            self.symbols[text] = out[0]
        return self.symbols[text]
