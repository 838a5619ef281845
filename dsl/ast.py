"""The untyped tree: what was written, before any name is looked up. Spans do not take part in equality.

The parser writes it; the checker, the formatter and `--emit ast` read it. Here: windows, pipelines and
declarations; their small parts come from ast_expressions.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .ast_expressions import (
    ArrayLiteral,
    Auto,
    Binary,
    BoolLiteral,
    Call,
    CFunction,
    Connector,
    Construct,
    Entry,
    Expr,
    Field,
    FloatLiteral,
    Ident,
    If,
    Index,
    IntLiteral,
    Measure,
    Member,
    Name,
    Range,
    Setting,
    StringLiteral,
    TypeRef,
    Unary,
)
from .span import Span

__all__ = [
    "AggregateDecl", "AggregateStage", "Alternate", "AppDecl", "ArrayLiteral", "Auto", "Binary",
    "BoolLiteral", "BroadcastStage", "ByStage", "CFunction", "Call", "CloudDecl", "CloudEntry",
    "CloudLatency", "Connector", "Construct", "ControlDecl", "CountWindow", "Decl", "DeltaWindow", "Entry",
    "Expr", "Field", "FilterStage", "FlatMapStage", "FloatLiteral", "FunctionDecl", "GoalDecl", "Ident", "If",
    "ImportDecl", "Index", "IntLiteral", "JoinKey", "JoinStage", "LiftCombineLower", "MapStage", "Measure",
    "Member", "MinimizeDecl", "Name", "OpaqueAggregate", "OperatorDecl", "Outlet", "ParamDecl", "Pattern",
    "Pipeline", "Program", "Range", "RecordDecl", "ResourcesDecl", "ScanStage", "SessionWindow", "Setting",
    "SinkDecl", "SourceDecl", "SplitDecl", "Stage", "StateField", "StreamDecl", "StreamRef", "StringLiteral",
    "TimeWindow", "TypeRef", "Unary", "UnionStage", "UpdateStage", "UseDecl", "Window", "WindowStage",
]

# --- windows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountWindow:
    size: Expr
    slide: Expr | None
    partial: bool
    every_tuple: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    size: Expr
    slide: Expr | None
    every_tuple: bool
    processing: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class SessionWindow:
    gap: Expr
    processing: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DeltaWindow:
    """`delta threshold of value`."""

    threshold: Expr
    value: Expr
    span: Span = field(compare=False)


Window = CountWindow | TimeWindow | SessionWindow | DeltaWindow

# --- pipelines --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StreamRef:
    """A stream by name, or one port of an operator (`route.good`)."""

    name: Ident
    port: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FilterStage:
    predicate: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapStage:
    construct: Construct
    result: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FlatMapStage:
    sequence: Expr
    result: Ident
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class UnionStage:
    others: tuple[StreamRef, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class JoinKey:
    """`by k` (left and right are the same) or `by left_k = right_k`."""

    left: Ident
    right: Ident
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class JoinStage:
    other: StreamRef
    keys: tuple[JoinKey, ...]
    within: Expr
    construct: Construct
    result: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class BroadcastStage:
    other: StreamRef
    construct: Construct
    result: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ByStage:
    keys: tuple[Ident, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowStage:
    window: Window
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class AggregateStage:
    construct: Construct
    result: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ScanStage:
    construct: Construct
    result: Ident | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class StateField:
    """`total: f64 = 0.0`."""

    name: Ident
    type: TypeRef
    initial: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class UpdateStage:
    """`update { state } with { next } emit { construct } [-> result] [expire after duration]`."""

    state: tuple[StateField, ...]
    next: Construct | CFunction
    construct: Construct
    result: Ident | None
    expire_after: Expr | None
    span: Span = field(compare=False)


Stage = (FilterStage | MapStage | FlatMapStage | UnionStage | JoinStage | BroadcastStage | ByStage
         | WindowStage | AggregateStage | ScanStage | UpdateStage)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A stream and what happens to it; without stages it is the stream itself."""

    head: StreamRef
    stages: tuple[Stage, ...]
    span: Span = field(compare=False)


