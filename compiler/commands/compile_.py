"""`dfc compile`: C, header, configuration, manifest, depfile and the program. An error leaves the folder as it was."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, Usage

from .program_text import read_program
from .report import report

EMITTED = ("ast", "graph", "plan", "c", "control")


def run(args: Namespace) -> int:
    return _emit(args) if args.emit else _build(args)


def _build(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import build, pipeline
    from dfc.dsl.diagnostics import Diagnostics

    bundle = pipeline.generate(text, file, dict(args.defines))
    diagnostics = Diagnostics()
    program = build.compile_program(bundle, args.target, diagnostics)
    build.write_bundle(bundle, Path(args.output or "build"), args.target, program)
    return report(diagnostics, args)


def _emit(args: Namespace) -> int:
    """Prints the chosen artefacts in the order of the pipeline, or writes them as DIR/APP.KIND."""
    wanted = _kinds(args.emit)
    text, file = read_program(args)
    from dfc.compiler import pipeline

    emitted = pipeline.emit(text, file, dict(args.defines), wanted)
    for name, content in emitted:
        _deliver(name, content, args, alone=len(emitted) == 1)
    return GOOD


def _kinds(words: str) -> tuple[str, ...]:
    named = words.split(",")
    unknown = [word for word in named if word not in EMITTED]
    if unknown:
        raise Usage(f"--emit {unknown[0]}: there is {', '.join(EMITTED)}")
    return tuple(kind for kind in EMITTED if kind in named)


def _deliver(name: str, content: str, args: Namespace, alone: bool) -> None:
    if args.output:
        from dfc.compiler.build.write import write_file

        write_file(Path(args.output) / name, content.encode())
    else:
        sys.stdout.write(content if alone else f"==> {name} <==\n{content}\n")
