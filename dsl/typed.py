"""The typed program: names resolved, types known, conversions explicit, parameters and units folded.

The checker writes it, everything after the checker reads it. Streams are already in dataflow form: every
step of a pipeline is one `Step` with the names of its inputs; `Program.steps` is in an order in which a
step comes after all its inputs. Time is in nanoseconds for literals of settings, in units of the stream's
event time (`Step.unit`) for windows, joins and slack.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .span import Span
from .types import Record, Type

# --- expressions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """`value` is int, float, bool or str; timestamps and durations are counts of their type's unit."""

    value: int | float | bool | str
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FieldRef:
    """A field of the tuple at hand. `side` is 0, or 1 for the second input of a join or broadcast."""

    name: str
    type: Type
    span: Span = field(compare=False)
    side: int = 0


@dataclass(frozen=True, slots=True)
class LocalRef:
    """A parameter of the function, or a part of the state, whose body this is."""

    name: str
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """op: `-` (Int is i64 or u64, Float is f64) or `not`."""

    op: str
    operand: Expr
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """op: + - * / % == != < <= > >= and or.

    Both operands have the same machine type after the checker's casts: arithmetic on i64, u64 or f64
    (a timestamp or duration counts as i64); comparisons on i64, u64, f64, bool or strings (symbol and
    text may meet: both sides compare byte by byte).
    """

    op: str
    left: Expr
    right: Expr
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Expr
    then: Expr
    otherwise: Expr
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """Every conversion, also the implicit ones: widening to i64/u64/f64, narrowing into a declared field
    (integers wrap; float to integer truncates, saturates, NaN gives 0), symbol to text<N> and back
    (text that is too long is cut at a character), units of time (exact up, floor down)."""

    operand: Expr
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A built-in scalar function by name (`builtins.py`), or a `fn` of the program (`user` is set)."""

    function: str
    args: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False)
    user: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A built-in aggregate over the window's tuples (`user` for an `aggregate` of the program).

    `value` is evaluated for every tuple (None for count()); `settings` are constants: (q,) of quantile,
    (alpha,) of ewma. `more` are the further arguments of an aggregate of the program that takes several.
    """

    function: str
    value: Expr | None
    settings: tuple[float, ...]
    type: Type
    span: Span = field(compare=False)
    user: bool = False
    more: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class WindowBound:
    """`window_start` or `window_end`: `bound` is "start" or "end"."""

    bound: str
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Element:
    """`array[index]`; an index outside the array is an arithmetic fault and gives zero."""

    array: Expr
    index: Expr
    type: Type
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ArrayOf:
    elements: tuple[Expr, ...]
    type: Type
    span: Span = field(compare=False)


Expr = (Literal | FieldRef | LocalRef | Unary | Binary | If | Cast | Call | Aggregate | WindowBound | Element
        | ArrayOf)


