"""Flat views of the steps for the templates: names, types and finished expressions, nothing to decide."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dsl import typed
from ...dsl.types import Array, Float, Int, Record, Symbol, Text, Type
from ..artifacts.graph import Graph
from ..artifacts.plan import Plan
from ..graph.walk import aggregates_of, walk
from ..select.choose import needs_tuples
from .aggregates import Partial, Whole, partial_of
from .c_types import declare
from .expressions import Scope, c_slice, c_store, c_value
from .names import Names, identifier
from .statements import Statement, quoted_file, stores


@dataclass(frozen=True)
class Context:
    """What all views of a program share. `symbols` collects the symbol literals."""

    graph: Graph
    plan: Plan
    names: Names
    symbols: dict[str, int]

    def record(self, record: Record) -> str:
        return self.names.record(record.name)

    def input(self, step: typed.Step, port: int = 0) -> Record:
        return self.graph.step(step.inputs[port]).record

    def output(self, step: typed.Step) -> str:
        """The struct that a step puts out; of an operator with ports the one with all of them."""
        ports = isinstance(step.body, typed.Operator) and step.body.ports
        return self.names.ports(step.name) if ports else self.record(step.record)

    def number(self, name: str) -> int:
        return next(i for i, step in enumerate(self.graph.steps) if step.name == name)


@dataclass
class View:
    """The part that every step has; templates for one kind read the extra values too."""

    name: str
    c: str
    number: int
    kind: str
    segment: str
    push: str
    watermark: str
    input: str
    output: str
    line: int
    file: str
    title: str
    extra: dict[str, object] = field(default_factory=dict)

    def __getattr__(self, name: str) -> object:
        try:
            return self.__dict__["extra"][name]
        except KeyError:
            raise AttributeError(name) from None


def base_view(context: Context, step: typed.Step, kind: str, **extra: object) -> View:
    c = context.names.step(step.name)
    where = f"{step.name}: {kind}, line {step.span.line}"
    return View(step.name, c, context.number(step.name), kind,
                f"struct segment_{context.plan.segment_of(step.name).number}", f"{c}_push", f"{c}_watermark",
                context.record(context.input(step)) if step.inputs else "", context.output(step),
                step.span.line, quoted_file(step.span), where, extra)


# --- stateless --------------------------------------------------------------------------------------


def filter_view(context: Context, step: typed.Step) -> View:
    scope = Scope(context.symbols)
    if isinstance(step.body, typed.Filter):
        condition = c_value(step.body.predicate, scope)
    else:
        parts = [f"!{c_value(before, scope)}" for before in step.body.before]
        parts += [] if step.body.predicate is None else [c_value(step.body.predicate, scope)]
        condition = " && ".join(parts) or "true"
    return base_view(context, step, "filter", condition=condition, faults="faults" in condition)


def map_view(context: Context, step: typed.Step) -> View:
    statements = stores(step.body.construct, "out.", Scope(context.symbols))
    return base_view(context, step, "map", statements=statements,
                     faults=any("faults" in statement.code for statement in statements))


def flatmap_view(context: Context, step: typed.Step) -> View:
    text, separator = step.body.sequence.args
    scope = Scope(context.symbols)
    (target,) = step.record.fields
    store = f"out.{identifier(target.name)} = dfrt_intern(piece);" if isinstance(target.type, Symbol) else \
        f"(void)dfrt_text_assign(&out.{identifier(target.name)}, {target.type.size}, piece);"
    return base_view(context, step, "flatmap", text=c_slice(text, scope), separator=c_slice(separator, scope),
                     store=store, faults="faults" in c_slice(text, scope))


def tuple_operator_view(context: Context, step: typed.Step) -> View:
    """An operator without a window: each alternate computes a result from the tuple alone."""
    def statements(alternate: typed.Alternate) -> tuple[Statement, ...]:
        if isinstance(alternate.body, typed.Construct):
            return stores(alternate.body, "out.", Scope(context.symbols))
        call = f"good = {alternate.body.name}(t, &out);"
        return (Statement(alternate.body.span.line, quoted_file(alternate.body.span), call),)

    alternates = tuple(AlternateView(a.name, statements(a)) for a in step.body.alternates)
    return base_view(context, step, "operator", active=_active(context, step), alternates=alternates,
                     faults=any("faults" in s.code for a in alternates for s in a.statements))


def sink_view(context: Context, step: typed.Step, number: int) -> View:
    return base_view(context, step, "sink", sink=number, faults=False)


def late_view(context: Context, step: typed.Step) -> View:
    return base_view(context, step, "late", faults=False)


# --- keyed ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyPart:
    declaration: str
    hash: str
    same: str
    compare: str


@dataclass(frozen=True)
class KeyInput:
    suffix: str
    input: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class AlternateView:
    name: str
    statements: tuple[Statement, ...]
    function: str = ""
    line: int = 0
    file: str = ""
    folds: bool = False
    whole: tuple[Whole, ...] = ()


def key_part(name: str, type_: Type) -> KeyPart:
    c, a, b = identifier(name), f"a->{identifier(name)}", f"b->{identifier(name)}"
    declaration = declare(type_, c)
    if isinstance(type_, Text):
        texts = f"dfrt_text_of(&{a}), dfrt_text_of(&{b})"
        return KeyPart(declaration, f"dfrt_hash_bytes(key->{c}.data, key->{c}.size)",
                       f"dfrt_text_equal({texts})", f"dfrt_text_compare({texts})")
    compare = f"dfrt_symbol_compare({a}, {b})" if isinstance(type_, Symbol) else f"({a} > {b}) - ({a} < {b})"
    return KeyPart(declaration, f"dfrt_hash_u64((uint64_t)key->{c})", f"{a} == {b}", compare)


def key_input(context: Context, record: Record, keys: tuple[str, ...], fields: tuple[str, ...], suffix: str) -> KeyInput:
    """`keys` name the parts of the key, `fields` the fields of this input that they are taken from."""
    def part(key: str, source: str) -> str:
        target, place = f"key.{identifier(key)}", f"t->{identifier(source)}"
        if isinstance(record.field(source).type, Text):
            return f"memcpy(&{target}, &{place}, sizeof {target});"
        return f"{target} = {place};"

    return KeyInput(suffix, context.record(record), tuple(part(k, f) for k, f in zip(keys, fields)))


def _active(context: Context, step: typed.Step) -> str:
    if len(step.body.alternates) == 1:
        return "0"
    number = [one.operator for one in context.plan.alternates].index(step.name)
    return f"atomic_load_explicit(&s->head.alternates[{number}], memory_order_relaxed)"


@dataclass(frozen=True)
class PartialView:
    declarations: tuple[str, ...]
    empty: tuple[str, ...]
    lift: tuple[str, ...]
    combine: tuple[str, ...]
    first: tuple[str, ...]
    last: tuple[str, ...]
    first_combine: tuple[str, ...]
    last_combine: tuple[str, ...]
    moments: bool


def partial_view(partial: Partial) -> PartialView:
    empty = list(partial.empty)
    if partial.first:
        empty.append("p->first_time = INT64_MAX;")
    if partial.last:
        empty.append("p->last_time = INT64_MIN;")
    fields = tuple(partial.fields.values()) or ("char none",)
    return PartialView(fields, tuple(empty) or ("p->none = 0;",), tuple(partial.lift), tuple(partial.combine),
                       tuple(partial.first), tuple(partial.last), tuple(partial.first_combine),
                       tuple(partial.last_combine), any("before" in line for line in partial.combine))


def _bodies(step: typed.Step) -> tuple[typed.Alternate, ...]:
    if isinstance(step.body, typed.Operator):
        return step.body.alternates
    return (typed.Alternate(step.name, 1.0, None, None, step.body.construct, step.span),)


def keyed_view(context: Context, step: typed.Step, kind: str, **extra: object) -> View:
    """A windowed operator or a scan: keys, partial values or kept tuples, alternates."""
    keeps = needs_tuples(context.graph.program, step)
    bodies = _bodies(step)
    constructs = [a.body for a in bodies if isinstance(a.body, typed.Construct)]
    aggregates = tuple(dict.fromkeys(agg for construct in constructs for agg in aggregates_of(construct)))
    partial = partial_of(aggregates, context.symbols, context.graph.program)
    if kind in ("count_window", "delta_window"):
        partial.declare("latest", "int64_t latest", "INT64_MIN", "if (time > p->latest) p->latest = time;",
                        "if (later->latest > p->latest) p->latest = later->latest;")
    record, ordered = context.input(step), kind in ("time_window", "session_window")
    expire = None if ordered else getattr(step.body, "expire_after", None)
    whole_record = any(isinstance(a.body, typed.CFunction) for a in bodies)
    view = base_view(context, step, kind, keeps=keeps, ordered=ordered,
                     combines=not keeps and kind in ("time_window", "count_window", "session_window"),
                     forgets=ordered or kind == "moving_window" or bool(expire), expire=expire, active=_active(context, step) if isinstance(step.body, typed.Operator) else "0",
                     partial=partial_view(partial), **extra)
    view.extra |= _key(context, step, record) | _kept(context, view, record, aggregates, whole_record, kind)
    view.extra["alternates"] = tuple(_alternate(context, step, a, partial, kind) for a in bodies)
    view.extra["view"] = context.names.window_view(step.name)
    view.extra["frees"] = ("free(x->scratch.values);",) + {
        "time_window": ("dfrt_order_close(&x->order);",), "moving_window": ("dfrt_order_close(&x->order);",),
        "session_window": ("free(x->timers.heap);",)}.get(kind, ()) + _expiry_frees(expire)
    if keeps and kind in ("count_window", "delta_window"):
        view.extra["frees"] += ("free(x->by_time.tuples);", "free(x->by_time.times);")
    return view


def _expiry_frees(expire: int | None) -> tuple[str, ...]:
    return ("dfrt_order_close(&x->idle_order);",) if expire else ()


def _key(context: Context, step: typed.Step, record: Record) -> dict[str, object]:
    keys = step.body.keys
    return {"key": tuple(key_part(name, record.field(name).type) for name in keys),
            "key_inputs": (key_input(context, record, keys, keys, ""),)}


def _kept(context: Context, view: View, record: Record, aggregates: tuple[typed.Aggregate, ...], whole: bool,
          kind: str) -> dict[str, object]:
    """Which fields of a tuple are kept: all when C looks at them, else those that aggregates read."""
    by_time = kind in ("time_window", "session_window", "moving_window")
    used = {part.name for agg in aggregates for part in walk(agg) if isinstance(part, typed.FieldRef)}
    fields = [f for f in record.fields if f.name in used]
    copies = tuple(f"memcpy(&kept->tuples[at].{identifier(f.name)}, &t->{identifier(f.name)}, sizeof t->{identifier(f.name)});"
                   if isinstance(f.type, Text | Array) else f"kept->tuples[at].{identifier(f.name)} = t->{identifier(f.name)};"
                   for f in fields)
    keeps_part = view.keeps and not whole
    return {"tuple": f"{view.c}_tuple" if keeps_part else view.input,
            "kept_fields": tuple(declare(f.type, identifier(f.name)) for f in fields) if keeps_part else None,
            "kept_copies": copies, "kept_by_time": by_time,
            "kept_order": "order of time, ties by arrival" if by_time else "order of arrival"}


def _alternate(context: Context, step: typed.Step, alternate: typed.Alternate, partial: Partial, kind: str) -> AlternateView:
    where = (alternate.body.span.line, quoted_file(alternate.body.span))
    if isinstance(alternate.body, typed.CFunction):
        return AlternateView(alternate.name, (), alternate.body.name, *where)
    target, tuple_ = ("out.", "t") if kind == "scan" else ("out->", "k")
    scope = Scope(context.symbols, (tuple_,), "faults", partial.results)
    used = aggregates_of(alternate.body)
    names = {partial.results[agg] for agg in used}
    whole = tuple(w for w in partial.whole if w.name in names)
    return AlternateView(alternate.name, stores(alternate.body, target, scope), "", *where,
                         folds=len(used) > len(whole), whole=whole)


# --- several inputs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    port: int
    input: str
    other: int = 0
    pair: str = ""


def delta_values(context: Context, window: typed.DeltaWindow) -> dict[str, object]:
    """How far a value is from the first one; integers and times are compared without rounding."""
    scope = Scope(context.symbols)
    value, threshold = c_value(window.value, scope), c_value(window.threshold, scope)
    if isinstance(window.value.type, Float):
        return {"value_type": "double", "value": f"(double){value}", "far": f"fabs(value - g->opening) > (double){threshold}"}
    unsigned = isinstance(window.value.type, Int) and window.value.type == Int(64, False)
    ctype = "uint64_t" if unsigned else "int64_t"
    return {"value_type": ctype, "value": f"({ctype}){value}",
            "far": f"dfrt_distance_{'u64' if unsigned else 'i64'}(value, g->opening) > (uint64_t){threshold}"}


def port_view(context: Context, step: typed.Step) -> View:
    """The operator pushes what it puts out here, already as this port's record."""
    view = base_view(context, step, "port", faults=False)
    view.input = view.output
    return view


