"""Results: a numpy array over the memory that the program wrote, which knows the texts of its symbols."""

from __future__ import annotations

import numpy as np

from ...dsl.types import Record, Symbol, Text
from .library import Library


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
        return self.library.texts(self._highest(column))[column]

    def symbols(self, field: str) -> tuple[np.ndarray, np.ndarray]:
        """A symbol field as codes and the categories that occur, in the order of their numbers."""
        column = np.asarray(self[field])
        texts = self.library.texts(self._highest(column))
        used = np.zeros(len(texts), dtype=bool)
        used[column] = True
        codes = (np.cumsum(used, dtype=np.int32) - 1)[column] if len(column) else np.zeros(0, np.int32)
        return codes, texts[used]

    def to_arrow(self):
        """A pyarrow table; symbols become dictionary-encoded columns."""
        from .arrow import to_table

        return to_table(self)

    def _type(self, field: str):
        type_ = self.record.field(field).type if self.record and self.record.field(field) else None
        if not isinstance(type_, Symbol | Text):
            raise TypeError(f"`{field}` is no symbol or text of these rows")
        return type_

    @staticmethod
    def _highest(column: np.ndarray) -> int:
        return int(column.max()) + 1 if len(column) else 0


def make_rows(array: np.ndarray, library: Library, record: Record) -> Rows:
    rows = array.view(Rows)
    rows.library, rows.record = library, record
    return rows
