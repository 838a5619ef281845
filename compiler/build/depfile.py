"""The depfile: which files a program was made from, in the words of make."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle

from .user_code import user_files

_UNWRITABLE = {";", "\n"}  # where a rule ends, also behind a backslash


def depfile(bundle: Bundle, out_dir: Path, built: Iterable[str] = ()) -> str:
    """`OUT/app: app.dfl app.c`, and an empty rule for each input, so that a deleted one does not stop make.

    `built` are the files that were made, by their names in the folder; without any, the program.
    """
    inputs = [escape(name) for name in input_files(bundle)]
    targets = " ".join(escape(os.path.join(out_dir, name)) for name in tuple(built) or (bundle.app,))
    rule = f"{targets}:" + "".join(f" \\\n  {name}" for name in inputs)
    return rule + "\n" + "".join(f"\n{name}:\n" for name in inputs)


def input_files(bundle: Bundle) -> list[str]:
    """All files that were read and whose names make can write, each once, as paths from the current folder where they
    lie below it."""
    return [path for path in _read_files(bundle) if not _UNWRITABLE & set(path)]


def unwritable_files(bundle: Bundle) -> list[str]:
    """The others that were read: make has no way to write their names, so it would not see them change."""
    return [path for path in _read_files(bundle) if _UNWRITABLE & set(path)]


def _read_files(bundle: Bundle) -> list[str]:
    paths = [*bundle.inputs, *bundle.user_sources, *user_files(bundle).values()]
    return list(dict.fromkeys(_shortest(path) for path in paths if not path.startswith("<")))  # <stdin> is no file


def _shortest(path: str) -> str:
    """Relative when the file lies below the current folder: then the depfile does not depend on where that is."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith(os.pardir + os.sep) else relative


def escape(path: str) -> str:
    """make reads `$` as a variable, a space as the end of a name, `#` as the start of a comment and `:` as the end of
    the targets."""
    return re.sub(r"[# \t:]", r"\\\g<0>", path.replace("$", "$$"))
