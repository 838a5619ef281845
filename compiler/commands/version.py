"""`dfc version`: the version of dfc, for scripts and reports."""

from __future__ import annotations

from argparse import Namespace

import dfc
from dfc.compiler.failure import GOOD


def run(args: Namespace) -> int:
    print(f"dfc {dfc.__version__}")
    return GOOD
