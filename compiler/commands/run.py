"""`dfc run`: builds the program, or takes it from the cache, and runs it in the current folder."""

from __future__ import annotations

from argparse import Namespace

from dfc.compiler.failure import Usage

from .asked import asked
from .program_text import read_program
from .report import report


def run(args: Namespace) -> int:
    if args.engine == "spark":
        from .run_spark import run_spark

        return run_spark(args)
    for word in ("stream", "master", "checkpoint", "until", "interval"):
        if getattr(args, word):
            raise Usage(f"--{word} needs --engine spark")
    if not args.interpret:
        return _native(args)
    from .interpret import interpret

    return interpret(args)


def _native(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import build, pipeline
    from dfc.compiler.build.execute import execute
    from dfc.compiler.live.where import log_words, socket_words
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    bundle = pipeline.generate(text, file, dict(args.defines), diagnostics=diagnostics, asked=asked(args))
    program = build.compile_program(bundle, args.target, diagnostics)
    report(diagnostics, args)
    workers = ["--workers", str(args.workers)] if args.workers else []
    where = [*socket_words(bundle.app, bundle.text("control.json"), args.program_words), *log_words(args.log)]
    return execute(program, [*where, *workers, *args.program_words])
