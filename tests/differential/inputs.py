"""Random input files: few or many keys, skew, disorder, equal times, every kind of malformed row.

How the data looks is drawn by Hypothesis, so that it shrinks; the rows themselves come from a seed.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.differential.expressions import STRINGS, Column

BOUNDS = {f"i{bits}": (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)} | \
         {f"u{bits}": (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)}
AWKWARD = ("x,y", 'say "hi"', "two\nlines", " padded ", "ünï", "\r")
SPECIAL = ("nan", "inf", "-inf", "-0.0")


@dataclass(frozen=True)
class Shape:
    """What the rows of one source look like. Times advance by up to `step` and fall back by up to `disorder`."""

    seed: int
    rows: int
    keys: int
    skewed: bool
    step: int
    disorder: int
    origin: int
    awkward: bool
    malformed: float
    layout: str


def shapes(most_rows: int, usual: bool) -> st.SearchStrategy[Shape]:
    """`usual`: enough rows that most steps have something to do."""
    rows = st.integers(most_rows // 2, most_rows) if usual else st.sampled_from((0, 1, 2, 5, 12, 30, most_rows))
    return st.builds(
        Shape, seed=st.integers(0, 1 << 30), rows=rows, keys=st.sampled_from((2, 1, 5, 40)), skewed=st.booleans(),
        step=st.sampled_from((4, 1, 0, 20, 300)), disorder=st.sampled_from((0, 0, 6, 50)),
        origin=st.sampled_from((0, 0, -400, 1_700_000_000_000)), awkward=st.booleans(),
        malformed=st.sampled_from((0.0, 0.0, 0.1) if usual else (0.0, 0.2, 0.6)),
        layout=st.sampled_from(("plain", "plain", "crlf", "quoted", "bom", "unfinished", "blank", "extra", "unclosed")))


def csv_bytes(columns: list[Column], time: str | None, shape: Shape) -> bytes:
    """A file with these columns; `time` names the one that holds the event time."""
    rng = random.Random(shape.seed)
    names = [column.name for column in columns]
    rows = [[_field(value, shape) for value in row] for row in _rows(columns, time, shape, rng)]
    rows = [_spoilt(row, columns, rng) if rng.random() < shape.malformed else b",".join(row) for row in rows]
    header = ",".join(names).encode()
    if shape.layout == "extra":
        header, rows = b"more," + header, [b"?," + row for row in rows]
    return _laid_out([header, *rows], shape.layout, rng)


def lines_bytes(shape: Shape) -> bytes:
    """A file for `lines`: words between single blanks."""
    rng = random.Random(shape.seed)
    words = ["a", "b", "ab", "é", ""]
    rows = [" ".join(rng.choice(words) for _ in range(rng.randrange(5))).encode() for _ in range(shape.rows)]
    rows = [b"\xff bad" if rng.random() < shape.malformed else row for row in rows]
    return _laid_out(rows, "plain" if shape.layout in ("quoted", "blank", "extra", "unclosed") else shape.layout, rng)


def jsonl_bytes(columns: list[Column], time: str | None, shape: Shape) -> bytes:
    """A file of one object a line; members in another order where the layout is `quoted`, more of them for `extra`."""
    rng = random.Random(shape.seed)
    lines = []
    for row in _rows(columns, time, shape, rng):
        members = [f"{json.dumps(column.name)}: {_json(value, column.type)}"
                   for column, value in zip(columns, row, strict=True)]
        members += ['"more": [1, {"a": null}]'] if shape.layout == "extra" else []
        line = "{" + ", ".join(reversed(members) if shape.layout == "quoted" else members) + "}"
        twice = "{" + ", ".join([*members, members[0]]) + "}"
        wrong = (line[:-1], "[]", "{}", twice, line.replace(": ", ": [", 1), line + "1")
        lines.append((rng.choice(wrong) if rng.random() < shape.malformed else line).encode())
    return _laid_out(lines, "plain" if shape.layout == "unclosed" else shape.layout, rng)


def _json(value: str, type_: str) -> str:
    string = type_ == "symbol" or type_.startswith("text") or value in ("nan", "inf", "-inf")
    return json.dumps(value, ensure_ascii=len(value) % 2 == 0) if string else value


def binary_bytes(columns: list[Column], time: str | None, shape: Shape) -> tuple[bytes, bytes]:
    """Packed records, some with a bool or a symbol that there is not, and the symbols."""
    rng = random.Random(shape.seed)
    symbols: dict[str, int] = {}
    layout = struct.Struct("<" + "".join(_code(column.type) for column in columns))
    rows = [[_packed(value, column.type, symbols, rng.random() < shape.malformed)
             for column, value in zip(columns, row, strict=True)] for row in _rows(columns, time, shape, rng)]
    data = b"".join(layout.pack(*row) for row in rows)
    names = "".join('"' + text.replace('"', '""') + '"\n' for text in symbols)
    return data[:-1] if shape.layout == "unfinished" else data, names.encode()


def _code(type_: str) -> str:
    if type_.startswith("text"):
        return f"{type_.removeprefix('text<').removesuffix('>')}s"
    return {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "f32": "f",
            "f64": "d", "bool": "B", "symbol": "I"}.get(type_, "q")


def _packed(value: str, type_: str, symbols: dict[str, int], wrong: bool) -> int | float | bytes:
    if type_.startswith("text"):
        return value.encode()
    if type_ == "symbol":
        return symbols.setdefault(value, len(symbols)) + 1000 * wrong
    if type_ == "bool":
        return 2 if wrong else value == "true"
    return float(value) if type_ in ("f32", "f64") else int(value)


def _laid_out(lines: list[bytes], layout: str, rng: random.Random) -> bytes:
    end = b"\r\n" if layout == "crlf" else b"\n"
    if layout == "blank":
        lines = [line for each in lines for line in ([each, b""] if rng.random() < 0.3 else [each])]
    data = b"".join(line + end for line in lines)
    if layout == "unclosed":
        data += b'"never closed' + end + b"1" + end
    if layout == "unfinished":
        data = data.removesuffix(end)
    return b"\xef\xbb\xbf" + data if layout == "bom" else data


# --- values -----------------------------------------------------------------------------------------


def _rows(columns: list[Column], time: str | None, shape: Shape, rng: random.Random) -> list[list[str]]:
    now, rows = shape.origin, []
    for _ in range(shape.rows):
        now += rng.randint(0, shape.step)
        moment = now - rng.randint(0, shape.disorder) if rng.random() < 0.5 else now
        rows.append([str(moment) if column.name == time else _value(column.type, shape, rng) for column in columns])
    return rows


def _value(type_: str, shape: Shape, rng: random.Random) -> str:
    key = min(rng.randrange(shape.keys), rng.randrange(shape.keys)) if shape.skewed else rng.randrange(shape.keys)
    match type_.split("<")[0]:
        case "bool":
            return rng.choice(("true", "false"))
        case "symbol" | "text":
            return _string(key, shape, type_, rng)
        case "f32" | "f64":
            return rng.choice(SPECIAL) if shape.awkward and rng.random() < 0.1 else str(rng.randint(-800, 800) / 8)
        case "timestamp":
            return str(shape.origin + rng.randint(-50, 500))
    low, high = BOUNDS[type_]
    if shape.awkward and rng.random() < 0.15:
        return str(rng.choice((low, high, high - 1, 0)))
    return str(key - 2 if low < 0 else key)


def _string(key: int, shape: Shape, type_: str, rng: random.Random) -> str:
    text = rng.choice(AWKWARD) if shape.awkward and rng.random() < 0.2 else \
        STRINGS[key] if key < len(STRINGS) else f"k{key}"
    size = int(type_.removeprefix("text<").removesuffix(">")) if type_.startswith("text") else 99
    return text.encode()[:size].decode(errors="ignore")


def _field(text: str, shape: Shape) -> bytes:
    needed = any(c in text for c in ',"\r\n')
    text = '"' + text.replace('"', '""') + '"' if needed or shape.layout == "quoted" else text
    return text.encode()


# --- malformed rows ---------------------------------------------------------------------------------


def _spoilt(row: list[bytes], columns: list[Column], rng: random.Random) -> bytes:
    """A row that does not fit, in one of many ways."""
    at = rng.randrange(len(row))
    choices: list[Callable[[], list[bytes]]] = [
        lambda: row[:-1] or [b"x", b"y"], lambda: [*row, b"more"], lambda: _with(row, at, b"\xff\xfe"),
        lambda: _with(row, at, b'a"b'), lambda: _with(row, at, b'"a"b'),
        lambda: _with(row, at, _wrong(columns[at], rng))]
    return b",".join(rng.choice(choices)())


def _with(row: list[bytes], at: int, value: bytes) -> list[bytes]:
    return [*row[:at], value, *row[at + 1:]]


def _wrong(column: Column, rng: random.Random) -> bytes:
    type_ = column.type.split("<")[0]
    if type_ == "text":
        return b"x" * 300
    if type_ == "symbol":
        return b"\xc3("
    if type_ == "bool":
        return rng.choice((b"", b"True", b"1", b" true"))
    if type_ in ("f32", "f64"):
        return rng.choice((b"", b"+1", b"1e", b" 1.0", b"1.0 ", b"0x10", b"NaN", b"infinity", b"--1", b".", b"1_0"))
    low, high = BOUNDS.get(type_, BOUNDS["i64"])
    beyond = (str(low - 1).encode(), str(high + 1).encode(), b"9" * 40)
    return rng.choice((b"", b"+1", b"1.0", b" 1", b"1 ", b"-", b"1e3", b"0x1", *beyond))
