"""`dfc.compile`: a program's text built into a folder, with the answer that a Python program can go on with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .failure import Usage


@dataclass(frozen=True, slots=True)
class Compiled:
    """The paths that were written, by their names in the folder, the manifest, and the warnings."""

    app: str
    folder: Path
    outputs: Mapping[str, Path]
    manifest: Mapping[str, object]
    diagnostics: tuple

    @property
    def program(self) -> Path | None:
        return self.outputs.get(self.app)

    @property
    def libraries(self) -> tuple[Path, ...]:
        return tuple(path for name, path in self.outputs.items() if name in (f"lib{self.app}.a", f"lib{self.app}.so"))

    @property
    def header(self) -> Path | None:
        return self.outputs.get(f"include/{self.app}.h") or self.outputs.get(f"{self.app}.h")


def compile_to(text: str, file: str, output: str | Path, target: str, params: Mapping[str, str],
               wanted: Iterable[str], amalgamate: bool) -> Compiled:
    from dfc.dsl.diagnostics import Diagnostics

    from . import build, pipeline
    from .build.toolchain import require_target
    from .emit import emit, kinds_of

    kinds = kinds_of(_words(wanted), "emit")
    require_target(target)
    order, diagnostics, folder = build.Order(kinds, target, amalgamate), Diagnostics(), Path(output)
    texts = dict(emit(text, file, params, kinds)) if kinds else {}
    bundle = pipeline.generate(text, file, params, embed="lib" in kinds, diagnostics=diagnostics)
    paths = build.deliver(bundle, order, folder, texts, diagnostics)
    written = {path.relative_to(folder).as_posix(): path for path in paths}
    manifest = json.loads(written["manifest.json"].read_text()) if "manifest.json" in written else {}
    return Compiled(bundle.app, folder, written, manifest, tuple(diagnostics.sorted()))


def _words(wanted: Iterable[str]) -> list[str]:
    """A text is an iterable too, of its letters."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise Usage(f"emit: expected a tuple of words, such as ('lib',), got {wanted!r}")
    return list(wanted)
