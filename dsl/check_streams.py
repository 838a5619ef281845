"""Declarations of streams: sources, streams, splits, operators and sinks become steps."""

from __future__ import annotations

from . import ast, typed
from .check_bodies import check_predicate, constant_time
from .check_connectors import check_connector
from .check_operators import check_operator
from .check_paths import check_standard_streams
from .check_pipelines import check_pipeline, find_record
from .check_sockets import SOCKETS
from .context import Context, unknown
from .diagnostics import Note
from .mistake import WRONG, Mistake
from .scope import of_record
from .settings import ORDERS
from .stream_order import StreamDecl, declared_names, in_order
from .streams import Stream, Streams
from .suggest import article
from .types import Record, Timestamp

_PASSING = (typed.Filter, typed.Map, typed.FlatMap, typed.Branch, typed.Port)


def check_streams(context: Context, decls: list[StreamDecl]) -> Streams:
    """All steps of the program, inputs before users."""
    streams = Streams(context)
    kept = [decl for decl in decls if _declare(streams, decl)]
    for decl in in_order(context, kept):
        _check(streams, decl)
    check_standard_streams(context, streams.steps)
    return streams


def _declare(streams: Streams, decl: StreamDecl) -> bool:
    """Enters the names; a declaration whose names are all taken is left out."""
    fresh = False
    for kind, name in declared_names(decl):
        if name.text in streams.declared:
            other, span = streams.declared[name.text]
            streams.context.report(Mistake("E0104", name.span, f"`{name}` already is {article(other)}",
                                           expected="another name",
                                           notes=(Note(f"the {other} is declared here", span),)))
            continue
        fresh = True
        streams.declared[name.text] = (kind, name.span)
        streams.context.places["stream", name.text] = name.span
    return fresh


def _check(streams: Streams, decl: StreamDecl) -> None:
    match decl:
        case ast.SourceDecl():
            _source(streams, decl)
        case ast.StreamDecl():
            streams.by_name[decl.name.text] = check_pipeline(streams, decl.pipeline, decl.name.text, True)
        case ast.SplitDecl():
            _split(streams, decl)
        case ast.OperatorDecl():
            check_operator(streams, decl)
        case ast.SinkDecl():
            _sink(streams, decl)


# --- sources ----------------------------------------------------------------------------------------


def _source(streams: Streams, decl: ast.SourceDecl) -> None:
    context, name = streams.context, decl.name.text
    record = find_record(context, decl.record)
    connector = check_connector(context, decl.connector, record, source=True)
    if decl.retry and connector and connector.kind not in SOCKETS:
        context.warn("W0104", connector.span, f"`{connector.kind}` has no connection to make again",
                     expected="`retry` at a source of tcp or unix")
    unit = _event_unit(context, decl, record)
    slack: int | None = 0
    with context.reporting():
        slack = _slack(context, decl, unit)
    body = connector and typed.Source(connector, decl.event_time and decl.event_time.text, decl.processing_time, slack,
                                      decl.late_to and decl.late_to.text, decl.retry)
    streams.by_name[name] = streams.add(name, (), body, record, unit, decl.span)
    if decl.late_to and streams.declared[decl.late_to.text][1] == decl.late_to.span:
        streams.by_name[decl.late_to.text] = streams.add(decl.late_to.text, (name,), typed.Late(), record, unit,
                                                         decl.late_to.span)


def _event_unit(context: Context, decl: ast.SourceDecl, record: Record | None) -> str | None:
    """The unit of the tuples' event time; arrival times count nanoseconds."""
    if decl.processing_time:
        if decl.event_time:
            context.report(Mistake("E0324", decl.event_time.span,
                                   "a source has event time or processing time, not both", expected="one of them"))
        return "ns"
    if not decl.event_time or record is None:
        return "ms" if decl.event_time else None
    field = record.field(decl.event_time.text)
    with context.reporting():
        if field is None:
            raise unknown("E0100", decl.event_time.span, "field", decl.event_time.text, [f.name for f in record.fields],
                          where=record.name, notes=context.declared_at("record", record.name))
        if field.type != WRONG and not isinstance(field.type, Timestamp):
            raise Mistake("E0323", decl.event_time.span, f"event time is a timestamp, `{field.name}` is {field.type}",
                          expected=f"a field such as `{field.name}: timestamp<ms>`",
                          notes=context.declared_at("record", record.name))
    # After a mistake some unit is taken, so that windows over the source are checked.
    return field.type.unit if field and isinstance(field.type, Timestamp) else "ms"


def _slack(context: Context, decl: ast.SourceDecl, unit: str | None) -> int | None:
    """The slack in units of the event time; None is `slack auto`."""
    for clause, span in (("slack", decl.slack and decl.slack.span), ("late to", decl.late_to and decl.late_to.span)):
        if span and not decl.event_time:
            raise Mistake("E0324", span, f"`{clause}` needs event time", expected="`event time FIELD` beside it")
    if decl.slack is None or isinstance(decl.slack, ast.Auto):
        return 0 if decl.slack is None else None
    slack = constant_time(context, decl.slack, unit or "ms", "the slack", least=0)
    return 0 if slack is None else slack


# --- splits and sinks -------------------------------------------------------------------------------


def _split(streams: Streams, decl: ast.SplitDecl) -> None:
    """Each outlet takes what no earlier one took."""
    source = check_pipeline(streams, decl.input, decl.outlets[0].name.text, False)
    before: tuple[typed.Expr, ...] = ()
    for i, outlet in enumerate(decl.outlets):
        if outlet.predicate is None and i + 1 < len(decl.outlets):
            streams.context.report(Mistake("E0320", outlet.span, "nothing is left for the outlets after `otherwise`",
                                           expected="`otherwise` as the last outlet"))
        predicate = outlet.predicate and check_predicate(streams.context, of_record(source.record), outlet.predicate)
        _outlet(streams, outlet, source, typed.Branch(before, predicate))
        before += (predicate,) if predicate else ()


def _outlet(streams: Streams, outlet: ast.Outlet, source: Stream, body: typed.Branch) -> None:
    name = outlet.name.text
    if streams.declared[name][1] != outlet.name.span:
        return
    streams.by_name[name] = streams.add(name, (source.step,), body, source.record, source.unit, outlet.span)


def _sink(streams: Streams, decl: ast.SinkDecl) -> None:
    stream = check_pipeline(streams, decl.pipeline, decl.name.text, False)
    connector = check_connector(streams.context, decl.connector, stream.record, source=False)
    order = check_order(streams.context, decl.order) or _order_of(streams, stream.step)
    body = connector and typed.Sink(connector, order)
    streams.add(decl.name.text, (stream.step,), body, stream.record, stream.unit, decl.span)


def _order_of(streams: Streams, name: str) -> str:
    """What a sink that says nothing asks for: what the operator says whose results it writes, with only stateless steps
    between."""
    bodies = {step.name: (step.body, step.inputs) for step in streams.steps}
    body, inputs = bodies.get(name, (None, ()))
    while isinstance(body, _PASSING):
        body, inputs = bodies.get(inputs[0], (None, ()))
    return body.order if isinstance(body, typed.Operator) else "total"


def check_order(context: Context, word: ast.Ident | None) -> str | None:
    """`order total`, `order key`, `order free`; None where nothing is said."""
    if word is None:
        return None
    if word.text not in ORDERS:
        context.report(unknown("E0400", word.span, "order", word.text, list(ORDERS)))
    return word.text


