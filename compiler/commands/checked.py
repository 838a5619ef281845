"""What every command after `check` begins with: the typed program, or the diagnostics and nothing else."""

from __future__ import annotations

from argparse import Namespace

from .program_text import read_program
from .report import report


def checked_program(args: Namespace):
    """The typed program; its warnings are shown. Raises ProgramError when it is wrong."""
    text, file = read_program(args)
    from dfc.compiler.check import check_text
    from dfc.dsl.diagnostics import Diagnostics, ProgramError

    diagnostics = Diagnostics()
    program = check_text(text, file, diagnostics, dict(args.defines))
    if program is None or diagnostics.failed:
        raise ProgramError(diagnostics)
    report(diagnostics, args)
    return program


def checked_graph(args: Namespace):
    """The dataflow graph of the program."""
    program = checked_program(args)
    from dfc.compiler.graph.build import build_graph

    return build_graph(program)
