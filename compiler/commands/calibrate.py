"""`dfc calibrate`: measures the costs of a program's steps on this machine into a profile file."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import Failure

from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.artifacts.profile import to_json
    from dfc.compiler.calibrate import calibrate
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    program = pipeline.check(text, file, dict(args.defines), diagnostics)
    inputs = tuple(dict.fromkeys((file, *program.files)))
    profile = calibrate(pipeline.flow(program), inputs, args.program_words, args.seconds, diagnostics)
    output = Path(args.output or f"{program.name}.profile.json")
    try:
        output.write_text(to_json(profile), encoding="utf-8")
    except OSError as error:
        raise Failure(f"{output}: {error.strerror}") from None
    print(output, file=sys.stdout)
    return report(diagnostics, args)
