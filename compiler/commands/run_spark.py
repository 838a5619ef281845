"""`dfc run --engine spark`: builds the program's library and runs it over its files on Spark."""

from __future__ import annotations

import logging
import signal
from argparse import Namespace
from contextlib import suppress
from pathlib import Path

from dfc.compiler.failure import GOOD, Usage

from .asked import asked
from .program_text import read_program
from .report import report


def run_spark(args: Namespace) -> int:
    if not args.stream and (args.checkpoint or args.until or args.interval):
        raise Usage("--checkpoint, --until and --interval need --stream")
    if args.interpret or args.log:
        raise Usage(f"{'--interpret' if args.interpret else '--log'} means nothing with --engine spark")
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.build.embeddable import compile_embeddable, library_names
    from dfc.compiler.spark.session import require_spark
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    graph = pipeline.learned(pipeline.flow(pipeline.check(text, file, dict(args.defines))), asked(args))
    bundle = pipeline.generate(text, file, dict(args.defines), embed=True, diagnostics=diagnostics,
                               asked=asked(args), saves=args.stream)
    require_spark()
    folder = compile_embeddable(bundle, args.target, diagnostics, sanitize=False)
    report(diagnostics, args)

    from dfc.compiler.spark.engine import Program, was_interrupted

    try:
        program = Program(graph, bundle.interface, folder / library_names(bundle.app)[1], args.target == "native")
        _go(args, program, bundle)
    except Exception as error:
        raise (KeyboardInterrupt() if was_interrupted(error) else error) from None
    return GOOD


def _go(args: Namespace, program, bundle) -> None:
    from dfc.compiler.spark.engine import require_inputs, run
    from dfc.compiler.spark.local_cluster import own_processes
    from dfc.compiler.spark.session import STANDARD_MASTER, spark_session
    from dfc.compiler.spark.words import read_words, require_known

    words, interface = read_words(args.program_words), program.interface
    require_known(words, [port.name for port in interface.sources], [port.name for port in interface.sinks],
                  interface.alternates)
    if args.stream:
        from dfc.compiler.spark.session import require_streams
        from dfc.compiler.spark.stream import require_stream_inputs

        require_streams()
        require_stream_inputs(program, words)
    elif words.options:
        raise Usage("--option needs --stream")
    else:
        require_inputs(program, words)
    master = args.master or STANDARD_MASTER
    logging.disable(logging.CRITICAL)  # what py4j has to say about an interruption
    with own_processes(master) as memory, spark_session(master, memory) as spark:
        for ending in (signal.SIGINT, signal.SIGTERM):  # the session is stopped, and with it its jobs
            signal.signal(ending, signal.default_int_handler)
        if args.stream:
            _stream(args, program, words, spark, bundle)
        else:
            run(program, words, spark, args.workers)


def _stream(args: Namespace, program, words, spark, bundle) -> None:
    """Ctrl-C is how a stream is stopped: no failure."""
    from dfc.compiler.spark.stream import STOPPED, Stream, run_stream

    own = f"{bundle.app}.c" if bundle.app != "main" else "main_.c"
    stream = Stream(bundle.text(own), Path(args.checkpoint or f"{bundle.app}.checkpoint"), args.until or STOPPED,
                    args.interval or 0.0, args.workers)
    with suppress(KeyboardInterrupt):
        run_stream(program, words, spark, stream)
