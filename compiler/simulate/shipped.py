"""Opens the controllers where they come ready-made with a job, and nothing is built: on the executors of a cluster."""

from __future__ import annotations

import hashlib
import os
import platform
import tempfile

from ..failure import Failure
from .control_library import Controls

_opened: dict[str, Controls] = {}


def open_shipped(library: bytes, declarations: str, machine: str) -> Controls:
    """`machine` is what it was built for, as `platform.machine()` says it. Once in a process."""
    if machine != platform.machine():
        raise Failure(f"the controllers were built for {machine}, and this executor is {platform.machine()}: start dfc "
                      "on a machine like the executors")
    digest = hashlib.sha256(library).hexdigest()
    if digest not in _opened:
        with tempfile.TemporaryDirectory(prefix="dfc-control-") as folder:
            path = os.path.join(folder, "control.so")
            with open(path, "wb") as file:
                file.write(library)
            try:
                _opened[digest] = Controls(path, declarations)  # it stays open when the file is gone
            except OSError as error:
                raise Failure(f"the controllers can't be opened on this executor: {error}") from None
    return _opened[digest]
