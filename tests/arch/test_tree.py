"""What holds for every file of the project: sizes, and nothing of the machine it was written on."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
WRITTEN = (".py", ".c", ".h", ".lark", ".j2", ".dfl", ".md", ".toml", ".sh", "")
SKIPPED = {".git", ".venv", "dist", "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache"}
MAX_LINES = 500
_OPENING = re.compile(r'(#!.*\n)?r?"""')

# Spelled in two parts so that this file does not hold them itself.
MACHINE_PATHS = re.compile("|".join((r"/wo" r"rk/", r"/ro" r"ot\b", r"/ho" r"me/\w", r"/Us" r"ers/\w")))


def files() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*")) if path.suffix in WRITTEN and path.is_file() and is_ours(path)]


def is_ours(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return not SKIPPED & set(parts) and parts[0] != "build" and not any(part.endswith(".egg-info") for part in parts)


def test_no_file_becomes_the_project():
    long = {str(path.relative_to(ROOT)): lines for path in files() if path.suffix in (".py", ".c", ".h", ".lark", ".j2")
            if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES}
    assert not long


def test_nothing_of_the_machine_it_was_written_on():
    found = [f"{path.relative_to(ROOT)}:{number}: {line.strip()}" for path in files()
             for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
             if MACHINE_PATHS.search(line)]
    assert not found, "\n".join(found)


def test_every_python_module_says_what_it_is_for():
    texts = {path: path.read_text(encoding="utf-8") for path in files() if path.suffix == ".py"}
    silent = [path for path, text in texts.items() if text.strip() and not _OPENING.match(text)]
    assert not [str(path.relative_to(ROOT)) for path in silent]
