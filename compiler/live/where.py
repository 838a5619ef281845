"""Where a program that `dfc run` starts answers and writes its log: words for its command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from dfc.compiler.failure import Failure
from dfc.compiler.report.log import LOG_NAME, STATS_NAME

from .client import Client

FOLDER = "build"  # as `dfc compile` has it, so that the socket lies in the same place either way


def socket_words(app: str, control: str, given: Sequence[str]) -> list[str]:
    """build/APP.sock for a program that is controlled, unless its words say where. Where that can't be, none is made:
    nobody asked for one."""
    if not _is_controlled(control) or any(word.partition("=")[0] in ("--socket", "--no-socket") for word in given):
        return []
    path = Path(FOLDER) / f"{app}.sock"
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError:
        return ["--no-socket"]
    if not os.access(path.parent, os.W_OK | os.X_OK) or _is_taken(path):
        return ["--no-socket"]
    return ["--socket", str(path)]


def _is_controlled(control: str) -> bool:
    return any(one["policy"] != "off" for one in json.loads(control)["operators"])


def _is_taken(path: Path) -> bool:
    """Another run of the program has it; that of one that was killed is free."""
    try:
        with Client(str(path)):
            print(f"dfc: another run answers on `{path}`; this one has no socket (`-- --socket PATH` gives it one)",
                  file=sys.stderr)
            return True
    except Failure:
        return path.exists() and not path.is_socket()


def log_words(folder: str | None) -> list[str]:
    """A new folder, or one that has been used before; `dfc report` reads it."""
    if folder is None:
        return []
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"can't make the folder `{folder}`: {error.strerror}") from None
    return ["--log", str(Path(folder) / LOG_NAME), f"--stats={Path(folder) / STATS_NAME}"]
