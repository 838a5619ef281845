"""`dfc simulate`: what the patterns would give with more cores than this machine has."""

from __future__ import annotations

import json
import sys
from argparse import Namespace

from dfc.compiler.failure import GOOD

from .asked import asked
from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.select.asked import request_of
    from dfc.compiler.simulate.program import simulate, to_text
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    graph = pipeline.flow(pipeline.check(text, file, dict(args.defines), diagnostics))
    found = simulate(graph, request_of(graph.program, asked(args)), args.keys, args.rate)
    if args.json:
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return GOOD
    sys.stdout.write(to_text(found))
    return report(diagnostics, args)
