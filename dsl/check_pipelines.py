"""Pipelines: one step a stage, each checked against what the stage before it gives.

`by` and `window` make no step; they wait for the aggregate, scan or update that follows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import ast, typed
from .check_bodies import check_body, check_predicate
from .check_expressions import check_expression
from .check_join import check_join
from .check_update import check_update
from .check_windows import PROCESSING_UNIT, CheckedWindow, check_keys, check_window
from .context import Context, unknown
from .conversions import can_store
from .diagnostics import Note
from .mistake import Mistake, is_wrong
from .scope import Scope, fields, of_pair, of_record
from .span import Span
from .streams import Stream, Streams, written_name
from .types import Record, Sequence, Timestamp

_MODIFIERS = ast.ByStage | ast.WindowStage


@dataclass(slots=True)
class Waiting:
    """The modifiers read so far."""

    by: ast.ByStage | None = None
    window: ast.WindowStage | None = None


def check_pipeline(streams: Streams, pipeline: ast.Pipeline, name: str, ends_in_name: bool) -> Stream:
    """The steps of a pipeline. The last is called `name` if `ends_in_name`, all others `name.1`, `name.2`, …"""
    return Pipelines(streams, pipeline, name, ends_in_name).run()


class Pipelines:
    """One pipeline on its way: the stream so far, and the modifiers that wait."""

    def __init__(self, streams: Streams, pipeline: ast.Pipeline, name: str, ends_in_name: bool):
        self.streams, self.context, self.pipeline = streams, streams.context, pipeline
        self.name, self.ends_in_name = name, ends_in_name
        self.current = streams.find(pipeline.head)
        self.waiting = Waiting()
        self.count = 0

    def run(self) -> Stream:
        stages = self.pipeline.stages
        last = max((i for i, stage in enumerate(stages) if not isinstance(stage, _MODIFIERS)), default=-1)
        for i, stage in enumerate(stages):
            if isinstance(stage, _MODIFIERS):
                self._wait(stage)
            else:
                self._step(stage, self.name if i == last and self.ends_in_name else "")
        self._nothing_waits("the pipeline ends")
        return self.current

    # --- modifiers ----------------------------------------------------------------------------------

    def _wait(self, stage: ast.ByStage | ast.WindowStage) -> None:
        kind = "by" if isinstance(stage, ast.ByStage) else "window"
        before = getattr(self.waiting, kind)
        if before:
            self.context.report(Mistake("E0305", stage.span, f"there already is a `{kind}` before the next result",
                                        expected="one: several keys are `by a, b`" if kind == "by" else "one window",
                                        notes=(Note("the first is here", before.span),)))
            return
        setattr(self.waiting, kind, stage)

    def _nothing_waits(self, but: str) -> None:
        for stage, word in ((self.waiting.by, "by"), (self.waiting.window, "window")):
            if stage:
                users = "aggregate, scan or update" if word == "by" else "aggregate"
                self.context.report(Mistake("E0304", stage.span, f"`{word}` waits for its {users}, but {but}",
                                            expected="`|> aggregate { … }` after it"))
        self.waiting = Waiting()

    def _take(self) -> tuple[tuple[str, ...], ast.WindowStage | None]:
        """The keys and the window that waited."""
        by, window = self.waiting.by, self.waiting.window
        self.waiting = Waiting()
        return check_keys(self.context, by.keys, self.current.record) if by else (), window

    def _take_keys(self, stage: ast.Stage, word: str) -> tuple[str, ...]:
        """The keys for a stage that has no window."""
        keys, window = self._take()
        if window:
            self.context.report(Mistake("E0319", window.span, f"`{word}` goes over all tuples and takes no window",
                                        expected=f"`{word}` without a window, or `aggregate`",
                                        notes=(Note(f"the {word}", stage.span),)))
        return keys

    # --- stages -------------------------------------------------------------------------------------

    def _step(self, stage: ast.Stage, name: str) -> None:
        if not isinstance(stage, ast.AggregateStage | ast.ScanStage | ast.UpdateStage):
            self._nothing_waits(f"`{_word(stage)}` follows")
        inputs = self._inputs(stage)
        name = name or self._next_name()
        try:
            made = self._check(stage, name, inputs)
        except Mistake as mistake:
            self.context.report(mistake)
            made = (None, self._declared_result(stage), self.current.unit)
        self.current = self.streams.add(name, tuple(stream.step for stream in inputs), *made, stage.span)

    def _next_name(self) -> str:
        self.count += 1
        return f"{self.name}.{self.count}"

    def _inputs(self, stage: ast.Stage) -> list[Stream]:
        if isinstance(stage, ast.UnionStage):
            others = [(ref, self.streams.find(ref)) for ref in stage.others]
            return [self.current, *(self._fitting(ref, other) for ref, other in others)]
        if isinstance(stage, ast.JoinStage | ast.BroadcastStage):
            return [self.current, self.streams.find(stage.other)]
        return [self.current]

    def _check(self, stage: ast.Stage, name: str, inputs: list[Stream]) -> tuple:
        """(body, record, unit) of the step; the body is None after a mistake that was reported."""
        record, unit = self.current.record, self.current.unit
        match stage:
            case ast.FilterStage():
                return typed.Filter(check_predicate(self.context, of_record(record), stage.predicate)), record, unit
            case ast.MapStage():
                body = self._body(of_record(record), stage, name)
                return typed.Map(body), body.record, unit
            case ast.FlatMapStage():
                return self._flatmap(stage), self._result(stage.result), unit
            case ast.UnionStage():
                return typed.Union_(), record, unit
            case ast.JoinStage():
                return self._join(stage, name, inputs)
            case ast.BroadcastStage():
                scope = self._pair(stage, inputs)
                body = self._body(scope, stage, name)
                return typed.Broadcast(body), body.record, unit
            case ast.AggregateStage():
                return self._aggregate(stage, name)
            case ast.ScanStage():
                keys = self._take_keys(stage, "scan")
                body = self._body(of_record(record, aggregates="running", no_bounds="a scan"), stage, name, keys)
                return typed.Scan(keys, body), body.record, unit
            case ast.UpdateStage():
                keys = self._take_keys(stage, "update")
                update = check_update(self.context, stage, keys, self.current, name, self._result(stage.result))
                return update, update.construct.record, unit
        raise AssertionError(f"no rule for {stage!r}")

    def _body(self, scope: Scope, stage: ast.MapStage, name: str, keys: tuple[str, ...] = ()) -> typed.Construct:
        """The body of a stage that may name its record after `->`."""
        declared = self._result(stage.result)
        place = stage.result and stage.result.span
        return check_body(self.context, scope, stage.construct, declared, name, place, keys)

    def _result(self, name: ast.Ident | None) -> Record | None:
        return find_record(self.context, name) if name else None

    def _declared_result(self, stage: ast.Stage) -> Record | None:
        """What a stage with a mistake gives all the same."""
        if isinstance(stage, ast.FilterStage | ast.UnionStage):
            return self.current.record
        result = getattr(stage, "result", None)
        return self.context.records.get(result.text) if result else None

    def _flatmap(self, stage: ast.FlatMapStage) -> typed.FlatMap | None:
        sequence = check_expression(self.context, of_record(self.current.record), stage.sequence)
        record = self._result(stage.result)
        notes = self.context.declared_at("record", stage.result.text)
        if is_wrong(sequence) or record is None:
            return None
        if not isinstance(sequence.type, Sequence):
            raise Mistake("E0313", sequence.span, f"flatmap unrolls a sequence, this is {sequence.type}",
                          expected="a sequence, such as `split(text, \" \")`")
        if len(record.fields) != 1:
            raise Mistake("E0314", stage.result.span, f"{record} has {len(record.fields)} fields",
                          expected="a record with one field, which takes each element", notes=notes)
        field = record.fields[0]
        if not can_store(sequence.type.element, field.type):
            raise Mistake("E0210", stage.result.span, f"the field `{field.name}` is {field.type}, the elements are "
                          f"{sequence.type.element}", expected="a symbol or text", notes=notes)
        return typed.FlatMap(sequence, field.type)

    def _join(self, stage: ast.JoinStage, name: str, inputs: list[Stream]) -> tuple:
        scope = self._pair(stage, inputs)
        body = self._body(scope, stage, name)
        left, right = inputs
        if left.record is None or right.record is None:
            return None, body.record, left.unit
        return check_join(self.context, stage, left, right, body), body.record, left.unit

    def _pair(self, stage: ast.JoinStage | ast.BroadcastStage, inputs: list[Stream]) -> Scope:
        left, right = written_name(self.pipeline.head), written_name(stage.other)
        if left == right:
            raise Mistake("E0316", stage.other.span,
                          f"both sides are called `{left}`: their fields can't be told apart",
                          expected=f"another name for one side: `stream other = {left}`")
        return of_pair(inputs[0].record, inputs[1].record, left, right)

    def _aggregate(self, stage: ast.AggregateStage, name: str) -> tuple:
        keys, window = self._take()
        if window is None:
            where = Span(stage.span.file, stage.span.line, stage.span.column, stage.span.line,
                         stage.span.column + len("aggregate"))
            self.context.report(Mistake("E0303", where, "`aggregate` needs a window",
                                        expected="`|> window …` before it, or `scan` for running results"))
        record, unit = self.current.record, self.current.unit
        checked = CheckedWindow(None, Timestamp(unit or PROCESSING_UNIT), unit)
        if window:
            checked = check_window(self.context, window.window, record, unit)
        body = self._body(window_scope(record, keys, checked), stage, name, keys)
        if checked.window is None:
            return None, body.record, unit
        alternate = typed.Alternate(name, 1.0, None, None, body, stage.span)
        return typed.Operator(keys, checked.window, (alternate,)), body.record, checked.unit

    # --- union --------------------------------------------------------------------------------------

    def _fitting(self, ref: ast.StreamRef, other: Stream) -> Stream:
        """The other stream of a union, its fields in the order of the first one's."""
        try:
            return fit_for_union(self.streams, self.current, other, ref.span, self._next_name)
        except Mistake as mistake:
            self.context.report(mistake)
            return replace(other, record=None)