def update_view(context: Context, step: typed.Step) -> View:
    """State of a key that each tuple changes: `now` is the tuple's, `next` becomes it."""
    body = step.body
    scope = Scope(context.symbols, state="now")
    fields = [(identifier(f.name), f) for f in body.state.fields]
    view = base_view(context, step, "update", state=context.names.state(step.name), ordered=False,
                     forgets=bool(body.expire_after), initial=tuple(c_store(f"now->{c}", f.type, value, scope) for (c, f), value in zip(fields, body.initial)),
                     function=body.next.name if isinstance(body.next, typed.CFunction) else "",
                     statements=stores(body.construct, "out.", scope), expire=body.expire_after, frees=_expiry_frees(body.expire_after),
                     next=() if isinstance(body.next, typed.CFunction) else tuple(
                         Statement(value.span.line, quoted_file(value.span), c_store(f"next.{c}", f.type, value, scope))
                         for (c, f), value in zip(fields, body.next)))
    view.extra |= _key(context, step, context.input(step))
    return view


def union_view(context: Context, step: typed.Step) -> View:
    sides = tuple(Side(port, context.record(context.input(step, port))) for port in range(len(step.inputs)))
    return base_view(context, step, "union", sides=sides, buffered=step.name in context.plan.buffered,
                     fields=tuple(identifier(f.name) for f in step.record.fields))


