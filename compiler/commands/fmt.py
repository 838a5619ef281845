"""`dfc fmt`: writes programs in the standard form. A program with syntax errors is not touched."""

from __future__ import annotations

import difflib
import os
import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, WRONG

from .program_text import display_name, read_text
from .report import report


def run(args: Namespace) -> int:
    return max([_format_one(path, args) for path in args.program])


def _format_one(path: str, args: Namespace) -> int:
    text, file = read_text(path), display_name(path)
    from dfc.dsl.diagnostics import Diagnostics
    from dfc.dsl.printer import format_text

    diagnostics = Diagnostics()
    args.texts = {file: text}
    formatted = format_text(text, file, diagnostics)
    if formatted is None or diagnostics.failed:
        return report(diagnostics, args)
    return _deliver(path, text, formatted, args)


def _deliver(path: str, text: str, formatted: str, args: Namespace) -> int:
    if args.diff:
        sys.stdout.writelines(_difference(text, formatted, display_name(path)))
    if args.check:
        return _say_whether(path, text != formatted)
    if not args.diff and path == "-":
        sys.stdout.write(formatted)
    elif not args.diff:
        _write(path, formatted)
    return GOOD


def _say_whether(path: str, changes: bool) -> int:
    if changes:
        print(f"dfc: {display_name(path)}: not in standard form", file=sys.stderr)
    return WRONG if changes else GOOD


def _difference(before: str, after: str, name: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(keepends=True), after.splitlines(keepends=True), name, name)
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]


def _write(path: str, formatted: str) -> None:
    """Through links to the file itself, with the mode that it has."""
    from dfc.compiler.build.write import write_file

    real = Path(os.path.realpath(path))
    write_file(real, formatted.encode(), mode=real.stat().st_mode & 0o777)
