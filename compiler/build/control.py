"""The controllers of the runtime as a shared library, with the declarations that cffi reads, for the simulator.

The declarations are what the C preprocessor leaves of the headers themselves, so that nothing is written twice.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from dfc.compiler.failure import Failure

from . import cache
from .folder import Tree, runtime_folder
from .program import CompilerFailed, Job, contents, identity, unpack
from .toolchain import CHOSEN_FLAGS, LINK_FLAGS, NEEDED_FLAGS, find_toolchain

LIBRARY, DECLARATIONS = "control.so", "control.h"
# No sanitizer: its runtime would have to be in the Python process first.
_FLAGS = (*NEEDED_FLAGS, *CHOSEN_FLAGS, "-fPIC")
_HEADERS = ("policy.h", "controller.h", "manager.h", "rebalance.h", "models.h")
_SYSTEM_HEADERS = ("stdbool.h", "stddef.h", "stdint.h")  # cffi knows their types


def control_library() -> tuple[Path, str]:
    """The library, in the cache, and its declarations."""
    tree, toolchain = _tree(), find_toolchain()
    key = cache.content_key([*identity(toolchain, _FLAGS), *contents(tree)])
    folder = cache.fetch("control", key, lambda out: _build(tree, Job(toolchain, _FLAGS, Path()), out))
    return folder / LIBRARY, (folder / DECLARATIONS).read_text(encoding="utf-8")


def _tree() -> Tree:
    return {path.name: path.read_bytes() for path in sorted((runtime_folder() / "control").glob("*.[ch]"))}


def _build(tree: Tree, job: Job, out: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="dfc-control-") as folder:
        job = Job(job.toolchain, job.flags, Path(folder))
        unpack(tree, job.folder)
        try:
            job.call("-shared", "-Wl,--no-undefined", "-o", str(out / LIBRARY),
                     *(name for name in tree if name.endswith(".c")), *LINK_FLAGS)
            (out / DECLARATIONS).write_text(_declarations(job), encoding="utf-8")
        except CompilerFailed as failure:
            raise Failure(f"the controllers could not be built: {failure}") from None


def _declarations(job: Job) -> str:
    """The headers without directives and comments; the system's own are empty here."""
    empty = job.folder / "system"
    empty.mkdir()
    for name in _SYSTEM_HEADERS:
        (empty / name).touch()
    (job.folder / "all.h").write_text("".join(f'#include "{name}"\n' for name in _HEADERS))
    job.call("-E", "-P", "-nostdinc", "-Isystem", "all.h", "-o", "declared.h")
    return (job.folder / "declared.h").read_text()
