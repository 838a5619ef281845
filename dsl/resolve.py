"""Imports and modules: every file that takes part in a program, each once, in dependency order.

Which folders there are is the caller's business: it hands in how to read a file and where modules live.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from . import ast
from .builtins import BUILT_IN_MODULES
from .check_paths import WITHOUT_ZERO_BYTE, ZERO_BYTE
from .diagnostics import Diagnostics, Note
from .span import Span
from .suggest import listing, nearest

_WORD = re.compile(r"[A-Za-z_]\w*")
_DECLARES = re.compile(
    rf"\b(?:stream|source|record|operator|fn|aggregate|param|sink|late\s+to|region)\s+({_WORD.pattern})"
    rf"|\b({_WORD.pattern})\s+(?:when|otherwise)\b")

Read = Callable[[str], "str | None"]


def read_file(path: str) -> str | None:
    """The text of a file, None when it can't be read or is no UTF-8."""
    try:
        with open(path, encoding="utf-8", newline="") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError):
        return None


@dataclass(slots=True)
class Modules:
    """The trees by file, imported ones before their users, and the modules in use."""

    trees: dict[str, ast.Program] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    in_use: set[str] = field(default_factory=set)
    broken: set[tuple[str, int]] = field(default_factory=set)  # (file, line) of declarations that can't be read
    lost: set[str] = field(default_factory=set)  # names that such declarations may have declared
    incomplete: bool = False  # a file could not be read: names may be missing

    def mark_broken(self, file: str, lines: set[int], tree: ast.Program) -> None:
        """Notes what mistakes in the syntax make doubtful: their declarations, and the names that these declare.

        Not to know such a name, or to miss a part of such a declaration, is no second mistake.
        """
        if not lines:
            return
        text = self.texts[file].split("\n")
        self.broken |= {(file, line) for line in lines}
        for decl in tree.declarations:
            # An indented line after the last one that could be read belongs to the declaration too.
            first, last = decl.span.line, decl.span.end_line
            if any(first <= line <= last or line == last + 1 and text[line - 1][:1].isspace() for line in lines):
                self.broken |= {(file, line) for line in range(first, last + 1)}
        on_lines = [word for line in lines for word in _WORD.findall(text[line - 1])]
        declared = [word for pair in _DECLARES.findall(self.texts[file]) for word in pair if word]
        self.lost |= {*on_lines, *declared}

    def declarations(self) -> list[ast.Decl]:
        return [decl for tree in self.trees.values() for decl in tree.declarations]


def load(text: str, file: str, diagnostics: Diagnostics, read: Read, use_path: Mapping[str, str]) -> Modules:
    """The program and all it imports and uses. `use_path` maps the first part of a module's name to a folder."""
    loader = _Loader(diagnostics, read, use_path)
    loader.load(text, file)
    return loader.modules


class _Loader:
    def __init__(self, diagnostics: Diagnostics, read: Read, use_path: Mapping[str, str]):
        self.diagnostics, self.read, self.use_path = diagnostics, read, use_path
        self.modules = Modules()
        self.open: list[str] = []  # the chain of imports on the way

    def load(self, text: str, file: str) -> None:
        from .parser import parse  # the parser brings lark, which takes its time to load

        self.modules.texts[file] = text
        before = len(self.diagnostics.items)
        tree = parse(text, file, self.diagnostics)
        lines = {item.span.line for item in self.diagnostics.items[before:]}
        self.modules.mark_broken(file, lines, tree)
        self.open.append(os.path.normpath(file))
        for decl in tree.declarations:
            if (file, decl.span.line) in self.modules.broken:
                continue
            if isinstance(decl, ast.ImportDecl):
                self._import(decl, file)
            elif isinstance(decl, ast.UseDecl):
                self._use(decl)
        self.open.pop()
        self.modules.trees[file] = tree

    def _import(self, decl: ast.ImportDecl, importer: str) -> None:
        if "\0" in decl.path.value:
            self.modules.incomplete = True
            self.diagnostics.add("E0420", decl.path.span, ZERO_BYTE, expected=WITHOUT_ZERO_BYTE)
            return
        path = os.path.normpath(os.path.join(os.path.dirname(importer), decl.path.value))
        if path in self.open:
            way = " → ".join(f"`{name}`" for name in [*self.open[self.open.index(path):], path])
            self.diagnostics.add("E0108", decl.path.span, f"the files import each other: {way}",
                                 expected="a file that does not need this one")
        elif not self._load_once(path):
            self.modules.incomplete = True
            self.diagnostics.add("E0107", decl.path.span, f"`{path}` can't be read",
                                 expected="a file of UTF-8 text, relative to this one")

    def _use(self, decl: ast.UseDecl) -> None:
        module = ".".join(decl.path)
        built_in = module in BUILT_IN_MODULES
        if built_in:
            self.modules.in_use.add(module)
        folder = self.use_path.get(decl.path[0])
        found = folder is not None and self._load_once(os.path.join(folder, *decl.path[1:]) + ".dfl")
        if not found and not built_in:
            self.modules.incomplete = True
            self._no_module(module, decl.span)

    def _no_module(self, module: str, span: Span) -> None:
        fix = nearest(module, BUILT_IN_MODULES)
        roots = f"; modules are looked for in {listing(sorted(self.use_path))}" if self.use_path else ""
        self.diagnostics.add("E0109", span, f"no module `{module}`", fix=f"use {fix}" if fix else "",
                             expected="" if roots else listing(sorted(BUILT_IN_MODULES)),
                             notes=(Note(f"built in is {listing(sorted(BUILT_IN_MODULES))}{roots}"),) if roots else ())

    def _load_once(self, path: str) -> bool:
        if path in self.modules.trees or path in self.open:
            return True
        text = self.read(path)
        if text is None:
            return False
        self.load(text, path)
        return True
