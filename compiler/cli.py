"""The `dfc` command: reads the words, calls one of `commands/`, and turns every ending into an exit code."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from dfc.compiler.command_line import make_parser
from dfc.compiler.failure import FAILED, INTERRUPTED, PIPE_CLOSED, USAGE, Failure


def main(argv: list[str] | None = None) -> int:
    """Runs one command. No traceback reaches a user: DFC_DEBUG=1 asks for it."""
    try:
        return _flushed(_run(sys.argv[1:] if argv is None else argv))
    except Failure as failure:
        print(f"dfc: {failure}", file=sys.stderr)
        return failure.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except Exception as error:  # the last line of defence: everything expected is caught above
        return _unexpected(error)


def _run(argv: list[str]) -> int:
    words, program_words = split_words(argv)
    parser = make_parser()
    args, unknown = parser.parse_known_args(words)
    if unknown:
        takes = args.command in ("run", "calibrate")
        hint = "; words for the program itself stand behind `--`, as in `-- --source NAME=csv:FILE`" if takes else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    args.program_words = program_words
    command = importlib.import_module(f"dfc.compiler.commands.{args.module}")
    try:
        return command.run(args)
    except Exception as error:
        return _program_error(error, args)


def _program_error(error: Exception, args: argparse.Namespace) -> int:
    """Diagnostics that a stage raised are shown like those that it collected; anything else goes on up."""
    from dfc.dsl.diagnostics import ProgramError

    if not isinstance(error, ProgramError):
        raise error
    from dfc.compiler.commands.report import report

    return report(error.diagnostics, args)


def split_words(argv: list[str]) -> tuple[list[str], list[str]]:
    """`run app.dfl -- --stats`: what follows the first `--` belongs to the program that is run."""
    if argv[:1] in (["run"], ["calibrate"]) and "--" in argv:
        at = argv.index("--")
        return argv[:at], argv[at + 1:]
    return argv, []


def _flushed(code: int) -> int:
    """A full disk or a closed pipe shows at the last flush: better here than in the interpreter's exit."""
    sys.stdout.flush()
    return code


def _forget_stdout() -> None:
    """Python flushes stdout once more at exit; without this it would complain about the closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _unexpected(error: Exception) -> int:
    if os.environ.get("DFC_DEBUG"):
        raise error
    if isinstance(error, OSError) and error.filename is None and error.strerror:
        print(f"dfc: {error.strerror}", file=sys.stderr)
        return FAILED
    what = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    print(f"dfc: internal error ({what}); please report it with the program; DFC_DEBUG=1 shows where", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main())
