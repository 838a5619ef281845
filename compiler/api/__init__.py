"""The package `dfc` itself: what a Python program calls. Nothing is imported before it is used."""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__", "check", "compile"]


def check(text: str, file: str = "<text>", params: dict[str, str] | None = None) -> list:
    """The diagnostics of a program's text, in the order of their places; an empty list says that it is right."""
    from dfc.dsl import typecheck
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    typecheck.check(text, file, diagnostics, params=params or {})
    return diagnostics.sorted()


def compile(path, out_dir="build", *, target: str = "portable", params: dict[str, str] | None = None):
    """What `dfc compile` does; the path of the program. Raises dfc.dsl.diagnostics.ProgramError when it is wrong."""
    from pathlib import Path

    from dfc.compiler import build, pipeline

    bundle = pipeline.generate(Path(path).read_text(encoding="utf-8"), str(path), params or {})
    program = build.compile_program(bundle, target)
    build.write_bundle(bundle, Path(out_dir), target, program)
    return Path(out_dir) / bundle.app
