"""Statements that store the values of `{ … }` into a record, each with the line of the program it comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass

from ...dsl import typed
from ...dsl.span import Span
from .expressions import Scope, c_store
from .names import c_string, identifier


@dataclass(frozen=True)
class Statement:
    line: int
    file: str  # quoted
    code: str


def quoted_file(span: Span) -> str:
    """Only the file's own name: the same program gives the same C wherever it lies."""
    return c_string(os.path.basename(span.file))


def stores(construct: typed.Construct, target: str, scope: Scope) -> tuple[Statement, ...]:
    """`target` is `out.` or `out->`."""
    return tuple(Statement(value.span.line, quoted_file(value.span),
                           c_store(f"{target}{identifier(field.name)}", field.type, value, scope))
                 for field, value in zip(construct.record.fields, construct.values, strict=True))
