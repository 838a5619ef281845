"""`dfc report`: one page about a run, or several, from their decision logs; the figures go to stdout."""

from __future__ import annotations

import json
import math
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from dfc.compiler.failure import GOOD, Failure
from dfc.compiler.report.chart import PICTURE
from dfc.compiler.report.curves import curves
from dfc.compiler.report.log import Run, read_runs
from dfc.compiler.report.page import figures_cells, figures_rows, page


def run(args: Namespace) -> int:
    runs = read_runs(args.run)
    place = Path(args.run)
    target = args.output or (place / "report.html" if place.is_dir() else place.with_suffix(".html"))
    _write(target, page(runs))
    if args.picture:
        _write(args.picture, curves(runs[0], PICTURE))
    sys.stdout.write(_as_json(runs) if args.json else f"{_as_text(runs)}{target}\n")
    return GOOD


def _write(target: str | Path, text: str) -> None:
    """Whoever looks sees the old page or the whole new one."""
    beside = Path(f"{target}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise Failure(f"can't write `{target}`: {error.strerror}") from None


def _as_text(runs: Sequence[Run]) -> str:
    head, *rows = figures_cells(runs)
    if not rows:
        return "no operator of this program can be controlled\n"
    lines = []
    for row in rows:
        names = len(head) - len(_numbers(head))
        lines.append(" ".join(row[:names]))
        lines += [f"  {name:22} {cell}" for name, cell in zip(head[names:], row[names:], strict=True)]
    return "".join(f"{line}\n" for line in lines)


def _numbers(head: Sequence[str]) -> Sequence[str]:
    return [name for name in head if name not in ("run", "operator")]


def _as_json(runs: Sequence[Run]) -> str:
    rows = [{"run": name, "operator": operator, **_known(asdict(found)), **_known({"prediction_error": error})}
            for name, operator, found, error in figures_rows(runs)]
    return json.dumps(rows, indent=2, ensure_ascii=False) + "\n"


def _known(figures: dict) -> dict:
    """JSON has no NaN."""
    return {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in figures.items()}
