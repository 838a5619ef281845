"""`dfc explain`: operators, windows, the chosen layout and why."""

from __future__ import annotations

import sys
from argparse import Namespace

from dfc.compiler.failure import GOOD

from .program_text import read_program


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline

    sys.stdout.write(pipeline.explain(text, file, dict(args.defines)))
    return GOOD
