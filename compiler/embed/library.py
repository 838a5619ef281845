"""The shared library of a program, opened once in a process, and its table of symbols."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from cffi import FFI

from ..artifacts.interface import Interface

OK, END, AGAIN = 0, 1, 2  # dfrt_status
_RUNTIME = """
typedef uint32_t dfrt_symbol;
typedef int dfrt_status;
typedef struct dfrt_slice { const char *data; size_t size; } dfrt_slice;
typedef struct dfrt_error { char text[512]; } dfrt_error;
typedef struct dfrt_embed dfrt_embed;
typedef struct dfrt_embed_input { const void *records; size_t count, at; bool ended; } dfrt_embed_input;
typedef struct dfrt_embed_counts { uint64_t out, late, faults; } dfrt_embed_counts;
typedef struct dfrt_place { void *first; size_t stride; } dfrt_place;
typedef struct dfrt_strings { int form; const void *data, *offsets; size_t width; ptrdiff_t stride; } dfrt_strings;
typedef struct dfrt_codes { const void *first; ptrdiff_t stride; size_t size; bool is_signed; } dfrt_codes;
typedef struct dfrt_columns {
    size_t (*put_symbols)(dfrt_place to, const dfrt_strings *strings, size_t count);
    size_t (*put_texts)(dfrt_place to, uint32_t capacity, const dfrt_strings *strings, size_t count);
    size_t (*put_entries)(dfrt_place to, size_t size, const void *table, size_t entries, const dfrt_codes *codes,
                          size_t count);
    void (*put_bits)(dfrt_place to, const uint8_t *bits, size_t from, size_t count);
    size_t (*get_codes)(dfrt_place from, size_t count, int32_t *codes, uint32_t *numbers, dfrt_symbol *found);
    void (*get_texts)(const dfrt_strings *strings, size_t count, int32_t *offsets, char *data);
} dfrt_columns;
struct dfrt_program;
typedef struct dfrt_cluster dfrt_cluster;
void free(void *room);
"""
_opened: dict[tuple[str, Interface], Library] = {}
_opening = threading.Lock()


def open_library(path: Path, interface: Interface) -> Library:
    """Always the same object for the same file: symbols are shared by all who use it."""
    with _opening:
        key = (str(path), interface)
        if key not in _opened:
            _opened[key] = Library(path, interface)
        return _opened[key]


class Library:
    """The functions by what they do, and the texts behind the numbers in symbol fields. Any thread."""

    def __init__(self, path: Path, interface: Interface):
        self.ffi = FFI()
        self.ffi.cdef(_RUNTIME + interface.declarations)
        self._lib = self.ffi.dlopen(str(path))  # local: the names of two programs never meet
        self._names = dict(interface.functions)
        self._texts: dict[int, str] = {}
        self.columns = self.function("columns")()

    def function(self, role: str):
        return getattr(self._lib, self._names[role])

    def free(self, room):
        self._lib.free(room)

    def intern(self, text: bytes) -> int:
        """The number of a text, which is UTF-8."""
        out = self.ffi.new("dfrt_symbol *")
        if self.function("symbol")(text, len(text), out) != OK:
            raise MemoryError("no memory for a symbol")
        return out[0]

    def symbol_count(self) -> int:
        return self.function("symbols")()

    def texts(self, numbers: Iterable[int]) -> np.ndarray:
        """The texts of these symbols, as objects."""
        found = [self._text(number) for number in numbers]
        return np.array([*found, None], dtype=object)[:-1]  # the None keeps numpy from guessing a type

    def _text(self, number: int) -> str:
        text = self._texts.get(number)
        if text is None:
            slice_ = self.function("symbol_text")(number)
            text = self._texts[number] = self.ffi.unpack(slice_.data, slice_.size).decode()
        return text
