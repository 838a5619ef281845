"""Reads the program named on the command line; what can't be read ends the command with one line."""

from __future__ import annotations

import codecs
import os
import sys
from argparse import Namespace

from dfc.compiler.failure import Usage, Wrong

MAX_BYTES = 16 << 20
STDIN = "<stdin>"


def read_program(args: Namespace) -> tuple[str, str]:
    """The text and the name it has in diagnostics. Remembers the text for those."""
    text, file = read_text(args.program), display_name(args.program)
    args.texts = {file: text}
    return text, file


def display_name(path: str) -> str:
    return STDIN if path == "-" else path


def read_text(path: str) -> str:
    """Line ends become `\\n`; a byte-order mark is skipped."""
    data = _read_bytes(path)
    if len(data) > MAX_BYTES:
        raise Wrong(f"{display_name(path)}: larger than {MAX_BYTES >> 20} MiB; a program is text that people write")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Wrong(f"{display_name(path)}:{line}: not UTF-8 (byte 0x{data[error.start]:02x})") from None
    return text.replace("\r\n", "\n")


def _read_bytes(path: str) -> bytes:
    try:
        if path == "-":
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise Usage(f"{path}: {_reason(error)}") from None
    except ValueError:
        raise Usage(f"{path!r}: no file can have this name") from None


def _reason(error: OSError) -> str:
    reasons = {FileNotFoundError: "no such file", IsADirectoryError: "is a folder, not a program",
               PermissionError: "may not be read"}
    return reasons.get(type(error), os.strerror(error.errno) if error.errno else str(error))
