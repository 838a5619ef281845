"""Ctrl-C at a moment when it would do harm."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """While children are started: an interrupt between the start of one and the note of it would leave it behind, with
    a parent that waits for it. It comes afterwards instead."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where interrupts never come
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt
