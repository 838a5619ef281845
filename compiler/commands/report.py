"""Shows diagnostics: as text with the line and a marker on stderr, or as lines of JSON on stdout."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import TextIO

from dfc.compiler.failure import GOOD, WRONG
from dfc.dsl.diagnostics import Diagnostics


class Sources(Mapping[str, str]):
    """The texts of the files that diagnostics speak of, read when one is shown."""

    def __init__(self, known: Mapping[str, str] | None = None):
        self.known = dict(known or {})

    def __getitem__(self, name: str) -> str:
        if name not in self.known:
            self.known[name] = self._read(name)
        return self.known[name]

    def _read(self, name: str) -> str:
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def report(diagnostics: Diagnostics, args: Namespace, json: TextIO | None = None) -> int:
    """Prints them all; the exit code is 1 if one of them is an error. `json` is where lines of JSON go when something
    else is on stdout."""
    from dfc.dsl.render import render, to_json

    if args.json:
        (json or sys.stdout).writelines(to_json(item) + "\n" for item in diagnostics.sorted())
    elif diagnostics.items:
        sys.stdout.flush()
        sys.stderr.write(render(diagnostics, Sources(getattr(args, "texts", None)), colour=wants_colour(sys.stderr)))
    return WRONG if diagnostics.failed else GOOD


def wants_colour(stream) -> bool:
    """Only on a terminal that can show it, and never against NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
