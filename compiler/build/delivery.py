"""What `dfc compile` leaves in the output folder: which files an order asks for, with their bytes.

An order names kinds of output; without any it is the whole folder, from which `make` alone can build the program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle
from dfc.compiler.failure import Wrong
from dfc.dsl.diagnostics import Diagnostics

from .amalgamate import amalgamated
from .depfile import depfile, input_files, unwritable_files
from .embeddable import compile_embeddable, library_names
from .folder import RESERVED, Tree, runtime_tree, source_tree
from .makefile import makefile
from .manifest import manifest
from .program import compile_program
from .write import write_file

BUILT = ("lib", "exe")
_INCLUDED = re.compile(rb"^#include [<\"](dfrt/\w+\.h)[>\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Order:
    """`kinds` beside `lib` and `exe` are texts, which the caller brings. `amalgamate`: the runtime as one file."""

    kinds: tuple[str, ...] = ()
    target: str = "portable"
    amalgamate: bool = False

    @property
    def whole(self) -> bool:
        return not self.kinds

    @property
    def builds(self) -> bool:
        return self.whole or any(kind in BUILT for kind in self.kinds)


def deliver(bundle: Bundle, order: Order, out_dir: Path, texts: Mapping[str, str] | None = None,
            diagnostics: Diagnostics | None = None) -> list[Path]:
    """Builds what is asked for and writes it; the paths. Nothing is written when something is wrong.

    A file that already holds its bytes keeps its time, so that nothing downstream is done twice; but what was built
    is never older than what it was built from, or `make` would build it forever.
    """
    _require_good_name(bundle)
    if "lib" in order.kinds:
        _require_watched(bundle)
    made = _built(bundle, order, diagnostics)
    tree = _tree(bundle, order, texts or {}, made)
    if order.builds:
        tree["manifest.json"] = manifest(bundle, tree, order.target).encode()
        tree[f"{bundle.app}.d"] = depfile(bundle, out_dir, made).encode()
    for name, data in tree.items():
        write_file(out_dir / name, data, mode=0o777 if name == bundle.app or name.endswith(".so") else 0o666)
    _refresh([out_dir / name for name in made], input_files(bundle))
    return [out_dir / name for name in tree]


def output_names(bundle: Bundle, order: Order, texts: Mapping[str, str] | None = None) -> list[str]:
    """What `deliver` would write, without building anything."""
    _require_good_name(bundle)
    tree = _tree(bundle, order, texts or {}, dict.fromkeys(_built_names(bundle, order), b""))
    return [*tree, *(("manifest.json", f"{bundle.app}.d") if order.builds else ())]


def _require_good_name(bundle: Bundle) -> None:
    if bundle.app in RESERVED:
        raise Wrong(f"an app can't be called `{bundle.app}`: its folder needs that name for something else")


def _require_watched(bundle: Bundle) -> None:
    """A library is made by rules of make, CMake and Ninja: none of them may miss that a file has changed."""
    for path in unwritable_files(bundle):
        raise Wrong(f"{path!r} can't stand in a depfile, so a change of it would not be seen: give it a name without "
                    "`;` and line ends")


def _tree(bundle: Bundle, order: Order, texts: Mapping[str, str], made: Tree) -> Tree:
    tree: Tree = {}
    if order.whole or order.amalgamate:
        tree = _sources(bundle, order)
        tree["Makefile"] = makefile(bundle.app, tree, order.target).encode()
    tree |= {name: text.encode() for name, text in texts.items() if name not in tree}
    if "lib" in order.kinds:
        tree |= {"include/dfrt.h": tree["dfrt.h"]} if order.amalgamate else _headers(bundle)
    return tree | made


def _sources(bundle: Bundle, order: Order) -> Tree:
    tree = source_tree(bundle)
    return amalgamated(tree) if order.amalgamate else tree


def _headers(bundle: Bundle) -> Tree:
    """The public APP.h and the runtime's headers that it includes: one folder for the user's include path."""
    known = {name.removeprefix("dfrt/include/"): data for name, data in runtime_tree().items()}
    found: Tree = {f"{bundle.app}.h": bundle.text(f"include/{bundle.app}.h").encode()}
    waiting = list(found.values())
    while waiting:
        for name in (match.decode() for match in _INCLUDED.findall(waiting.pop())):
            if name not in found:
                found[name] = known[name]
                waiting.append(known[name])
    return {f"include/{name}": found[name] for name in sorted(found)}


def _built_names(bundle: Bundle, order: Order) -> list[str]:
    libraries = library_names(bundle.app) if "lib" in order.kinds else ()
    return [*libraries, *((bundle.app,) if order.whole or "exe" in order.kinds else ())]


def _built(bundle: Bundle, order: Order, diagnostics: Diagnostics | None) -> Tree:
    made: Tree = {}
    for name in _built_names(bundle, order):
        folder = compile_program(bundle, order.target, diagnostics).parent if name == bundle.app else \
            compile_embeddable(bundle, order.target, diagnostics)
        made[name] = (folder / name).read_bytes()
    return made


def _refresh(built: list[Path], inputs: list[str]) -> None:
    newest = max((os.stat(path).st_mtime_ns for path in inputs), default=0)
    for path in built:
        if path.stat().st_mtime_ns < newest:
            os.utime(path)