# --- declarations -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AppDecl:
    name: Ident
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class UseDecl:
    """`use std.text`: path ("std", "text")."""

    path: tuple[str, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ImportDecl:
    path: StringLiteral
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ParamDecl:
    name: Ident
    type: TypeRef
    value: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class RecordDecl:
    name: Ident
    fields: tuple[Field, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    name: Ident
    params: tuple[Field, ...]
    result: TypeRef
    body: Expr | CFunction
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class LiftCombineLower:
    """The body of an aggregate as expressions; `combine` reads `left.part` and `right.part`."""

    state: tuple[Field, ...]
    lift: Construct
    combine: Construct
    lower: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OpaqueAggregate:
    """`= c("file.c", "name") state 64`: the aggregate in C with so many bytes of state."""

    function: CFunction
    state_bytes: Expr | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class AggregateDecl:
    """`properties`: associative, commutative, invertible, decomposable."""

    name: Ident
    params: tuple[Field, ...]
    result: TypeRef
    properties: tuple[Ident, ...]
    body: LiftCombineLower | OpaqueAggregate
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class SourceDecl:
    name: Ident
    record: Ident
    connector: Connector
    event_time: Ident | None
    processing_time: bool
    slack: Expr | Auto | None
    late_to: Ident | None
    retry: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class StreamDecl:
    name: Ident
    pipeline: Pipeline
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Outlet:
    """`hot when value > 30.0`, or `mild otherwise` (predicate None)."""

    name: Ident
    predicate: Expr | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class SplitDecl:
    input: Pipeline
    outlets: tuple[Outlet, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Pattern:
    """`pattern auto`, `pattern key_partitioning { workers: 4 }`, also with parentheses."""

    name: Ident
    settings: tuple[Setting, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Alternate:
    """`columns` are the fields that C over a window takes as columns (empty: it takes whole tuples)."""

    name: Ident
    value: Expr | None
    cost: Expr | None
    selectivity: Expr | None
    columns: tuple[Ident, ...]
    body: Construct | CFunction
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OperatorDecl:
    """`result` names a record, or is the tuple of the ports, or None (inferred).

    Several inputs (`on a, b`) mean their union.
    """

    name: Ident
    inputs: tuple[StreamRef, ...]
    keys: tuple[Ident, ...]
    window: Window | None
    order: Ident | None  # total, key, free
    pattern: Pattern | None
    expire_after: Expr | None
    result: Ident | tuple[Field, ...] | None
    alternates: tuple[Alternate, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class SinkDecl:
    name: Ident
    pipeline: Pipeline
    connector: Connector
    order: Ident | None  # total, key, free
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class GoalDecl:
    """`goal latency p99 <= 20ms weight 2`; op is one of == != < <= > >=."""

    metric: Ident
    statistic: Ident | None
    op: str
    bound: Expr
    weight: Expr | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class MinimizeDecl:
    targets: tuple[Ident, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ControlDecl:
    """`control [for operator] policy [{ settings }]`; the policy may be `off` or `auto`."""

    policy: Ident
    operator: Ident | None
    settings: tuple[Setting, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ResourcesDecl:
    settings: tuple[Setting, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CloudEntry:
    """`vm m1_small { … }` or `region eu { … }`: kind is "vm" or "region"."""

    kind: str
    name: Ident
    settings: tuple[Setting, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CloudLatency:
    """`latency eu us 80ms`."""

    origin: Ident
    target: Ident
    value: Expr
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CloudDecl:
    entries: tuple[CloudEntry | CloudLatency, ...]
    span: Span = field(compare=False)


Decl = (AppDecl | UseDecl | ImportDecl | ParamDecl | RecordDecl | FunctionDecl | AggregateDecl | SourceDecl
        | StreamDecl | SplitDecl | OperatorDecl | SinkDecl | GoalDecl | MinimizeDecl | ControlDecl
        | ResourcesDecl | CloudDecl)


@dataclass(frozen=True, slots=True)
class Program:
    declarations: tuple[Decl, ...]
    span: Span = field(compare=False)
