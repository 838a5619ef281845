"""Arrow in and out. The only file that imports pyarrow, and only when Arrow is met."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...dsl.types import Array, Symbol, Text
from .columns import BadData, Symbols
from .rows import Rows


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
        return Symbols(column.indices.to_numpy(zero_copy_only=False), column.dictionary.to_pylist())
    if pa.types.is_fixed_size_list(column.type):
        return column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), column.type.list_size)
    return column.to_numpy(zero_copy_only=False)


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
            return pa.array(rows.text(field.name), pa.string())
        case Array(_, size):
            flat = _plain(np.asarray(rows[field.name]).reshape(-1))
            return pa.FixedSizeListArray.from_arrays(pa.array(flat), size)
    return pa.array(_plain(np.asarray(rows[field.name])))


def _plain(column: np.ndarray) -> np.ndarray:
    """Contiguous, as Arrow wants it; minutes, hours and days, which Arrow has no type for, as whole numbers."""
    if column.dtype.kind in "mM" and np.datetime_data(column.dtype)[0] not in ("s", "ms", "us", "ns"):
        column = column.view("i8")
    return np.ascontiguousarray(column)
