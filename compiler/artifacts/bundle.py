"""The bundle: everything that code generation wrote for one program, before a C compiler has seen it."""

from __future__ import annotations

from dataclasses import dataclass

from .interface import Interface


@dataclass(frozen=True, slots=True)
class Bundle:
    """`files` are (name relative to the output folder, text), the C among them by its ending.

    `user_sources` are the C files that the program names with `c(…)`; `inputs` every .dfl and .c file that
    was read, the program first (both: paths that can be opened from here). `params` are the values set from outside.
    `interface` is there when the program can be embedded.
    """

    app: str
    files: tuple[tuple[str, str], ...]
    user_sources: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    interface: Interface | None = None

    def text(self, name: str) -> str:
        """The text of one file; a KeyError says that there is none of that name."""
        return dict(self.files)[name]
