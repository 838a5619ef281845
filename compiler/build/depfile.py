"""The depfile: which files a program was made from, in the words of make."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle

from .user_code import user_files


def depfile(bundle: Bundle, out_dir: Path, built: Iterable[str] = ()) -> str:
    """`OUT/app: app.dfl app.c`, and an empty rule for each input, so that a deleted one does not stop make.

    `built` are the files that were made, by their names in the folder; without any, the program.
    """
    inputs = [escape(name) for name in input_files(bundle)]
    targets = " ".join(escape(os.path.join(out_dir, name)) for name in tuple(built) or (bundle.app,))
    rule = f"{targets}:" + "".join(f" \\\n  {name}" for name in inputs)
    return rule + "\n" + "".join(f"\n{name}:\n" for name in inputs)


def input_files(bundle: Bundle) -> list[str]:
    """All files that were read, each once, as paths from the current folder where they lie below it."""
    paths = [*bundle.inputs, *bundle.user_sources, *user_files(bundle).values()]
    # <stdin> is no file, and make has no way to write a name with a line end.
    written = (_shortest(path) for path in paths if not path.startswith("<"))
    return list(dict.fromkeys(path for path in written if "\n" not in path))


def _shortest(path: str) -> str:
    """Relative when the file lies below the current folder: then the depfile does not depend on where that is."""
    relative = os.path.relpath(path)
    return os.path.abspath(path) if relative.startswith(os.pardir + os.sep) else relative


def escape(path: str) -> str:
    """make reads `$` as a variable, a space as the end of a name and `#` as the start of a comment."""
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ").replace("\t", "\\\t")
