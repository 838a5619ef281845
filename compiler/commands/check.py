"""`dfc check`: says what is wrong with a program. Silent when nothing is."""

from __future__ import annotations

from argparse import Namespace

from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler.check import check_text
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    check_text(text, file, diagnostics, dict(args.defines))
    return report(diagnostics, args)
