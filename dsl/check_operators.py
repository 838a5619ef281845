"""Operators: alternates that all build one record, or C with several named outputs."""

from __future__ import annotations

from . import ast, typed
from .check_bodies import check_body, constant_number, constant_time
from .check_pipelines import find_record, fit_for_union, window_scope
from .check_settings import check_settings
from .check_types import c_function, unique
from .check_update import expiry
from .check_windows import check_keys, check_window, field_of, named_fields
from .context import Context, unknown
from .mistake import Mistake
from .scope import Scope, of_record
from .settings import ORDERS, PATTERNS
from .streams import Stream, Streams
from .types import Record


def check_operator(streams: Streams, decl: ast.OperatorDecl) -> None:
    """The operator's step, and one step for each of its ports."""
    context, name = streams.context, decl.name.text
    source = _input(streams, decl)
    keys = check_keys(context, decl.keys, source.record)
    checked = check_window(context, decl.window, source.record, source.unit) if decl.window else None
    scope = window_scope(source.record, keys, checked) if checked else of_record(source.record)
    ports = _ports(context, decl)
    record = find_record(context, decl.result) if isinstance(decl.result, ast.Ident) else None
    known = record is not None or decl.result is None
    alternates, record = _alternates(context, decl, scope, record, known, source.record)
    if ports:
        record = ports[0][1]
    body = None
    if checked is None or checked.window is not None:
        body = typed.Operator(keys, checked.window if checked else None, alternates, ports, _order(context, decl),
                              _pattern(context, decl), expiry(context, decl, source))
    unit = checked.unit if checked else source.unit
    made = streams.add(name, (source.step,), body, record, unit, decl.span)
    _add_ports(streams, decl, made, ports)


def _add_ports(streams: Streams, decl: ast.OperatorDecl, made: Stream, ports: tuple[tuple[str, Record], ...]) -> None:
    name = decl.name.text
    streams.by_name[name] = Stream(name, made.record, made.unit, decl.span, tuple(port for port, _ in ports))
    for port, record in ports:
        step = f"{name}.{port}"
        streams.by_name[step] = streams.add(step, (name,), typed.Port(port), record, made.unit, decl.span)


def _input(streams: Streams, decl: ast.OperatorDecl) -> Stream:
    """The input; several inputs are first united, in a step `name.1`."""
    inputs = [streams.find(ref) for ref in decl.inputs]
    if len(inputs) == 1:
        return inputs[0]
    count = iter(range(1, len(inputs) + 1))
    first = inputs[0]
    fitting = [first]
    for ref, other in zip(decl.inputs[1:], inputs[1:], strict=True):
        with streams.context.reporting():
            fitting.append(fit_for_union(streams, first, other, ref.span, lambda: f"{decl.name}.{next(count)}"))
    return streams.add(f"{decl.name}.{next(count)}", tuple(s.step for s in fitting), typed.Union_(), first.record,
                       first.unit, decl.span)


def _ports(context: Context, decl: ast.OperatorDecl) -> tuple[tuple[str, Record], ...]:
    """The named outputs with their records; those with a mistake are left out."""
    if not isinstance(decl.result, tuple):
        return ()
    found = []
    for port in unique(context, decl.result, "port"):
        record = find_record(context, port.type.name)
        if record is not None and (port.type.sizes or port.type.argument is not None):
            context.report(Mistake("E0216", port.type.span, "a port gives tuples of a record", expected=record.name,
                                   fix=record.name))
        if record is not None:
            found.append((port.name.text, record))
    return tuple(found)


# --- alternates -------------------------------------------------------------------------------------


def _alternates(context: Context, decl: ast.OperatorDecl, scope: Scope, record: Record | None,
                known: bool, given: Record | None) -> tuple[tuple[typed.Alternate, ...], Record | None]:
    """All implementations; the first with a body decides the record when none is declared."""
    if not decl.alternates:
        context.report(Mistake("E0321", decl.name.span, f"the operator `{decl.name}` has no implementation",
                               expected="at least one `alternate NAME = …`"))
    result = []
    for node in unique(context, decl.alternates, "alternate"):
        body = _body(context, decl, node, scope, record)
        if isinstance(body, typed.Construct) and known and record is None:
            record = body.record
        value, cost, selectivity = _properties(context, node)
        columns = _columns(context, decl, node, given)
        if body is not None:
            result.append(typed.Alternate(node.name.text, value, cost, selectivity, body, node.span, columns))
    return tuple(result), record


def _body(context: Context, decl: ast.OperatorDecl, node: ast.Alternate, scope: Scope,
          record: Record | None) -> typed.Construct | typed.CFunction | None:
    if isinstance(node.body, ast.CFunction):
        if decl.result is None and record is None:
            context.report(Mistake("E0321", node.body.span, "what the C function gives is not known",
                                   expected="`-> Record` before the alternates"))
        return c_function(context, node.body, of_window=decl.window is not None)
    if isinstance(decl.result, tuple):
        context.report(Mistake("E0322", node.body.span, "an operator with ports is written in C",
                               expected='c("file.c", "function"); `split` divides a stream by conditions'))
        return None
    keys = tuple(key.text for key in decl.keys)
    return check_body(context, scope, node.body, record, decl.name.text, node.name.span, keys,
                      node.name.text)


def _columns(context: Context, decl: ast.OperatorDecl, node: ast.Alternate, given: Record | None) -> tuple[str, ...]:
    """The fields that the C function takes as columns."""
    if node.columns and (decl.window is None or not isinstance(node.body, ast.CFunction)):
        what = "an operator without a window" if decl.window is None else "an alternate that is not in C"
        context.report(Mistake("E0328", node.columns[0].span, f"{what} has no columns",
                               expected='a window, and c("file.c", "function")'))
        return ()
    return named_fields(context, node.columns, given, "column", lambda column: field_of(context, column, given))


def _properties(context: Context, node: ast.Alternate) -> tuple[float, float | None, float | None]:
    """Value, cost in nanoseconds, selectivity."""
    value, cost, selectivity = 1.0, None, None
    with context.reporting():
        if node.value is not None:
            value = constant_number(context, node.value, "the value of an alternate")
    with context.reporting():
        if node.cost is not None:
            cost = constant_time(context, node.cost, "ns", "the cost of an alternate", least=0)
    with context.reporting():
        if node.selectivity is not None:
            selectivity = constant_number(context, node.selectivity, "the selectivity of an alternate")
    return 1.0 if value is None else value, None if cost is None else float(cost), selectivity


# --- clauses ----------------------------------------------------------------------------------------


def _order(context: Context, decl: ast.OperatorDecl) -> str:
    word = decl.order
    if word is None:
        return "total"
    if word.text not in ORDERS:
        context.report(unknown("E0400", word.span, "order", word.text, list(ORDERS)))
    elif word.text == "key" and not decl.keys:
        context.report(Mistake("E0327", word.span, "there are no keys to keep the order of", expected="`by FIELD`, or "
                               "`order total` or `order free`"))
    return word.text


def _pattern(context: Context, decl: ast.OperatorDecl) -> typed.Pattern | None:
    node = decl.pattern
    if node is None:
        return None
    if node.name.text not in PATTERNS:
        context.report(unknown("E0412", node.name.span, "pattern", node.name.text, list(PATTERNS)))
        return None
    known = PATTERNS[node.name.text]
    settings = check_settings(context, node.settings, known, f"the pattern {node.name}")
    return typed.Pattern(node.name.text, node.span, **dict(settings))

