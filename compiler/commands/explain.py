"""`dfc explain`: operators, windows, the chosen layout and why."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from dfc.compiler.failure import GOOD

from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.select.explain import to_text
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    found = pipeline.explain(text, file, dict(args.defines), diagnostics)
    if args.json:
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return GOOD
    sys.stdout.write(to_text(found))
    return report(diagnostics, args)
