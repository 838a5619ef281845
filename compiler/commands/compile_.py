"""`dfc compile`: C, header, configuration, manifest, depfile, libraries, the program. An error leaves the folder as it
was."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from .asked import asked
from .program_text import read_program
from .report import report

_FOLDER = "build"


def run(args: Namespace) -> int:
    """Texts alone go to stdout; with a folder, or when something is built, everything goes to files."""
    from dfc.compiler import build, pipeline
    from dfc.compiler.emit import emit, kinds_of
    from dfc.dsl.diagnostics import Diagnostics

    kinds = kinds_of(args.emit.split(","), "--emit") if args.emit else ()
    text, file = read_program(args)
    order, params = build.Order(kinds, args.target, args.amalgamate), dict(args.defines)
    diagnostics = Diagnostics()
    texts = dict(emit(text, file, params, kinds, asked(args), diagnostics)) if kinds else {}
    if not (order.builds or order.amalgamate or args.output or args.print_outputs):
        _print(texts)
        return report(diagnostics, args, sys.stderr)
    diagnostics = Diagnostics()
    bundle = pipeline.generate(text, file, params, embed="lib" in kinds, diagnostics=diagnostics, asked=asked(args))
    folder = Path(args.output or _FOLDER)
    if args.print_outputs:
        _print_names(folder, build.output_names(bundle, order, texts))
        return report(diagnostics, args, sys.stderr)
    build.deliver(bundle, order, folder, texts, diagnostics)
    return report(diagnostics, args)


def _print(texts: dict[str, str]) -> None:
    for name, content in texts.items():
        sys.stdout.write(content if len(texts) == 1 else f"==> {name} <==\n{content}\n")


def _print_names(folder: Path, names: list[str]) -> None:
    for name in names:
        print(folder / name)