@dataclass(frozen=True, slots=True)
class Construct:
    """`{ name: expr, … }` building `record`; the expressions stand in the record's field order and each
    already has its field's type."""

    record: Record
    values: tuple[Expr, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class CFunction:
    """`c("file.c", "name")`: the path as written, and the folder of the .dfl file it is relative to. With `merge`,
    `name` computes bytes from a pane, and `merge` a window's result from the bytes of its panes."""

    path: str
    name: str
    span: Span = field(compare=False)
    merge: str = ""


# --- windows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CountWindow:
    size: int
    slide: int
    partial: bool
    span: Span = field(compare=False)
    every_tuple: bool = False

    @property
    def largest_pane(self) -> int:
        """Tuples. Panes are cut where a window begins or ends: a slide has two of them unless it divides the size."""
        rest = self.size % self.slide
        return min(self.size, max(rest, self.slide - rest))


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Size and slide in units of the stream's time."""

    size: int
    slide: int
    span: Span = field(compare=False)
    every_tuple: bool = False
    processing: bool = False


@dataclass(frozen=True, slots=True)
class SessionWindow:
    gap: int
    span: Span = field(compare=False)
    processing: bool = False


@dataclass(frozen=True, slots=True)
class DeltaWindow:
    threshold: Expr
    value: Expr
    span: Span = field(compare=False)


Window = CountWindow | TimeWindow | SessionWindow | DeltaWindow

# --- steps ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Connector:
    """`csv("path")`, `generate(rate: 300k/s, …)`: kind, the path ('' if it has none), the named settings.

    Settings are (name, value) with value an int, float, bool, str, a (low, high) pair or a (low, high, step)
    triple; rates are per second, durations nanoseconds, frequencies hertz, sizes bytes.
    """

    kind: str
    path: str
    settings: tuple[tuple[str, object], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Source:
    connector: Connector
    event_time: str | None  # the field
    processing_time: bool
    slack: int | None  # in units of the event time; None is `slack auto`
    late_to: str | None  # the name of the late stream, a Late step
    retry: bool = False
    slack_from: int = 0  # what `slack auto` begins with, in units of the event time


@dataclass(frozen=True, slots=True)
class Late:
    """The late tuples of the source that is its only input. Its watermark moves only at the end."""


@dataclass(frozen=True, slots=True)
class Filter:
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Map:
    construct: Construct


@dataclass(frozen=True, slots=True)
class FlatMap:
    """`sequence` has a Sequence type; each element, cast to `cast`'s type, becomes the record's only field."""

    sequence: Expr
    element: Type


@dataclass(frozen=True, slots=True)
class Union_:
    """All inputs, with equal fields, as one stream."""


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs with equal keys whose event times differ by at most `within` units. Inputs: left, right.
    `left_keys` and `right_keys` name fields of equal type."""

    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    within: int
    construct: Construct


@dataclass(frozen=True, slots=True)
class Broadcast:
    """Each tuple of the first input with the latest of the second (the slow one)."""

    construct: Construct


@dataclass(frozen=True, slots=True)
class Scan:
    keys: tuple[str, ...]
    construct: Construct


@dataclass(frozen=True, slots=True)
class Branch:
    """One outlet of a split: takes what its predicate takes and no earlier outlet took (None: the rest).

    `before` are the predicates of the earlier outlets."""

    before: tuple[Expr, ...]
    predicate: Expr | None


@dataclass(frozen=True, slots=True)
class Update:
    """Keyed user-defined state: `state` names its parts, `initial` their first values, `next` the values
    after a tuple (each in state order, reading FieldRef and LocalRef), or C; `construct` the result, which
    reads the new state."""

    keys: tuple[str, ...]
    state: Record
    initial: tuple[Expr, ...]
    next: tuple[Expr, ...] | CFunction
    construct: Construct
    expire_after: int | None


@dataclass(frozen=True, slots=True)
class Alternate:
    """One implementation of an operator. `cost` in nanoseconds a result and `selectivity` if declared. C with
    `columns` takes these fields of the window's tuples, each as an array; without them it takes whole tuples."""

    name: str
    value: float
    cost: float | None
    selectivity: float | None
    body: Construct | CFunction
    span: Span = field(compare=False)
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """The parallel pattern that an operator asks for: `auto`, or one by name. What is None is left to the compiler.

    schedule: round_robin, on_demand. style: active (workers keep windows), agnostic (they get whole ones). merge:
    collector, farm, shuffled, ring. reduce: asynchronous, synchronous. partition: round_robin, contiguous. outer:
    window_farming, key_partitioning.
    """

    name: str
    span: Span = field(compare=False)
    workers: int | None = None
    batch: int | None = None
    schedule: str | None = None
    style: str | None = None
    merge_workers: int | None = None
    merge: str | None = None
    reduce: str | None = None
    partition: str | None = None
    outer: str | None = None
    inner_workers: int | None = None


@dataclass(frozen=True, slots=True)
class Operator:
    """A named operator, or an `aggregate` of a pipeline (then with one alternate).

    Without a window it computes one result a tuple. `ports` are the named outputs with their records
    (empty: one output, the step's record)."""

    keys: tuple[str, ...]
    window: Window | None
    alternates: tuple[Alternate, ...]
    ports: tuple[tuple[str, Record], ...] = ()
    order: str = "total"  # total, key, free
    pattern: Pattern | None = None
    expire_after: int | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """One named output of the operator that is its only input."""

    port: str


@dataclass(frozen=True, slots=True)
class Sink:
    connector: Connector
    order: str = "total"


Body = (Source | Late | Filter | Map | FlatMap | Union_ | Join | Broadcast | Scan | Branch | Update
        | Operator | Port | Sink)


@dataclass(frozen=True, slots=True)
class Step:
    """One vertex of the dataflow.

    `name` is unique and stable: the declared name for sources, sinks, operators and the last step of a
    stream; `<stream>.<n>` (n from 1) for the steps before it. `record` is what it puts out (of a sink:
    what it takes in). `unit` is the unit of the tuples' event time, None when they have none.
    """

    name: str
    inputs: tuple[str, ...]
    body: Body
    record: Record
    unit: str | None
    span: Span = field(compare=False)


# --- the rest of a program --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: Type
    value: int | float | bool | str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    params: tuple[tuple[str, Type], ...]
    result: Type
    body: Expr | CFunction
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class AggregateDef:
    """A user-defined aggregate. `combine` reads LocalRefs `left.<part>` and `right.<part>`, `lower` the parts."""

    name: str
    params: tuple[tuple[str, Type], ...]
    result: Type
    state: Record
    lift: tuple[Expr, ...]
    combine: tuple[Expr, ...]
    lower: Expr
    properties: frozenset[str]  # associative commutative invertible decomposable
    c: CFunction | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Goal:
    """`goal latency p99 <= 20ms weight 2`: metric, statistic ('' if none), bound (nanoseconds or a ratio)."""

    metric: str
    statistic: str
    op: str
    bound: float
    weight: float
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Control:
    """A policy for one operator, or for all (`operator` is None). Settings as in Connector."""

    policy: str
    operator: str | None
    settings: tuple[tuple[str, object], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """`resources` and the entries of `cloud`: kind (resources, vm, region, latency), names, settings."""

    kind: str
    names: tuple[str, ...]
    settings: tuple[tuple[str, object], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    file: str
    records: tuple[Record, ...]  # declared ones first, then those inferred for streams
    params: tuple[Param, ...]
    functions: tuple[Function, ...]
    aggregates: tuple[AggregateDef, ...]
    steps: tuple[Step, ...]
    goals: tuple[Goal, ...]
    minimize: tuple[str, ...]
    controls: tuple[Control, ...]
    blocks: tuple[Block, ...]
    files: tuple[str, ...]  # every .dfl and .c file that was read or named, for the depfile
    span: Span = field(compare=False)

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)
