"""Typed programs built by hand, a step at a time, for tests that need no parser."""

from __future__ import annotations

from dfc.dsl import typed
from dfc.dsl.span import NOWHERE, Span
from dfc.dsl.types import BOOL, F64, I64, SYMBOL, Field, Record, Timestamp, Type

MS = Timestamp("ms")
READING = Record("Reading", (Field("ts", MS), Field("k", I64), Field("x", F64)))
HERE = Span("hand.dfl", 1, 1, 1, 2)


def ref(name: str, type_: Type = F64, side: int = 0) -> typed.FieldRef:
    return typed.FieldRef(name, type_, HERE, side)


def lit(value, type_: Type | None = None) -> typed.Literal:
    types = {bool: BOOL, int: I64, float: F64, str: SYMBOL}
    return typed.Literal(value, type_ or types[type(value)], HERE)


def binary(op: str, left: typed.Expr, right: typed.Expr, type_: Type | None = None) -> typed.Binary:
    compares = op in ("==", "!=", "<", "<=", ">", ">=", "and", "or")
    return typed.Binary(op, left, right, type_ or (BOOL if compares else left.type), HERE)


def cast(expr: typed.Expr, type_: Type) -> typed.Cast:
    return typed.Cast(expr, type_, HERE)


def call(function: str, *args: typed.Expr, type_: Type = F64, user: bool = False) -> typed.Call:
    return typed.Call(function, args, type_, HERE, user)


def aggregate(function: str, value: typed.Expr | None = None, *settings: float, type_: Type = F64) -> typed.Aggregate:
    return typed.Aggregate(function, value, settings, type_, HERE)


def bound(which: str) -> typed.WindowBound:
    return typed.WindowBound(which, MS, HERE)


def construct(name: str, **values: typed.Expr) -> typed.Construct:
    record = Record(name, tuple(Field(field, value.type) for field, value in values.items()))
    return typed.Construct(record, tuple(values.values()), HERE)


def source(name: str = "s", record: Record = READING, event_time: str | None = "ts", slack: int | None = 0,
           late_to: str | None = None) -> typed.Step:
    connector = typed.Connector("csv", f"{name}.csv", (), HERE)
    body = typed.Source(connector, event_time, False, slack, late_to)
    return typed.Step(name, (), body, record, "ms" if event_time else None, HERE)


def step(name: str, inputs: str | tuple[str, ...], body: typed.Body, record: Record,
         unit: str | None = "ms") -> typed.Step:
    return typed.Step(name, (inputs,) if isinstance(inputs, str) else inputs, body, record, unit, HERE)


def late(name: str, of: str, record: Record = READING) -> typed.Step:
    return step(name, of, typed.Late(), record)


def filtered(name: str, of: str, predicate: typed.Expr, record: Record = READING) -> typed.Step:
    return step(name, of, typed.Filter(predicate), record)


def mapped(name: str, of: str, **values: typed.Expr) -> typed.Step:
    body = construct(name, **values)
    return step(name, of, typed.Map(body), body.record)


def windowed(name: str, of: str, window: typed.Window | None, keys: tuple[str, ...] = (), **values) -> typed.Step:
    body = construct(name, **values)
    alternate = typed.Alternate("it", 1.0, None, None, body, HERE)
    return step(name, of, typed.Operator(keys, window, (alternate,)), body.record)


def scanned(name: str, of: str, keys: tuple[str, ...] = (), **values) -> typed.Step:
    body = construct(name, **values)
    return step(name, of, typed.Scan(keys, body), body.record)


def joined(name: str, left: str, right: str, within: int, keys: tuple[str, ...] = ("k",), **values) -> typed.Step:
    body = construct(name, **values)
    return step(name, (left, right), typed.Join(keys, keys, within, body), body.record)


def sink(of: typed.Step, name: str = "out") -> typed.Step:
    connector = typed.Connector("csv", f"{name}.csv", (), HERE)
    return step(name, of.name, typed.Sink(connector), of.record, of.unit)


def program(*steps: typed.Step, functions: tuple[typed.Function, ...] = ()) -> typed.Program:
    """A sink `out` reads the last step, unless there are sinks already."""
    if not any(isinstance(one.body, typed.Sink) for one in steps):
        steps = (*steps, sink(steps[-1]))
    records = tuple(dict.fromkeys(one.record for one in steps))
    return typed.Program("hand", "hand.dfl", records, (), functions, (), steps, (), (), (), (), (), NOWHERE)


def count_window(size: int, slide: int | None = None, partial: bool = False) -> typed.CountWindow:
    return typed.CountWindow(size, slide or size, partial, HERE)


def time_window(size: int, slide: int | None = None) -> typed.TimeWindow:
    return typed.TimeWindow(size, slide or size, HERE)


def session(gap: int) -> typed.SessionWindow:
    return typed.SessionWindow(gap, HERE)


def readings(*rows: tuple) -> list[tuple]:
    """Rows (time, key, value); one (time, value) has key 0."""
    return [(row[0], 0, float(row[1])) if len(row) == 2 else (row[0], row[1], float(row[2])) for row in rows]
