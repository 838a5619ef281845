"""A program as libraries that others link with: libAPP.a and libAPP.so, which show nothing but the program's functions.

In the shared library everything else is hidden. In the static one the program is a single object whose other names
are local, and the runtime stands beside it, so that two programs link into one executable: the user's functions of the
one never meet those of the other, and the runtime is there once.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle
from dfc.dsl.diagnostics import Diagnostics

from .folder import Tree
from .program import Job, build_once, compile_parts, tool
from .toolchain import LINK_FLAGS, flags

_FLAGS = ("-fPIC", "-fvisibility=hidden")


def compile_embeddable(bundle: Bundle, target: str, diagnostics: Diagnostics | None = None,
                       sanitize: bool = True) -> Path:
    """The folder, in the cache, that holds the two libraries. Raises ProgramError when the user's C is wrong.

    Without `sanitize` whatever DFC_SANITIZE says: Python can't load what needs a sanitizer.
    """
    return build_once("embeddable", bundle, (*flags(target, sanitize), *_FLAGS), _link, diagnostics)


def library_names(app: str) -> tuple[str, str]:
    return f"lib{app}.a", f"lib{app}.so"


def _link(bundle: Bundle, tree: Tree, job: Job, out: Path) -> str:
    said, (*objects, runtime) = compile_parts({name: data for name, data in tree.items() if name != "main.c"}, job)
    static, shared = (str(out / name) for name in library_names(bundle.app))
    job.call("-shared", *_undefined(job), f"-Wl,-soname,{Path(shared).name}", "-o", shared, *objects, runtime,
             *LINK_FLAGS)
    whole = str(job.folder / f"{bundle.app}.o")
    job.call("-r", "-nostdlib", "-o", whole, *objects)
    tool("objcopy", "--localize-hidden", whole)
    shutil.copyfile(runtime, static)
    tool("ar", "rcsD", static, whole)
    return said


def _undefined(job: Job) -> tuple[str, ...]:
    """A function that nothing defines is an error; but a sanitizer's own come with the executable."""
    return () if any(flag.startswith("-fsanitize") for flag in job.flags) else ("-Wl,--no-undefined",)
