"""Arrow in and out. The only file that imports pyarrow, and only when Arrow is met."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from ...dsl.types import Symbol, Text
from .columns import BadData
from .layout import element_of, shape_of
from .rows import Rows
from .strings import ArrowBits, ArrowStrings, Symbols, join


def is_arrow(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "schema")


def batches(data: object) -> Iterator[dict[str, object]]:
    """A table, a record batch or a reader of them, as mappings of columns."""
    parts = data.to_batches() if hasattr(data, "to_batches") else data if hasattr(data, "read_next_batch") else [data]
    for part in parts:
        yield {name: _column(name, part.column(at)) for at, name in enumerate(part.schema.names)}


def _column(name: str, column) -> object:
    import pyarrow as pa

    if column.null_count:
        raise BadData(f"field `{name}`: expected no nulls, got {column.null_count}")
    if pa.types.is_dictionary(column.type):
        return Symbols(column.indices.to_numpy(zero_copy_only=False), _column(name, column.dictionary))
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        return _strings(column, 4)
    if pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type):
        return _strings(column, 8)
    if pa.types.is_boolean(column.type):
        return ArrowBits(_address(column.buffers()[1]), column.offset, len(column), column)
    if pa.types.is_fixed_size_list(column.type):
        return _elements(name, column)
    return column.to_numpy(zero_copy_only=False)


def _elements(name: str, column) -> np.ndarray:
    """Lists of one size, also of such lists, as an array of so many dimensions."""
    import pyarrow as pa

    if column.null_count:
        raise BadData(f"field `{name}`: expected no nulls, got {column.null_count}")
    if pa.types.is_fixed_size_list(column.type):
        inner = _elements(name, column.flatten())
        return inner.reshape(len(column), column.type.list_size, *inner.shape[1:])
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.to_numpy(zero_copy_only=False)


def _strings(column, offset_size: int) -> ArrowStrings:
    _, offsets, data = column.buffers()
    first = _address(offsets) + column.offset * offset_size
    return ArrowStrings(first, offset_size, _address(data), len(column), column)


def _address(buffer) -> int:
    return buffer.address if buffer is not None else 0


def to_table(rows: Rows):
    import pyarrow as pa

    return pa.table({field.name: _array(rows, field) for field in rows.record.fields})


def _array(rows: Rows, field):
    """A column; of a field that is an array, its elements one after the other in lists of its sizes."""
    import pyarrow as pa

    match element_of(field.type):
        case Symbol():
            codes, texts = rows.symbols(field.name)
            flat = pa.DictionaryArray.from_arrays(pa.array(codes.reshape(-1)), pa.array(texts, pa.string()))
        case Text(size):
            return _text(rows, field, size)
        case _:
            flat = pa.array(_plain(rows.column(field.name).reshape(-1)))  # the copy
    return _listed(flat, field)


def _listed(flat, field):
    import pyarrow as pa

    for size in reversed(shape_of(field.type)):
        flat = pa.FixedSizeListArray.from_arrays(flat, size)
    return flat


def _text(rows: Rows, field, size: int):
    """An Arrow string array holds at most 2 GiB, so a long column is several of them."""
    import pyarrow as pa

    column, most = rows.column(field.name), max((2**31 - 1) // (size * prod(shape_of(field.type))), 1)
    parts = [join(rows.library, column[at:at + most].reshape(-1)) for at in range(0, max(len(column), 1), most)]
    return pa.chunked_array([_listed(_string_array(*part), field) for part in parts])


def _string_array(offsets: np.ndarray, data: np.ndarray):
    import pyarrow as pa

    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def _plain(column: np.ndarray) -> np.ndarray:
    """Minutes, hours and days, which Arrow has no type for, as whole numbers."""
    if column.dtype.kind in "mM" and np.datetime_data(column.dtype)[0] not in ("s", "ms", "us", "ns"):
        column = column.view("i8")
    return column
