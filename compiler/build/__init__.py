"""Bundle → program: the output folder, the C compiler and its errors, manifest, depfile, cache."""

from .folder import write_bundle
from .program import compile_program

__all__ = ["compile_program", "write_bundle"]
