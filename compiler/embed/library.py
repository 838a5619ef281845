"""The shared library of a program, opened once in a process, and its table of symbols."""

from __future__ import annotations

import threading
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
        self._numbers: dict[str, int] = {}
        self._texts = np.array([""], dtype=object)
        self._growing = threading.Lock()

    def function(self, role: str):
        return getattr(self._lib, self._names[role])

    def free(self, room):
        self._lib.free(room)

    def intern(self, text: str) -> int:
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = self._intern(text.encode())
        return number

    def _intern(self, text: bytes) -> int:
        out = self.ffi.new("dfrt_symbol *")
        if self.function("symbol")(text, len(text), out) != OK:
            raise MemoryError("no memory for a symbol")
        return out[0]

    def symbol_count(self) -> int:
        return self.function("symbol_count")()

    def texts(self, count: int) -> np.ndarray:
        """The texts of all symbols below `count`, by number."""
        with self._growing:
            known = len(self._texts)
            if known < count:
                more = [self._text(number) for number in range(known, count)]
                self._texts = np.concatenate([self._texts, np.array([*more, None], dtype=object)[:-1]])
            return self._texts[:count]

    def _text(self, number: int) -> str:
        slice_ = self.function("symbol_text")(number)
        return self.ffi.unpack(slice_.data, slice_.size).decode()
