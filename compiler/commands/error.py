"""`dfc error`: what a diagnostic means, with a wrong and a right program."""

from __future__ import annotations

import textwrap
from argparse import Namespace

from dfc.compiler.failure import GOOD, Usage


def run(args: Namespace) -> int:
    codes = all_codes()
    if args.code is None:
        print("\n".join(f"{name}  {code.title}" for name, code in codes.items()))
        return GOOD
    name = args.code.upper()
    if name not in codes:
        raise Usage(f"there is no diagnostic {args.code}{_near(name, codes)}; `dfc error` lists them all")
    print(_page(name, codes[name]))
    return GOOD


def all_codes() -> dict:
    """Every code by name, whichever stage gives it."""
    from dfc.compiler.build.codes import BUILD_CODES
    from dfc.compiler.graph.runnable import RUNNABLE_CODES
    from dfc.compiler.patterns.codes import PATTERN_CODES
    from dfc.dsl.codes import CODES

    return dict(sorted({**CODES, **RUNNABLE_CODES, **PATTERN_CODES, **BUILD_CODES}.items()))


def _near(name: str, codes: dict) -> str:
    """`; there is E0101, E0102`: for a slip of the finger, or a number without its letter."""
    import difflib

    wanted = f"E{name.zfill(4)}" if name.isdigit() else name
    near = [wanted] if wanted in codes else difflib.get_close_matches(wanted, codes, n=3, cutoff=0.7)
    return f"; there is {', '.join(near)}" if near else ""


def _page(name: str, code) -> str:
    parts = [f"{name}: {code.title}", textwrap.fill(" ".join(code.explanation.split()), 100)]
    for label, example in (("Wrong:", code.wrong), ("Right:", code.right)):
        if example:
            parts.append(f"{label}\n\n{textwrap.indent(textwrap.dedent(example).strip(), '    ')}")
    return "\n\n".join(parts)
