"""Records as numpy sees them: the C struct, field by field, without copying."""

from __future__ import annotations

import numpy as np

from ...dsl.types import Array, Bool, Duration, Field, Float, Int, Symbol, Text, Timestamp, Type
from ..artifacts.interface import Port

_NUMPY_UNITS = {"ns": "ns", "us": "us", "ms": "ms", "s": "s", "min": "m", "h": "h", "d": "D"}
_SIZE = " size"  # no field of the language can have a blank in its name
TEXT = "text"  # an element of an array of texts is a struct; its bytes come behind its size


def plain_dtype(type_: Type) -> np.dtype:
    """What a column of this type looks like; symbols are numbers, texts their bytes padded with zeros."""
    match type_:
        case Int(bits, signed):
            return np.dtype(f"{'i' if signed else 'u'}{bits // 8}")
        case Float(bits):
            return np.dtype(f"f{bits // 8}")
        case Bool():
            return np.dtype("?")
        case Timestamp(unit):
            return np.dtype(f"M8[{_NUMPY_UNITS[unit]}]")
        case Duration(unit):
            return np.dtype(f"m8[{_NUMPY_UNITS[unit]}]")
        case Symbol():
            return np.dtype("u4")
        case Text(size):
            return np.dtype(f"S{size}")
    raise TypeError(f"{type_} has no dtype")


def element_of(type_: Type) -> Type:
    """What an array is made of in the end; any other type itself."""
    while isinstance(type_, Array):
        type_ = type_.element
    return type_


def shape_of(type_: Type) -> tuple[int, ...]:
    """The sizes of an array, outermost first; none of any other type."""
    return (type_.size, *shape_of(type_.element)) if isinstance(type_, Array) else ()


def record_dtype(port: Port, ffi) -> np.dtype:
    """The fields of the record where the C struct, which cffi knows, has them."""
    return _dtype(_values(port, ffi, sizes=False), port, ffi)


def filling_dtype(port: Port, ffi) -> np.dtype:
    """The same place, with the sizes of texts, which whoever fills a record must write."""
    sizes = [(field.name + _SIZE, np.dtype("u4"), offset) for field, offset in _placed(port, ffi)
             if isinstance(field.type, Text)]
    return _dtype(_values(port, ffi, sizes=True) + sizes, port, ffi)


def sizes_of(array: np.ndarray, field: str) -> np.ndarray:
    """The sizes of a text field, or of the texts in an array, in an array with the filling dtype."""
    return array[field][_SIZE] if array[field].dtype.names else array[field + _SIZE]


def bytes_of(column: np.ndarray) -> np.ndarray:
    """The bytes of a column of texts, or of texts in arrays, which are structs there."""
    return column[TEXT] if column.dtype.names in ((TEXT,), (TEXT, _SIZE)) else column


def _placed(port: Port, ffi) -> list[tuple[Field, int]]:
    """Struct and record have their fields in the same order; a name in C may differ."""
    parts = ffi.typeof(port.struct).fields
    return [(field, part.offset) for field, (_, part) in zip(port.record.fields, parts, strict=True)]


def _values(port: Port, ffi, sizes: bool) -> list[tuple[str, np.dtype, int]]:
    """The bytes of a text come behind its size."""
    return [(field.name, _field_dtype(field.type, sizes), offset + 4 if isinstance(field.type, Text) else offset)
            for field, offset in _placed(port, ffi)]


def _field_dtype(type_: Type, sizes: bool) -> np.dtype:
    """With `sizes` the structs of texts in an array show theirs."""
    element = element_of(type_)
    if not isinstance(type_, Array):
        return plain_dtype(type_)
    if not isinstance(element, Text):
        return np.dtype((plain_dtype(element), shape_of(type_)))
    shown = 2 if sizes else 1
    struct = {"names": (TEXT, _SIZE)[:shown], "formats": (plain_dtype(element), "u4")[:shown],
              "offsets": (4, 0)[:shown], "itemsize": 4 + (element.size + 3) // 4 * 4}
    return np.dtype((np.dtype(struct), shape_of(type_)))


def _dtype(fields: list[tuple[str, np.dtype, int]], port: Port, ffi) -> np.dtype:
    names, formats, offsets = zip(*fields, strict=True)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": ffi.sizeof(port.struct)})
