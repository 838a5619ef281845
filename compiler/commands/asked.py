"""--cores, --profile, --pattern and --plan of the commands that plan."""

from __future__ import annotations

from argparse import Namespace


def asked(args: Namespace):
    """What the user asks of the plan; messages about --pattern show its words."""
    from dfc.compiler.patterns.forced import OPTION
    from dfc.compiler.select.asked import Asked

    words = tuple(args.patterns)
    args.texts = {**(getattr(args, "texts", None) or {}), OPTION: "\n".join(words)}
    return Asked(getattr(args, "cores", None), getattr(args, "profile", None), words, getattr(args, "plan", None))
