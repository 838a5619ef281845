"""What a caller gives, as records of the program: checked and copied column by column.

An array that has the program's own dtype already is used where it lies. Everything else is copied once, from where it
lies into the records, and converted on the way.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...dsl.types import Array, Bool, Duration, Field, Float, Int, Symbol, Text, Timestamp, Type
from ..artifacts.interface import Port
from .layout import bytes_of, element_of, filling_dtype, plain_dtype, record_dtype, shape_of
from .library import Library
from .rows import Rows
from .strings import (
    ArrowBits,
    ArrowStrings,
    BadString,
    Place,
    Symbols,
    put_bits,
    put_coded,
    put_strings,
    table_of,
)

_ALIGNMENT = 8  # of every struct of the language


class BadData(ValueError):
    """Data that does not fit the program: what was expected where, and what came."""


class Intake:
    """Makes records of one source out of arrays. Any thread."""

    def __init__(self, library: Library, port: Port):
        self.library, self.port = library, port
        self.dtype = record_dtype(port, library.ffi)
        self.filling = filling_dtype(port, library.ffi)
        self._tables: dict[str, tuple[ArrowStrings, np.ndarray]] = {}  # the latest of each field

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
        texts = any(isinstance(element_of(one.type), Text) for one in self.port.record.fields)  # the dtype has no sizes
        foreign = isinstance(data, Rows) and data.library is not self.library
        return data.flags.c_contiguous and data.ctypes.data % _ALIGNMENT == 0 and not texts and not foreign

    def _check_in_place(self, data: np.ndarray) -> None:
        for field in self.port.record.fields:
            element = element_of(field.type)
            if isinstance(element, Symbol):
                self._known(field, data[field.name])
            elif isinstance(element, Bool) and len(data) and data[field.name].view("u1").max() > 1:
                raise self._bad(field, "bool, which is 0 or 1 in memory", "another byte")
            elif isinstance(element, Timestamp | Duration):
                self._require_times(field, data[field.name])

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
        if isinstance(data, Rows) and isinstance(element_of(field.type), Symbol) and data.library is not self.library:
            return Symbols(np.asarray(column), data.library.texts(range(data.library.symbol_count())))
        return getattr(column, "array", column) if hasattr(column, "cat") else column  # a categorical of pandas

    def _length(self, columns: dict[str, object]) -> int:
        lengths = {name: len(column.codes if is_coded(column) else column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise BadData(f"source `{self.port.name}`: columns of different lengths: "
                          + ", ".join(f"{name} {length}" for name, length in lengths.items()))
        return next(iter(lengths.values()))

    def _fill(self, out: np.ndarray, field: Field, column: object) -> None:
        match field.type:
            case Symbol() | Text():
                self._fill_strings(Place.of(out, field.name, field.type), field, column)
            case Array() if isinstance(element_of(field.type), Symbol | Text):
                self._fill_string_arrays(out, field, column)
            case Bool() if isinstance(column, ArrowBits):
                put_bits(self.library, out[field.name], column)
            case Timestamp() | Duration():
                self._fill_times(out[field.name], field, np.asarray(column))
            case Array():
                array = self._shaped(field, column)
                out[field.name] = self._numbers(field, element_of(field.type), array.reshape(-1)).reshape(array.shape)
            case _:
                out[field.name] = self._numbers(field, field.type, np.asarray(column))

    def _shaped(self, field: Field, column: object) -> np.ndarray:
        """A column of arrays as one array, with the sizes of the field behind the number of rows."""
        shape = shape_of(field.type)
        expected = f"an array of shape (…, {', '.join(map(str, shape))})"
        try:
            array = bytes_of(np.asarray(column))
        except ValueError as error:  # rows of different lengths
            raise self._bad(field, expected, str(error)) from None
        if array.ndim == 0 or array.shape[1:] != shape:
            raise self._bad(field, expected, f"shape {array.shape}")
        return array

    # --- texts ------------------------------------------------------------------------------------------

    def _fill_string_arrays(self, out: np.ndarray, field: Field, column: object) -> None:
        """The elements at one index of all rows are a column as any other."""
        element = Field(field.name, element_of(field.type))
        array = self._shaped(field, column.codes if is_coded(column) else column)
        for index in np.ndindex(*shape_of(field.type)):
            part = array[(slice(None), *index)]
            self._fill_strings(Place.of(out, field.name, element.type, index), element,
                               Symbols(part, column.categories) if is_coded(column) else part)

    def _fill_strings(self, place: Place, field: Field, column: object) -> None:
        try:
            if is_coded(column):
                self._fill_coded(place, field, np.asarray(column.codes), column.categories)
                return
            if not isinstance(column, ArrowStrings):
                column = np.asarray(column)
                if isinstance(field.type, Symbol) and column.dtype == np.uint32:
                    place.values[...] = self._known(field, column)
                    return
                self._require_texts(field, column)
            put_strings(self.library, place, field.type, column)
        except BadString as bad:
            raise self._bad(field, *bad.args) from None

    def _fill_coded(self, place: Place, field: Field, codes: np.ndarray, categories: object) -> None:
        if codes.dtype.kind not in "iu":
            self._refuse(field, "codes that are integers", codes.dtype)
        for array in (codes, categories):
            if isinstance(array, np.ndarray) and array.ndim != 1:
                self._refuse(field, "codes and categories of one dimension", f"{array.ndim}")
        if not codes.dtype.isnative:
            codes = codes.astype(codes.dtype.newbyteorder("="))
        table = self._table(field, categories)
        if not put_coded(self.library, place, table, codes):
            raise self._bad(field, f"codes from 0 to {len(table) - 1}", f"{codes.min()} to {codes.max()}")

    def _table(self, field: Field, categories: object) -> np.ndarray:
        """Batches of one Arrow table share their dictionary, which can't change: its table serves them all."""
        known = self._tables.get(field.name)
        if known is not None and isinstance(categories, ArrowStrings) and known[0] == categories:
            return known[1]
        table = table_of(self.library, field.type, categories)
        if isinstance(categories, ArrowStrings):
            self._tables[field.name] = (categories, table)
        return table

    def _known(self, field: Field, numbers: np.ndarray) -> np.ndarray:
        if len(numbers) and numbers.max() >= self.library.symbol_count():
            raise self._bad(field, "numbers that Program.symbols() gave", str(numbers.max()))
        return numbers

    def _require_texts(self, field: Field, column: np.ndarray) -> None:
        wanted = f"texts of at most {field.type.size} bytes" if isinstance(field.type, Text) else \
            "texts, Symbols(codes, categories) or numbers of Program.symbols() as uint32"
        if column.dtype.kind not in "USOT" and column.size or column.ndim != 1:  # numpy's empty list has floats
            shape = "" if column.ndim == 1 else f" of {column.ndim} dimensions"
            self._refuse(field, wanted, f"{column.dtype}{shape}")

    # --- numbers ----------------------------------------------------------------------------------------

    def _numbers(self, field: Field, type_: Type, array: np.ndarray) -> np.ndarray:
        match type_:
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
        """Elements of an array of times: converted to their unit."""
        out = np.empty(array.shape, plain_dtype(type_))
        self._fill_times(out, Field(field.name, type_), array)
        return out

    def _fill_times(self, out: np.ndarray, field: Field, array: np.ndarray) -> None:
        if array.dtype.kind in "iu":
            out.view("i8")[...] = self._integers(field, Int(64, True), array)
            return
        if array.dtype.kind != out.dtype.kind:
            self._refuse(field, f"{out.dtype} or whole numbers of {field.type.unit}", array.dtype)
        self._require_times(field, array)
        np.copyto(out, array, casting="unsafe")
        if array.dtype != out.dtype and (out.astype(array.dtype) != array).any():
            raise self._bad(field, f"whole numbers of {field.type.unit} that fit 64 bits",
                            f"{array.dtype} that are not")

    def _require_times(self, field: Field, array: np.ndarray) -> None:
        if array.size and np.isnat(array.min()):  # the least of times is NaT when one is
            raise self._bad(field, "a time", "NaT")

    def _bad(self, field: Field, expected: str, got: str) -> BadData:
        return BadData(f"source `{self.port.name}`, field `{field.name}`: expected {expected}, got {got}")

    def _refuse(self, field: Field, expected: str, got: object):
        raise self._bad(field, expected, str(got))


def is_coded(column: object) -> bool:
    return hasattr(column, "codes") and hasattr(column, "categories")


def _kind(data: object) -> str:
    if isinstance(data, np.ndarray):
        return f"an array of {data.dtype} with {data.ndim} dimensions"
    if data is None:
        return "None"
    return f"{type(data).__module__}.{type(data).__qualname__}"
