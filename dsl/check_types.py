"""Types as they are written, records, and what else declarations have in common."""

from __future__ import annotations

import math
import os.path
from collections.abc import Iterable
from typing import TypeVar

from . import ast, typed
from .check_paths import check_path
from .context import Context, unknown
from .diagnostics import Note
from .mistake import WRONG, Mistake
from .suggest import listing
from .types import SCALARS, UNIT_NS, Array, Duration, Field, Record, Text, Timestamp, Type

_PARAMETRIC = ("timestamp", "duration", "text")
_ELSEWHERE = {"string": "symbol", "str": "symbol", "varchar": "text<32>", "char": "text<32>", "double": "f64",
              "float64": "f64", "float32": "f32", "integer": "int", "int32": "i32", "int64": "i64", "long": "i64",
              "short": "i16", "byte": "u8", "boolean": "bool", "datetime": "timestamp<ms>"}  # names of other languages
LONGEST_TEXT = 65535
LARGEST_ARRAY = 8192  # elements in all dimensions: each is a column of a file
WIDEST_ARRAY = 1 << 20  # bytes: tuples are on the stack while they are computed

Named = TypeVar("Named")


def unique(context: Context, items: Iterable[Named], what: str) -> list[Named]:
    """The items without those whose name came before; each of these is reported."""
    first: dict[str, Named] = {}
    for item in items:
        before = first.setdefault(item.name.text, item)
        if before is not item:
            context.report(Mistake("E0112", item.name.span, f"the {what} `{item.name}` is declared twice",
                                   notes=(Note("first here", before.name.span),)))
    return list(first.values())


def resolve_type(context: Context, ref: ast.TypeRef) -> Type:
    """The type that is written; raises when there is none."""
    type_ = _element(context, ref)
    if ref.sizes:
        _require_fitting(ref, type_, math.prod(ref.sizes))
    for size in reversed(ref.sizes):
        type_ = Array(type_, size)
    return type_


def _require_fitting(ref: ast.TypeRef, element: Type, count: int) -> None:
    if not 1 <= count <= LARGEST_ARRAY:
        inside = " in all" if len(ref.sizes) > 1 else ""
        raise Mistake("E0216", ref.span, f"an array of {count} elements{inside}",
                      expected=f"1 to {LARGEST_ARRAY} elements{inside}")
    if isinstance(element, Text) and element.size * count > WIDEST_ARRAY:
        raise Mistake("E0216", ref.span, f"an array of {element.size * count} bytes",
                      expected=f"at most {WIDEST_ARRAY} bytes in all")


def _element(context: Context, ref: ast.TypeRef) -> Type:
    name, argument = ref.name.text, ref.argument
    if name in ("timestamp", "duration"):
        return _time(name, argument, ref)
    if name == "text":
        if not isinstance(argument, int) or not 1 <= argument <= LONGEST_TEXT:
            raise Mistake("E0216", ref.span, "text needs the number of bytes it holds",
                          expected=f"text<N> with N from 1 to {LONGEST_TEXT}",
                          fix="text<32>" if argument is None else "")
        return Text(argument)
    if name in SCALARS:
        if argument is not None:
            raise Mistake("E0216", ref.span, f"{name} takes no argument", expected=name, fix=name)
        return SCALARS[name]
    if name in context.records or ("record", name) in context.places:
        raise Mistake("E0216", ref.span, f"{name} is a record, and a single value is needed here",
                      expected="a scalar type", notes=context.declared_at("record", name))
    mistake = unknown("E0102", ref.name.span, "type", name, [*SCALARS, *_PARAMETRIC])
    mistake.fix = _ELSEWHERE.get(name.lower(), mistake.fix)
    raise mistake


def _time(name: str, argument: str | int | None, ref: ast.TypeRef) -> Type:
    """`duration` alone counts nanoseconds; a timestamp's unit must be written, since data has it."""
    if argument is None and name == "duration":
        return Duration("ns")
    if argument not in UNIT_NS:
        written = "" if argument is None else f": `{argument}` is none"
        raise Mistake("E0216", ref.span, f"{name} needs a unit of time{written}", expected=listing(UNIT_NS),
                      fix=f"{name}<ms>")
    return Timestamp(argument) if name == "timestamp" else Duration(argument)


def type_or_wrong(context: Context, ref: ast.TypeRef) -> Type:
    """The type, or WRONG after its mistake was reported."""
    try:
        return resolve_type(context, ref)
    except Mistake as mistake:
        context.report(mistake)
        return WRONG


def check_record(context: Context, decl: ast.RecordDecl) -> Record:
    """A declared record; a field with a mistake stays in it, with the type WRONG."""
    fields = unique(context, decl.fields, "field")
    if not fields:
        context.report(Mistake("E0216", decl.name.span, f"the record {decl.name} has no fields",
                               expected="at least one"))
    return Record(decl.name.text, tuple(Field(f.name.text, type_or_wrong(context, f.type)) for f in fields))


def c_function(context: Context, node: ast.CFunction, of_window: bool = False) -> typed.CFunction:
    """User code in C. Its file, relative to the .dfl file, is remembered for the depfile. Only `of_window`, an
    alternate over a window, has a second function."""
    path, name = node.path.value, node.name.value
    if not path:
        context.report(Mistake("E0403", node.path.span, "the C file has no name", expected='c("file.c", "function")'))
    with context.reporting():
        check_path(path, node.path.span)
    for part in (node.name, *((node.merge,) if node.merge else ())):
        if not part.value.isidentifier() or not part.value.isascii():
            context.report(Mistake("E0403", part.span, f"`{part.value}` is no name of a C function",
                                   expected="letters, digits and _"))
    if node.merge and not of_window:
        context.report(Mistake("E0329", node.merge.span, "there are no panes to merge",
                               expected='c("file.c", "function"), or an alternate of an operator with a window'))
    if node.merge and node.merge.value == name:
        context.report(Mistake("E0329", node.merge.span, f"`{name}` can't be both functions",
                               expected="one function for a pane, another that merges"))
    context.c_files[os.path.normpath(os.path.join(os.path.dirname(node.span.file), path))] = None
    return typed.CFunction(path, name, node.span, node.merge.value if node.merge else "")