def fit_for_union(streams: Streams, first: Stream, other: Stream, span: Span, next_name) -> Stream:
    """A stream with the fields and the time of the first; where only the order differs a map puts it right."""
    a, b = first.record, other.record
    if a is None or b is None:
        return other
    if first.unit != other.unit:
        raise Mistake("E0311", span, f"one stream has {_time_of(first)}, the other {_time_of(other)}",
                      expected="event time of the same unit on both sides")
    if set(a.fields) != set(b.fields):
        notes = (Note(f"one has {_fields(a)}", first.span), Note(f"the other has {_fields(b)}", other.span))
        raise Mistake("E0310", span, f"the fields differ: {_difference(a, b)}", expected=_fields(a), notes=notes)
    if a.fields == b.fields:
        return other
    refs = fields(b)
    body = typed.Construct(a, tuple(replace(refs[f.name], span=span) for f in a.fields), span)
    return streams.add(next_name(), (other.step,), typed.Map(body), a, other.unit, span)


def _difference(a: Record, b: Record) -> str:
    for field in a.fields:
        twin = b.field(field.name)
        if twin is None:
            return f"there is no `{field.name}`"
        if twin.type != field.type:
            return f"`{field.name}` is {twin.type}, not {field.type}"
    extra = next(f for f in b.fields if not a.field(f.name))
    return f"`{extra.name}` is too much"


def _fields(record: Record) -> str:
    return "{ " + ", ".join(f"{f.name}: {f.type}" for f in record.fields) + " }"


def _time_of(stream: Stream) -> str:
    return f"event time in {stream.unit}" if stream.unit else "no event time"


def window_scope(record: Record | None, keys: tuple[str, ...], checked: CheckedWindow) -> Scope:
    """What a windowed body may use: keys, aggregates, and the bounds where there are any."""
    return of_record(record, aggregates="window", keys=frozenset(keys), bounds=checked.bounds,
                     no_bounds=checked.no_bounds)


def find_record(context: Context, name: ast.Ident) -> Record | None:
    """A declared record; a mistake is reported."""
    if name.text not in context.records:
        context.report(unknown("E0102", name.span, "record", name.text, list(context.records)))
    return context.records.get(name.text)


def _word(stage: ast.Stage) -> str:
    return type(stage).__name__.removesuffix("Stage").lower()

