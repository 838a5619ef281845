"""Symbols and texts on their way into records and out of them. The C of the program's library takes each value from
where it lies (numpy or Arrow) and stores it where it belongs, so that there is no column in between.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...dsl.types import Symbol, Text
from .layout import bytes_of, sizes_of
from .library import Library

_BYTES, _UCS4, _OFFSETS = 0, 1, {4: 2, 8: 3}  # dfrt_strings_form


class Symbols(NamedTuple):
    """A dictionary-encoded column: text number i is categories[codes[i]]."""

    codes: np.ndarray
    categories: object


@dataclass(frozen=True)
class ArrowStrings:
    """An Arrow array of strings by the addresses of its buffers, and who owns them."""

    offsets: int
    offset_size: int
    data: int
    count: int
    owner: object = field(compare=False, repr=False)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> bytes:
        return self.owner[at].as_buffer().to_pybytes()


@dataclass(frozen=True)
class ArrowBits:
    """An Arrow array of bools, which are bits there."""

    bits: int
    first: int
    count: int
    owner: object = field(compare=False, repr=False)

    def __len__(self) -> int:
        return self.count


class BadString(Exception):
    """The value that does not fit, and what was expected instead."""


@dataclass(frozen=True)
class Place:
    """Where the strings of a field go: numbers, or bytes with their sizes before them."""

    values: np.ndarray
    sizes: np.ndarray | None

    @staticmethod
    def of(records: np.ndarray, name: str, type_: Symbol | Text, index: tuple[int, ...] = ()) -> Place:
        """`index` says which element of a field that is an array."""
        every = (slice(None), *index)
        sizes = sizes_of(records, name)[every] if isinstance(type_, Text) else None
        return Place(bytes_of(records[name])[every], sizes)

    def in_c(self):
        first = self.values if self.sizes is None else self.sizes
        return first.ctypes.data, first.strides[0]


# --- in ------------------------------------------------------------------------------------------------


def put_strings(library: Library, place: Place, type_: Symbol | Text, column: object) -> None:
    """Fills the place from a column of strings. Raises BadString."""
    given = _in_c(library, column)
    if given is None:
        _put_objects(library, place, type_, column)
        return
    to = library.ffi.new("dfrt_place *", _place(library, place))[0]
    done = library.columns.put_symbols(to, given, len(column)) if isinstance(type_, Symbol) \
        else library.columns.put_texts(to, type_.size, given, len(column))
    if done < len(column):
        checked_text(type_, column[int(done)])
        raise MemoryError("no memory for a symbol")


def put_coded(library: Library, place: Place, table: np.ndarray, codes: np.ndarray) -> bool:
    """Fills the place with entries of a table. False: a code that has none."""
    ffi = library.ffi
    given = ffi.new("dfrt_codes *", {"first": ffi.cast("void *", codes.ctypes.data), "stride": codes.strides[0],
                                     "size": codes.itemsize, "is_signed": codes.dtype.kind == "i"})
    to = ffi.new("dfrt_place *", _place(library, place))[0]
    entries = ffi.cast("void *", table.ctypes.data)
    return library.columns.put_entries(to, table.itemsize, entries, len(table), given, len(codes)) == len(codes)


def put_bits(library: Library, values: np.ndarray, column: ArrowBits) -> None:
    to = library.ffi.new("dfrt_place *", _place(library, Place(values, None)))[0]
    library.columns.put_bits(to, library.ffi.cast("uint8_t *", column.bits), column.first, len(column))


def table_of(library: Library, type_: Symbol | Text, categories: object) -> np.ndarray:
    """The categories as they stand in a field: numbers of symbols, or texts with their sizes."""
    column = categories if isinstance(categories, np.ndarray | ArrowStrings) else list(categories)
    if isinstance(type_, Symbol):
        table = np.zeros(len(column), np.uint32)
        put_strings(library, Place(table, None), type_, column)
        return table
    table = np.zeros(len(column), [("size", "u4"), ("value", f"S{type_.size}")])
    put_strings(library, Place(table["value"], table["size"]), type_, column)
    return table


def checked_text(type_: Symbol | Text, text: object) -> bytes:
    """One text as UTF-8. Raises BadString when it can't stand in a field of this type."""
    try:
        encoded = bytes(text) if isinstance(text, bytes) else text.encode()
        encoded.decode()
    except UnicodeError:
        raise BadString("UTF-8", repr(text)) from None
    except AttributeError:
        raise BadString("a text", repr(text)) from None
    if isinstance(type_, Text) and len(encoded) > type_.size:
        raise BadString(f"at most {type_.size} bytes of UTF-8", f"{len(encoded)} bytes")
    return encoded


def _in_c(library: Library, column: object):
    """The column as C reads it, or None when its strings are objects of Python."""
    ffi = library.ffi
    if isinstance(column, ArrowStrings):
        return ffi.new("dfrt_strings *", {"form": _OFFSETS[column.offset_size], "data": ffi.cast("void *", column.data),
                                          "offsets": ffi.cast("void *", column.offsets)})
    if isinstance(column, np.ndarray) and column.dtype.kind in "US" and column.dtype.isnative:
        wide = column.dtype.kind == "U"
        return ffi.new("dfrt_strings *", {"form": _UCS4 if wide else _BYTES,
                                          "data": ffi.cast("void *", column.ctypes.data),
                                          "width": column.itemsize // 4 if wide else column.itemsize,
                                          "stride": column.strides[0]})
    return None


def _put_objects(library: Library, place: Place, type_: Symbol | Text, texts: Iterable[object]) -> None:
    if isinstance(type_, Symbol):  # equal ones are encoded and looked up once
        room, numbers = memoryview(place.values), {}
        for at, text in enumerate(texts):
            number = numbers.get(text) if isinstance(text, str | bytes) else None
            if number is None:
                number = numbers[text] = library.intern(checked_text(type_, text))
            room[at] = number
        return
    for at, text in enumerate(texts):
        place.values[at] = encoded = checked_text(type_, text)
        place.sizes[at] = len(encoded)


def _place(library: Library, place: Place) -> dict:
    address, stride = place.in_c()
    return {"first": library.ffi.cast("void *", address), "stride": stride}


# --- out -----------------------------------------------------------------------------------------------


def encode(library: Library, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A column of symbols as codes, and the symbols that the codes stand for."""
    ffi, count = library.ffi, library.symbol_count()
    codes, numbers = np.empty(len(column), np.int32), np.zeros(count, np.uint32)
    found = np.empty(min(len(column), count), np.uint32)
    place = ffi.new("dfrt_place *", _place(library, Place(column, None)))[0]
    different = library.columns.get_codes(place, len(column), ffi.cast("int32_t *", codes.ctypes.data),
                                          ffi.cast("uint32_t *", numbers.ctypes.data),
                                          ffi.cast("dfrt_symbol *", found.ctypes.data))
    return codes, found[:different]


def join(library: Library, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A column of fixed width as Arrow has strings: offsets, and all bytes."""
    ffi, given = library.ffi, _in_c(library, column)
    offsets = np.empty(len(column) + 1, np.int32)
    into = ffi.cast("int32_t *", offsets.ctypes.data)
    library.columns.get_texts(given, len(column), into, ffi.NULL)
    data = np.empty(int(offsets[-1]), np.uint8)
    library.columns.get_texts(given, len(column), into, ffi.cast("char *", data.ctypes.data))
    return offsets, data


def interned(library: Library, texts: Iterable[object]) -> np.ndarray:
    """The numbers of these texts. Raises BadString."""
    return np.array([library.intern(checked_text(Symbol(), text)) for text in texts], dtype=np.uint32)
