"""Writes docs/STDLIB.md from the sources of the standard library: python docs/stdlib_page.py"""

from __future__ import annotations

import re
from pathlib import Path

from dfc.dsl.builtins import SCALAR_FUNCTIONS, ScalarSignature

ROOT = Path(__file__).resolve().parent.parent
_RESULTS = {"int": "i64", "real": "f64", "hash": "u64", "bool": "bool", "keep": "the type of t",
            "pieces": "a sequence of texts"}
_DECLARATION = re.compile(r"^(?:aggregate|fn) (\w+\([^)]*\) -> [\w<>]+)")


def page() -> str:
    parts = ["# The standard library\n\nWritten from its sources by `docs/stdlib_page.py`; a test keeps it so.\n",
             _built_in("std.text", "Strings. Both symbols and texts are taken; `length` needs no `use`."),
             _built_in("std.time", "Parts of a timestamp of any unit, in UTC.")]
    return "\n".join(parts + [_module(path) for path in sorted((ROOT / "stdlib").glob("*.dfl"))])


def _built_in(module: str, about: str) -> str:
    rows = [_row(f"{signature} -> {_RESULTS[signature.result]}", signature.doc)
            for signature in _functions(module)]
    return _section(module, about, rows)


def _functions(module: str) -> list[ScalarSignature]:
    return [signature for signature in SCALAR_FUNCTIONS.values() if signature.module == module]


def _module(path: Path) -> str:
    """The comment above each declaration is its description; the one at the top is the module's."""
    blocks = [block.split("\n") for block in path.read_text(encoding="utf-8").split("\n\n")]
    about = _comment(blocks[0])
    rows = []
    for block in blocks:
        found = [match[1] for match in map(_DECLARATION.match, block) if match]
        rows += [_row(signature, _comment(block)) for signature in found]
    return _section(f"std.{path.stem}", about, rows)


def _comment(lines: list[str]) -> str:
    return " ".join(line.removeprefix("//").strip() for line in lines if line.startswith("//")).strip()


def _row(signature: str, about: str) -> str:
    return f"| `{signature}` | {about.replace('|', chr(92) + '|')} |"


def _section(title: str, about: str, rows: list[str]) -> str:
    return "\n".join((f"## {title}\n\n{about}\n\n| function | meaning |\n| --- | --- |", *rows, ""))


if __name__ == "__main__":
    (ROOT / "docs" / "STDLIB.md").write_text(page(), encoding="utf-8")
