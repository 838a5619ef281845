"""`dfc check`: says what is wrong with a program. Silent when nothing is."""

from __future__ import annotations

from argparse import Namespace

from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.dsl.diagnostics import Diagnostics
    from dfc.dsl.typecheck import check

    diagnostics = Diagnostics()
    check(text, file, diagnostics, params=dict(args.defines))
    return report(diagnostics, args)
