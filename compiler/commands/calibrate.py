"""`dfc calibrate`: measures the costs of a program's steps on this machine into a profile file."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.artifacts.profile import to_json
    from dfc.compiler.build.write import write_file
    from dfc.compiler.calibrate import calibrate
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    program = pipeline.check(text, file, dict(args.defines), diagnostics)
    inputs = tuple(dict.fromkeys((file, *program.files)))
    try:
        profile = calibrate(pipeline.flow(program), inputs, args.program_words, args.seconds, diagnostics, _told)
    finally:
        _told("")
    output = Path(args.output or f"{program.name}.profile.json")
    write_file(output, to_json(profile).encode())
    print(output, file=sys.stdout)
    return report(diagnostics, args)


def _told(line: str) -> None:
    """On one line of a terminal, in the place of what was told before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line[:150]}", end="", file=sys.stderr, flush=True)
