"""The user's C as a shared library, so that the reference interpreter calls the functions that the program calls."""

from __future__ import annotations

from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle
from dfc.dsl.diagnostics import Diagnostics

from .folder import Tree
from .program import Job, build_once, compile_parts
from .toolchain import CHOSEN_FLAGS, LINK_FLAGS, NEEDED_FLAGS

_NAME = "library.so"
# No sanitizer: its runtime would have to be in the Python process first.
_FLAGS = (*NEEDED_FLAGS, *CHOSEN_FLAGS, "-fPIC")


def compile_library(bundle: Bundle, diagnostics: Diagnostics | None = None) -> Path:
    """The path of the library, in the cache. Raises ProgramError when the user's C is wrong."""
    return build_once("library", bundle, _FLAGS, _link, diagnostics) / _NAME


def _link(bundle: Bundle, tree: Tree, job: Job, out: Path) -> str:
    """A function that nothing defines is an error here, as it is for a program."""
    said, parts = compile_parts(tree, job)
    job.call("-shared", "-Wl,--no-undefined", "-o", str(out / _NAME), *parts, *LINK_FLAGS)
    return said
