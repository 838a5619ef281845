"""`dfc run --interpret`: the reference interpreter on the same files, for whoever doubts the compiler."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, Failure, Usage

from .asked import asked
from .checked import checked_program

_SHOWN = 5  # malformed rows of a source that are named; the rest is counted


def interpret(args: Namespace) -> int:
    if args.program_words:
        raise Usage("the interpreter takes no options of the program: leave out what follows `--`")
    program = checked_program(args)
    from dfc.compiler import pipeline
    from dfc.compiler.interpret import MissingColumn, WrongFile, run
    from dfc.compiler.user_library import user_code

    graph = pipeline.learned(pipeline.flow(program), asked(args))
    try:
        results = run(graph, folder=".", user_c=user_code(graph))
    except OSError as error:
        raise Failure(f"can't read {error.filename}: {error.strerror}") from None
    except (MissingColumn, WrongFile) as wrong:
        raise Failure(str(wrong)) from None
    _say_malformed(results)
    for step in program.steps:
        if step.name in results.rows:
            json = step.body.connector.kind == "jsonl"
            _write(step.body.connector, results.json_lines(step.name) if json else results.csv_lines(step.name))
    return GOOD


def _say_malformed(results) -> None:
    for source, rows in results.malformed.items():
        for row in rows[:_SHOWN]:
            print(f"{source}: line {row.line}: {row.reason}", file=sys.stderr)
        if rows:
            print(f"{source}: {len(rows)} malformed rows", file=sys.stderr)


def _write(connector, lines) -> None:
    if connector.kind == "discard":
        return
    if connector.kind not in ("csv", "jsonl"):
        raise Failure(f"the interpreter writes csv and jsonl only, not {connector.kind}")
    text = "".join(f"{line}\n" for line in lines)
    if connector.path == "-":
        sys.stdout.write(text)
        return
    from dfc.compiler.build.write import write_file

    write_file(Path(connector.path), text.encode())
