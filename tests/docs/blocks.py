"""The code blocks of a page, read by the words after their fence.

    ```dfl                      a program: it is checked and C is generated for it
    ```dfl prelude              lines that every fragment after it stands behind
    ```dfl fragment             declarations that are checked, and C generated, behind the prelude
    ```dfl fragment stops E0803 right for the checker, but asking to run it gives that code
    ```dfl wrong E0123          checking it behind the prelude gives that error and no other
    ```dfl values               `expression → value` a line, computed for the one tuple of the values' source
    ```csv in NAME              a file of the next program;  ```c in NAME, ```dfl in NAME likewise
    ```csv given NAME           a file of the program before it
    ```csv out NAME             what the program before it writes there, exactly
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\S[^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block; `words` are those of its fence, the language first."""

    page: str
    line: int
    words: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def code(self) -> str:
        """The code of a diagnostic that the fence names."""
        return self.words[-1]


@dataclass
class Program:
    """A complete program with its input files and what it must write."""

    block: Block
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.block)


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [Block(page, text.count("\n", 0, match.start()) + 1, tuple(match[1].split()), match[2])
            for match in _BLOCK.finditer(text)]


def of_kind(page: str, *kinds: str) -> list[Block]:
    """The blocks of a language whose second word is one of the kinds."""
    return [block for block in blocks(page) if block.words[0] == "dfl" and block.words[1:2] and block.words[1] in kinds]


def prelude(page: str) -> str:
    return "".join(block.text for block in of_kind(page, "prelude"))


def programs(page: str) -> list[Program]:
    return list(_programs(blocks(page)))


def _programs(all_blocks: list[Block]) -> Iterator[Program]:
    """A file belongs to the program after it, or to the one before it: the words of its fence say so."""
    waiting: dict[str, str] = {}
    current: Program | None = None
    for block in all_blocks:
        if block.words == ("dfl",):
            current = Program(block, waiting)
            waiting = {}
            yield current
        elif block.words[1:2] == ("in",):
            waiting[block.words[2]] = block.text
        elif block.words[1:2] == ("given",) and current is not None:
            current.inputs[block.words[2]] = block.text
        elif block.words[1:2] == ("out",) and current is not None:
            current.outputs[block.words[2]] = block.text
