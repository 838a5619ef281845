"""Bundle → program: the output folder, the C compiler and its errors, manifest, depfile, cache."""

from .delivery import Order, deliver, output_names
from .program import compile_program

__all__ = ["Order", "compile_program", "deliver", "output_names"]
