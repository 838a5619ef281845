"""`dfc explain`: operators, windows, the chosen layout and why; every pattern with its prediction."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from .asked import asked
from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    found = pipeline.explain(text, file, dict(args.defines), diagnostics, asked(args))
    if args.json:
        sys.stdout.write(json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(found.as_text())
    return report(diagnostics, args, sys.stderr)
