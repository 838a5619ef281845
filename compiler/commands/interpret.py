"""`dfc run --interpret`: the reference interpreter on the same files, for whoever doubts the compiler."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, Failure, Usage

from .asked import asked
from .checked import checked_program

_SHOWN = 10  # malformed rows of a source that are named; the rest is counted


def interpret(args: Namespace) -> int:
    if args.program_words:
        raise Usage("the interpreter takes no options of the program: leave out what follows `--`")
    program = checked_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.interpret import MissingColumn, WrongFile, require_own_files, require_sinks, run, sink_files
    from dfc.compiler.user_library import user_code

    require_sinks(program)
    require_own_files(program)
    graph = pipeline.learned(pipeline.flow(program), asked(args))
    try:
        results = run(graph, folder=".", user_c=user_code(graph))
    except OSError as error:
        raise Failure(f"can't read {error.filename}: {error.strerror}") from None
    except (MissingColumn, WrongFile) as wrong:
        raise Failure(str(wrong)) from None
    _say_malformed(results)
    _write(sink_files(program, results))
    return GOOD


def _say_malformed(results) -> None:
    for source, rows in results.malformed.items():
        for row in rows[:_SHOWN]:
            print(f"{source}: line {row.line}: {row.reason}", file=sys.stderr)
        if rows:
            print(f"{source}: {len(rows)} malformed rows", file=sys.stderr)


def _write(files: list[tuple[str, bytes]]) -> None:
    """All of them or none; standard output, which can't be taken back, last."""
    from dfc.compiler.build.write import write_files

    write_files((Path(path), data) for path, data in files if path != "-")
    for path, data in files:
        if path == "-":
            sys.stdout.buffer.write(data)
