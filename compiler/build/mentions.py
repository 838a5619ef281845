"""Where the user's files speak of a C function, for mistakes that the linker finds, which knows no lines."""

from __future__ import annotations

import os
import re

from dfc.compiler.artifacts.bundle import Bundle
from dfc.dsl.span import Span

from .user_code import user_files

_OF_AGGREGATES = ("_add", "_combine", "_lower")
_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_BEFORE_A_DECLARATOR = re.compile(r"(?P<word>\w+)[\s*]*$")


def in_program(name: str, bundle: Bundle) -> Span | None:
    """Where the program says `"name"`, as in c("file.c", "name"); the functions of an aggregate share one."""
    short = [name.removesuffix(end) for end in _OF_AGGREGATES if name.endswith(end)]
    for path in (path for path in bundle.inputs if path.endswith(".dfl")):
        for number, line in enumerate(text_of(path).split("\n"), 1):
            for word in (name, *short):
                column = line.find(f'"{word}"')
                if column >= 0:
                    return Span(path, number, column + 1, number, column + len(word) + 3)
    return None


def in_c(name: str, bundle: Bundle) -> Span | None:
    """Where the user's C calls or defines it, else where it speaks of it at all."""
    found = [(path, text, match.start()) for path in user_files(bundle).values() for text in [_code(path)]
             for match in re.finditer(rf"\b{re.escape(name)}\b", text)]
    best = next((one for one in found if not _declares(*one[1:], name)), found[0] if found else None)
    return _span(*best, name) if best else None


def _declares(text: str, at: int, name: str) -> bool:
    """`extern int name(int);`, which says neither what it is nor who needs it."""
    before = _BEFORE_A_DECLARATOR.search(text[max(0, at - 200):at])
    rest = re.match(r"\s*\([^;{}]*\)\s*;", text[at + len(name):])
    return bool(before and rest and before["word"] not in ("return", "else", "do"))


def _span(path: str, text: str, at: int, name: str) -> Span:
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return Span(os.path.relpath(path), line, column, line, column + len(name))


def _code(path: str) -> str:
    """The file with blanks for comments and strings."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text_of(path))


def text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
