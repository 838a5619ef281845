"""What a caller gives, as records of the program: checked and copied column by column.

An array that has the program's own dtype already is used where it lies. Symbols, texts and times of another unit are
converted on the way, which costs one temporary column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...dsl.types import Array, Bool, Duration, Field, Float, Int, Symbol, Text, Timestamp, Type
from ..artifacts.interface import Port
from .layout import filling_dtype, plain_dtype, record_dtype, sizes_of
from .library import Library
from .rows import Rows

_ALIGNMENT = 8  # of every struct of the language


class BadData(ValueError):
    """Data that does not fit the program: what was expected where, and what came."""


class Symbols(NamedTuple):
    """A dictionary-encoded column: text number i is categories[codes[i]]."""

    codes: np.ndarray
    categories: object


class Intake:
    """Makes records of one source out of arrays. Any thread."""

    def __init__(self, library: Library, port: Port):
        self.library, self.port = library, port
        self.dtype = record_dtype(port, library.ffi)
        self.filling = filling_dtype(port, library.ffi)

    def records(self, data: object) -> np.ndarray:
        """The records as they lie in memory for C: `data` itself when it is that already."""
        if self._fits(data):
            self._check_in_place(data)
            return data
        columns = self._columns(data)
        out = np.zeros(self._length(columns), dtype=self.filling)
        for field in self.port.record.fields:
            self._fill(out, field, columns[field.name])
        return out

    def _fits(self, data: object) -> bool:
        if not isinstance(data, np.ndarray) or data.dtype != self.dtype or data.ndim != 1:
            return False
        texts = any(isinstance(field.type, Text) for field in self.port.record.fields)  # the dtype has no sizes
        foreign = isinstance(data, Rows) and data.library is not self.library
        return data.flags.c_contiguous and data.ctypes.data % _ALIGNMENT == 0 and not texts and not foreign

    def _check_in_place(self, data: np.ndarray) -> None:
        for field in self.port.record.fields:
            if isinstance(field.type, Symbol):
                self._known(field, data[field.name])
            elif isinstance(field.type, Bool) and len(data) and data[field.name].view("u1").max() > 1:
                raise self._bad(field, "bool, which is 0 or 1 in memory", "another byte")

    # --- columns ----------------------------------------------------------------------------------------

    def _columns(self, data: object) -> dict[str, object]:
        names = self._names(data)
        wanted = [field.name for field in self.port.record.fields]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise BadData(f"source `{self.port.name}`: there is no field `{missing[0]}`; expected {', '.join(wanted)}")
        unknown = [str(name) for name in names if name not in wanted]
        if unknown:
            raise BadData(f"source `{self.port.name}` has no field `{unknown[0]}`; expected {', '.join(wanted)}")
        return {field.name: self._column(data, field) for field in self.port.record.fields}

    def _names(self, data: object) -> list[str]:
        if isinstance(data, np.ndarray) and data.dtype.names and data.ndim == 1:
            return list(data.dtype.names)
        if isinstance(data, Mapping) or hasattr(data, "keys"):
            return list(data.keys())
        raise BadData(f"source `{self.port.name}`: expected a structured array of one dimension with the dtype "
                      f"{self.dtype}, a mapping of columns or an Arrow table, not {_kind(data)}")

    def _column(self, data: object, field: Field) -> object:
        column = data[field.name]
        if isinstance(data, Rows) and isinstance(field.type, Symbol) and data.library is not self.library:
            return Symbols(column, data.library.texts(data.library.symbol_count()))
        return getattr(column, "array", column) if hasattr(column, "cat") else column  # a categorical of pandas

    def _length(self, columns: dict[str, object]) -> int:
        lengths = {name: len(_codes(column)) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise BadData(f"source `{self.port.name}`: columns of different lengths: "
                          + ", ".join(f"{name} {length}" for name, length in lengths.items()))
        return next(iter(lengths.values()))

    def _fill(self, out: np.ndarray, field: Field, column: object) -> None:
        match field.type:
            case Symbol():
                out[field.name] = self._symbols(field, column)
            case Text(size):
                texts = self._texts(field, column)
                lengths = np.char.str_len(texts)
                if len(lengths) and lengths.max() > size:
                    raise self._bad(field, f"at most {size} bytes of UTF-8", f"{lengths.max()} bytes")
                out[field.name] = texts
                sizes_of(out, field.name)[:] = lengths
            case _:
                out[field.name] = self._numbers(field, field.type, np.asarray(column))

    # --- texts ------------------------------------------------------------------------------------------

    def _symbols(self, field: Field, column: object) -> np.ndarray:
        if hasattr(column, "codes") and hasattr(column, "categories"):
            return self._encoded(field, np.asarray(column.codes), column.categories)
        array = np.asarray(column)
        if array.dtype == np.uint32:
            return self._known(field, array)
        numbers = {text: self.library.intern(self._text(field, text)) for text in set(array.tolist())} \
            if array.dtype.kind in "USOT" else self._refuse(field, "texts, Symbols(codes, categories) or numbers of "
                                                                  "Program.symbols() as uint32", array.dtype)
        return np.fromiter(map(numbers.__getitem__, array.tolist()), np.uint32, len(array))

    def _encoded(self, field: Field, codes: np.ndarray, categories: object) -> np.ndarray:
        table = np.array([self.library.intern(self._text(field, text)) for text in categories], dtype=np.uint32)
        if codes.dtype.kind not in "iu":
            self._refuse(field, "codes that are integers", codes.dtype)
        if len(codes) and (codes.min() < 0 or codes.max() >= len(table)):
            raise self._bad(field, f"codes from 0 to {len(table) - 1}", f"{codes.min()} to {codes.max()}")
        return table[codes]

    def _known(self, field: Field, numbers: np.ndarray) -> np.ndarray:
        if len(numbers) and numbers.max() >= self.library.symbol_count():
            raise self._bad(field, "numbers that Program.symbols() gave", str(numbers.max()))
        return numbers

    def _text(self, field: Field, text: object) -> str:
        """One text; bytes must be UTF-8."""
        try:
            if isinstance(text, bytes):
                return text.decode()
            if isinstance(text, str):
                text.encode()
                return text
        except UnicodeError:
            raise self._bad(field, "UTF-8", repr(text)) from None
        raise self._bad(field, "a text", repr(text))

    def _texts(self, field: Field, column: object) -> np.ndarray:
        array = np.asarray(column)
        if array.dtype.kind not in "USOT":
            self._refuse(field, f"texts of at most {field.type.size} bytes", array.dtype)
        encoded = [self._text(field, text).encode() for text in array.tolist()]
        return np.array(encoded, dtype=np.bytes_) if encoded else np.zeros(0, "S1")

    # --- numbers ----------------------------------------------------------------------------------------

    def _numbers(self, field: Field, type_: Type, array: np.ndarray) -> np.ndarray:
        match type_:
            case Array(element, size):
                if array.ndim != 2 or array.shape[1] != size:
                    raise self._bad(field, f"an array of shape (…, {size})", f"shape {array.shape}")
                return self._numbers(field, element, array.reshape(-1)).reshape(-1, size)
            case Int():
                return self._integers(field, type_, array)
            case Float() | Bool():
                wanted = plain_dtype(type_)
                good = array.dtype == wanted or isinstance(type_, Float) and np.can_cast(array.dtype, wanted, "safe")
                return array if good and array.dtype.kind != "O" else self._refuse(field, str(wanted), array.dtype)
            case Timestamp() | Duration():
                return self._times(field, type_, array)
        raise self._bad(field, str(type_), str(array.dtype))

    def _integers(self, field: Field, type_: Int, array: np.ndarray) -> np.ndarray:
        if array.dtype.kind not in "iu":
            self._refuse(field, str(plain_dtype(type_)), array.dtype)
        if len(array) and not type_.low <= int(array.min()) <= int(array.max()) <= type_.high:
            raise self._bad(field, f"{type_} from {type_.low} to {type_.high}", f"{array.min()} to {array.max()}")
        return array

    def _times(self, field: Field, type_: Timestamp | Duration, array: np.ndarray) -> np.ndarray:
        wanted = plain_dtype(type_)
        if array.dtype.kind in "iu":
            return self._integers(field, Int(64, True), array).astype("i8", copy=False).view(wanted)
        if array.dtype.kind != wanted.kind:
            self._refuse(field, f"{wanted} or whole numbers of {type_.unit}", array.dtype)
        if np.isnat(array).any():
            raise self._bad(field, "a time", "NaT")
        cast = array.astype(wanted)
        if array.dtype != wanted and (cast.astype(array.dtype) != array).any():
            raise self._bad(field, f"whole numbers of {type_.unit} that fit 64 bits", f"{array.dtype} that are not")
        return cast

    def _bad(self, field: Field, expected: str, got: str) -> BadData:
        return BadData(f"source `{self.port.name}`, field `{field.name}`: expected {expected}, got {got}")

    def _refuse(self, field: Field, expected: str, got: object):
        raise self._bad(field, expected, str(got))


def _codes(column: object) -> object:
    return column.codes if hasattr(column, "codes") and hasattr(column, "categories") else column


def _kind(data: object) -> str:
    if isinstance(data, np.ndarray):
        return f"an array of {data.dtype} with {data.ndim} dimensions"
    return f"{type(data).__module__}.{type(data).__qualname__}"
