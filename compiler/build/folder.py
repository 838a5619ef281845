"""The output folder: generated files, the runtime and the user's C together, so that `make` alone can build it."""

from __future__ import annotations

from pathlib import Path

from dfc.compiler.artifacts.bundle import Bundle

from .user_code import user_files

RESERVED = ("dfrt", "user", "stdlib", "include", "clean", "Makefile")
RUNTIME_PARTS = ("include", "src", "control")

Tree = dict[str, bytes]


def source_tree(bundle: Bundle) -> Tree:
    """Every file of the output folder that the C compiler needs, by its relative name, in a fixed order."""
    tree = {name: text.encode() for name, text in bundle.files}
    tree |= {copied: Path(original).read_bytes() for copied, original in user_files(bundle).items()}
    tree |= runtime_tree()
    return dict(sorted(tree.items()))


def runtime_tree() -> Tree:
    """The runtime's C as it stands in the output folder, below `dfrt/`."""
    found = (path for part in RUNTIME_PARTS for path in (runtime_folder() / part).rglob("*.[ch]"))
    return {f"dfrt/{path.relative_to(runtime_folder()).as_posix()}": path.read_bytes() for path in sorted(found)}


def runtime_folder() -> Path:
    import dfc.runtime_c

    return Path(next(iter(dfc.runtime_c.__path__)))
