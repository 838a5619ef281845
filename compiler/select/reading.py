"""Threads that parse for the reader where a program has threads: which sources have one, how work is shared with it.

As in the runtime (reader.c): what is always ready is parsed ahead, unless it lies in the file as it is used. CSV is
parsed in blocks, by the reader too whenever the next block is not ready; everything else by that thread alone.
"""

from __future__ import annotations

from collections.abc import Collection

from ...dsl import typed
from ...dsl.types import Array, Bool, Float, Int, Record, Symbol, Text, Type

_TEXT = ("csv", "jsonl", "lines")


def parsed_ahead(step: typed.Step) -> bool:
    """As far as the program says it: another source can be given on the command line."""
    if not isinstance(step.body, typed.Source):
        return False
    connector = step.body.connector
    match connector.kind:
        case "generate":
            return not dict(connector.settings).get("paced")
        case "binary":
            return connector.path != "-" and not _is_its_struct(step.record)
    return connector.kind in _TEXT and connector.path != "-"


def in_blocks(step: typed.Step) -> bool:
    """Whether the reader helps to parse."""
    return parsed_ahead(step) and step.body.connector.kind == "csv"


def helping(reader: float, parsers: Collection[float]) -> float:
    """The work of the busiest of these threads when the reader, which has so much of its own, helps the others."""
    level, taken = reader, [reader]
    for work in sorted(parsers, reverse=True):
        if work <= level:
            break
        taken.append(work)
        level = sum(taken) / len(taken)
    return level


def _is_its_struct(record: Record) -> bool:
    """A packed record is the struct that C makes of it: nothing to check, no padding. Large files are then mapped."""
    sizes = [size for field in record.fields for size in _scalars(field.type)]
    offsets = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    return 0 not in sizes and all(offset % size == 0 for offset, size in zip(offsets, sizes, strict=False)) \
        and offsets[-1] % max(sizes) == 0


def _scalars(type_: Type) -> list[int]:
    """Bytes of each; 0 for what not every value of the bytes is one of."""
    match type_:
        case Int(bits=bits) | Float(bits=bits):
            return [bits // 8]
        case Bool() | Symbol() | Text():
            return [0]
        case Array(element=element, size=size):
            return _scalars(element) * size
    return [8]
