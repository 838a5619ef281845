"""The package `dfc` itself: what a Python program calls. Nothing is imported before it is used.

A program is given as a path, or as its text: a str with a line end in it is a text.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["BadData", "ProgramError", "RunFailed", "Symbols", "__version__", "check", "compile", "load"]

_ELSEWHERE = {"BadData": "dfc.compiler.embed", "RunFailed": "dfc.compiler.embed", "Symbols": "dfc.compiler.embed",
              "ProgramError": "dfc.dsl.diagnostics"}


def check(program, *, params=None) -> list:
    """The diagnostics of a program, in the order of their places; an empty list says that it is right."""
    from dfc.dsl import typecheck
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics, (text, file) = Diagnostics(), _read(program)
    typecheck.check(text, file, diagnostics, params=_texts(params))
    return diagnostics.sorted()


def compile(program, output="build", *, target: str = "portable", params=None, emit=(), amalgamate: bool = False):
    """What `dfc compile` does; answers the paths and the manifest (see dfc.compiler.compiled.Compiled).

    Raises ProgramError when the program is wrong.
    """
    from dfc.compiler.compiled import compile_to

    return compile_to(*_read(program), output, target, _texts(params), emit, amalgamate)


def load(program, *, params=None, workers: int = 1, target: str = "native", alternates=None, clock=None):
    """The program as an object that runs on numpy arrays and Arrow tables in this process.

    Raises ProgramError when the program is wrong. `workers`, `alternates` and `clock` are those of every run.
    """
    from importlib.util import find_spec

    from dfc.compiler.failure import Missing

    if find_spec("numpy") is None:
        raise Missing("dfc.load needs numpy: install it with `pip install dfc[embed]`")
    from dfc.compiler.embed import load as load_library

    return load_library(*_read(program), _texts(params), workers, target, alternates or {}, clock)


def _read(program) -> tuple[str, str]:
    """The text, and the name that diagnostics call it by."""
    if isinstance(program, str) and "\n" in program:
        return program, "<text>"
    import os

    with open(program, encoding="utf-8-sig", newline=None) as file:
        return file.read(), os.fspath(program)


def _texts(params) -> dict[str, str]:
    """Values as they stand on the command line."""
    def text(value) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return {name: text(value) for name, value in (params or {}).items()}


def __getattr__(name: str):
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'dfc' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_ELSEWHERE[name]), name)
