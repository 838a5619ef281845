"""The user's C files and the headers beside them, and where each stands in the output folder.

Before: `c("../kernels/fit.c", "fit")`, and fit.c says `#include "fit.h"`.
After:  user/fit.c, user/fit.h; the files keep their places relative to each other. `#include "stdlib/preference.h"`
is the header of the standard library, which comes along.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle
from dfc.compiler.failure import Wrong
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics, ProgramError

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)


def find_sources(functions: Iterable[typed.CFunction]) -> tuple[str, ...]:
    """The C files that a program names, each once. Raises ProgramError when one is not there."""
    missing, found = Diagnostics(), {}
    for function in functions:
        path = os.path.join(os.path.dirname(function.span.file), function.path)
        found[path] = None
        if not os.path.isfile(path):
            missing.add("E0902", function.span, f"there is no C file `{function.path}` beside {_file(function)}")
    if missing.items:
        raise ProgramError(missing)
    return tuple(found)


def _file(function: typed.CFunction) -> str:
    return os.path.basename(function.span.file)


def user_files(bundle: Bundle) -> dict[str, str]:
    """Name in the output folder → the path it is copied from."""
    library = _library_folder()
    found = _with_headers(os.path.abspath(path) for path in bundle.user_sources)
    inside = [path for path in found if path.startswith(library + os.sep)]
    outside = [path for path in found if path not in inside]
    return {**_placed("stdlib", library, inside), **_placed("user", _common_folder(outside), outside)}


def _with_headers(paths: Iterable[str]) -> list[str]:
    """The files and, transitively, the existing files that they include by a quoted name."""
    waiting, found = list(paths), []
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.append(path)
            waiting += _headers_of(path)
    return sorted(found)


def _headers_of(path: str) -> list[str]:
    """Beside the file; or, by `stdlib/NAME`, of the standard library."""
    names = [os.fsdecode(match) for match in _INCLUDE.findall(_read(path))]
    beside = [os.path.normpath(os.path.join(os.path.dirname(path), name)) for name in names]
    library = [os.path.join(_library_folder(), name.removeprefix("stdlib/")) for name in names
               if name.startswith("stdlib/")]
    return [header for header in (*beside, *library) if os.path.isfile(header)]


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Wrong(f"can't read {os.path.relpath(path)}: {error.strerror}") from None


def _placed(prefix: str, root: str, paths: list[str]) -> dict[str, str]:
    return {f"{prefix}/{Path(os.path.relpath(path, root)).as_posix()}": path for path in paths}


def _common_folder(paths: list[str]) -> str:
    return os.path.commonpath([os.path.dirname(path) for path in paths]) if paths else ""


def _library_folder() -> str:
    import dfc.stdlib

    return os.path.abspath(next(iter(dfc.stdlib.__path__)))
