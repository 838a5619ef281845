"""Arrow in and out. The only file that imports pyarrow, and only when Arrow is met."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...dsl.types import Array, Symbol, Text
from .columns import BadData
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
        return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), column.type.list_size)
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
    import pyarrow as pa

    match field.type:
        case Symbol():
            codes, texts = rows.symbols(field.name)
            return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(texts, pa.string()))
        case Text():
            return _text(rows, field)
        case Array(_, size):
            flat = _plain(np.asarray(rows[field.name]).reshape(-1))  # the copy
            return pa.FixedSizeListArray.from_arrays(pa.array(flat), size)
    return pa.array(_plain(np.asarray(rows[field.name])))


def _text(rows: Rows, field):
    """An Arrow string array holds at most 2 GiB, so a long column is several of them."""
    import pyarrow as pa

    column, most = np.asarray(rows[field.name]), (2**31 - 1) // field.type.size
    parts = [join(rows.library, column[at:at + most]) for at in range(0, len(column), most)]
    return pa.chunked_array([pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))
                             for offsets, data in parts], pa.string())


def _plain(column: np.ndarray) -> np.ndarray:
    """Minutes, hours and days, which Arrow has no type for, as whole numbers."""
    if column.dtype.kind in "mM" and np.datetime_data(column.dtype)[0] not in ("s", "ms", "us", "ns"):
        column = column.view("i8")
    return column
