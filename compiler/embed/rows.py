"""Results: a numpy array over the memory that the program wrote, which knows the texts of its symbols."""

from __future__ import annotations

import numpy as np

from ...dsl.types import Record, Symbol, Text
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
        column = np.asarray(self[field])
        if isinstance(self._type(field), Text):
            return np.array([one.decode() for one in column.tolist()] + [None], dtype=object)[:-1]
        codes, categories = self.symbols(field)
        return categories[codes]

    def symbols(self, field: str) -> tuple[np.ndarray, np.ndarray]:
        """A symbol field as codes and the categories that occur, in the order of their first appearance."""
        codes, numbers = encode(self.library, np.asarray(self[field]))
        return codes, self.library.texts(numbers.tolist())

    def to_arrow(self):
        """A pyarrow table; symbols become dictionary-encoded columns."""
        from .arrow import to_table

        return to_table(self)

    def _type(self, field: str):
        type_ = self.record.field(field).type if self.record and self.record.field(field) else None
        if not isinstance(type_, Symbol | Text):
            raise TypeError(f"`{field}` is no symbol or text of these rows")
        return type_


def make_rows(array: np.ndarray, library: Library, record: Record) -> Rows:
    rows = array.view(Rows)
    rows.library, rows.record = library, record
    return rows