def broadcast_view(context: Context, step: typed.Step) -> View:
    fast, slow = context.input(step, 0), context.input(step, 1)
    scope = Scope(context.symbols, ("left", "right"))
    return base_view(context, step, "broadcast", buffered=step.name in context.plan.buffered,
                     sides=(Side(0, context.record(fast)), Side(1, context.record(slow))),
                     statements=stores(step.body.construct, "out.", scope))


def join_view(context: Context, step: typed.Step) -> View:
    left, right = context.input(step, 0), context.input(step, 1)
    pairs = ("t, &other->tuples[i]", "&other->tuples[i], t")
    sides = tuple(Side(port, context.record(record), 1 - port, pairs[port]) for port, record in enumerate((left, right)))
    keys = step.body.left_keys
    scope = Scope(context.symbols, ("left", "right"))
    return base_view(context, step, "join", sides=sides, buffered=step.name in context.plan.buffered, ordered=False,
                     forgets=True, within=step.body.within, sweep=max(step.body.within, 1),
                     statements=stores(step.body.construct, "out.", scope),
                     key=tuple(key_part(name, left.field(name).type) for name in keys),
                     key_inputs=(key_input(context, left, keys, keys, "_0"),
                                 key_input(context, right, keys, step.body.right_keys, "_1")),
                     frees=("dfrt_order_close(&x->order);",))


# --- sources ----------------------------------------------------------------------------------------


def source_view(context: Context, step: typed.Step) -> View:
    body = step.body
    late = context.names.step(body.late_to) if body.late_to and body.late_to in context.graph.flow else None
    rule = "processing time" if body.processing_time else "no event time" if body.event_time is None else \
        f"event time {body.event_time}, slack {'auto' if body.slack is None else body.slack}"
    return base_view(context, step, "source", timed=body.event_time is not None or body.processing_time,
                     processing=body.processing_time, slack=0 if body.processing_time else body.slack, rule=rule,
                     time_field=identifier(body.event_time) if body.event_time else "",
                     late=f"{late}_push" if late else "", late_watermark=f"{late}_watermark" if late else "")

