"""A program as a Python object: arrays go in, arrays come out, the generated code does the work in this process.

    program = dfc.load("app.dfl")
    results = program.run(quotes=array)["forecasts"]

The library is built once and kept in the cache; cffi calls it, without the GIL. A Program can be used from many
threads at once: each run is an instance of its own.
"""

from __future__ import annotations

from .columns import BadData
from .instance import RunFailed, Stream
from .program import Program, load
from .rows import Rows
from .strings import Symbols

__all__ = ["BadData", "Program", "Rows", "RunFailed", "Stream", "Symbols", "load"]
