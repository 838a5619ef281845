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
    if args.engine == "spark":
        return _spark(args, text, file, diagnostics)
    found = pipeline.explain(text, file, dict(args.defines), diagnostics, asked(args))
    if args.json:
        sys.stdout.write(json.dumps(found.as_data(), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(found.as_text())
    return report(diagnostics, args, sys.stderr)


def _spark(args: Namespace, text: str, file: str, diagnostics) -> int:
    from dfc.compiler import pipeline
    from dfc.compiler.spark.placement import as_data, as_text, place
    from dfc.compiler.spark.streaming import explained

    graph = pipeline.flow(pipeline.check(text, file, dict(args.defines), diagnostics))
    found = place(graph)
    stream = explained(graph, found)
    data = json.dumps(as_data(graph, found) | {"stream": stream}, indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(data if args.json else f"{as_text(graph, found)}  --stream: {stream}\n")
    return report(diagnostics, args, sys.stderr)
