"""Results: a numpy array over the memory that the program wrote, which knows the texts of its symbols."""

from __future__ import annotations

from types import UnionType

import numpy as np

from ...dsl.types import Record, Symbol, Text, Type
from .layout import bytes_of, element_of, plain_dtype
from .library import Library
from .strings import encode


class Rows(np.ndarray):
    """A structured array. Fields of type symbol are numbers; `text(field)` gives their texts, `symbols(field)` codes
    and categories."""

    library: Library | None = None
    record: Record | None = None

    def __array_finalize__(self, base):
        self.library = getattr(base, "library", None)
        self.record = getattr(base, "record", None)

    def text(self, field: str) -> np.ndarray:
        """The texts of a symbol or text field, as an array of str."""
        if isinstance(self._element(field, Symbol | Text, "symbol or text"), Symbol):
            codes, categories = self.symbols(field)
            return categories[codes]
        column = self.column(field)
        texts = np.empty(column.size, dtype=object)
        texts[:] = [one.decode() for one in column.reshape(-1).tolist()]
        return texts.reshape(column.shape)

    def symbols(self, field: str) -> tuple[np.ndarray, np.ndarray]:
        """A symbol field as codes and the categories that occur, in the order of their first appearance."""
        self._element(field, Symbol, "symbol")
        column = self.column(field)
        if column.size and column.max() >= self.library.symbol_count():
            raise ValueError(f"`{field}`: {column.max()} is the number of no symbol")
        codes, numbers = encode(self.library, column if column.ndim == 1 else column.reshape(-1))
        return codes.reshape(column.shape), self.library.texts(numbers.tolist())

    def column(self, field: str) -> np.ndarray:
        """A field as a plain array: numbers of symbols, the bytes of texts."""
        return bytes_of(np.asarray(self[field]))

    def to_arrow(self):
        """A pyarrow table; symbols become dictionary-encoded columns."""
        from .arrow import to_table

        return to_table(self)

    def _element(self, field: str, wanted: UnionType | type, words: str) -> Type:
        """The type of a field, or of its elements; numbers that are no symbols would be read as such."""
        known = self.record.field(field) if self.record else None
        element = element_of(known.type) if known else None
        if not isinstance(element, wanted) or self.column(field).dtype != plain_dtype(element):
            raise TypeError(f"`{field}` is no {words} of these rows")
        return element


def make_rows(array: np.ndarray, library: Library, record: Record) -> Rows:
    rows = array.view(Rows)
    rows.library, rows.record = library, record
    return rows
