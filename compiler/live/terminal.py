"""A terminal that shows whole pages, one after the other, and gives the screen back as it was."""

from __future__ import annotations

import contextlib
import select
import shutil
import sys
import termios
import time
import tty
from collections.abc import Sequence
from typing import TextIO

_OPEN, _CLOSE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"  # a screen of its own, no cursor; and back
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
_HINT = "q: leave"


class Terminal:
    """A context manager; keys are read while it waits, if they come from a terminal too."""

    def __init__(self, out: TextIO):
        self._out = out
        self._before: list | None = None
        self.asked_to_leave = False

    @property
    def size(self) -> tuple[int, int]:
        """Characters a line, lines; one line is kept for the hint."""
        found = shutil.get_terminal_size()
        return max(20, found.columns), max(4, found.lines - 1)

    def __enter__(self) -> Terminal:
        with contextlib.suppress(termios.error, ValueError, OSError):  # no terminal to read from: no keys
            self._before = termios.tcgetattr(sys.stdin)
            tty.setcbreak(sys.stdin)
        self._out.write(_OPEN)
        self._out.flush()
        return self

    def __exit__(self, *_) -> None:
        if self._before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._before)
        self._out.write(_CLOSE)
        self._out.flush()

    def show(self, lines: Sequence[str]) -> None:
        """In one write, so that nothing flickers."""
        page = "".join(f"{line}{_REST_OF_LINE}\r\n" for line in lines)
        self._out.write(f"{_HOME}{page}{_HINT if self._before else ''}{_REST_OF_LINE}{_REST_OF_SCREEN}")
        self._out.flush()

    def wait(self, seconds: float) -> None:
        if self._before is None:
            time.sleep(seconds)
            return
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        if ready:
            self.asked_to_leave = sys.stdin.read(1) in ("q", "Q", "\x1b", "")
