"""Views of the steps with state: keys, partial values or kept tuples, windows, updates, and steps of several inputs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...dsl import typed
from ...dsl.typed_walk import walk
from ...dsl.types import Float, Int, Record, Symbol, Text, Type
from ..artifacts.parts import workers_compute
from ..graph.walk import aggregates_of, has_time, second_map
from ..select.stores import needs_tuples, pane_cut
from .aggregates import Partial, count_by_panes, partial_of
from .blocks import gets_blocks, straight
from .c_types import Member, declare, fields_of, members_of
from .entering import Entering, entering
from .expressions import Scope, c_store, c_value
from .kept_views import call_parts, computed_for, copy, kept_parts, merge_parts, value_parts
from .names import identifier
from .second_views import SecondPass, fields_of_second, second_pass
from .statements import Statement, quoted_file, stores
from .step_views import AlternateView, Context, View, active_alternate, alternate_mark, base_view

# --- keyed ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class KeyPart:
    declaration: str
    hash: str
    same: str
    compare: str
    exact: bool  # different values have different hashes
    members: tuple[Member, ...] = ()
    place: str = ""  # what an index of groups knows it by, if that says all; else their hash


@dataclass(frozen=True)
class KeyInput:
    suffix: str
    input: str
    parts: tuple[str, ...]


def key_part(name: str, type_: Type) -> KeyPart:
    c, a, b = identifier(name), f"a->{identifier(name)}", f"b->{identifier(name)}"
    declaration = declare(type_, c)
    if isinstance(type_, Text):
        texts = f"dfrt_text_of(&{a}), dfrt_text_of(&{b})"
        return KeyPart(declaration, f"dfrt_hash_bytes(key->{c}.data, key->{c}.size)",
                       f"dfrt_text_equal({texts})", f"dfrt_text_compare({texts})", False, members_of(type_, c))
    compare = f"dfrt_symbol_compare({a}, {b})" if isinstance(type_, Symbol) else f"({a} > {b}) - ({a} < {b})"
    place = f"dfrt_symbol_place(key->{c})" if isinstance(type_, Symbol) else ""
    return KeyPart(declaration, f"dfrt_hash_u64((uint64_t)key->{c})", f"{a} == {b}", compare, True,
                   members_of(type_, c), place)


def key_input(context: Context, record: Record, keys: tuple[str, ...], fields: tuple[str, ...],
              suffix: str) -> KeyInput:
    """`keys` name the parts of the key, `fields` the fields of this input that they are taken from."""
    def part(key: str, source: str) -> str:
        target, place = f"key.{identifier(key)}", f"t->{identifier(source)}"
        if isinstance(record.field(source).type, Text):
            return f"memcpy(&{target}, &{place}, sizeof {target});"
        return f"{target} = {place};"

    return KeyInput(suffix, context.record(record), tuple(part(k, f) for k, f in zip(keys, fields, strict=True)))


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
    members: tuple[Member, ...]
    opaque: tuple[str, ...]


def partial_view(partial: Partial) -> PartialView:
    empty = list(partial.empty)
    if partial.first:
        empty.append("p->first_time = INT64_MAX;")
    if partial.last:
        empty.append("p->last_time = INT64_MIN;")
    fields = tuple(partial.fields.values()) or ("char none",)
    return PartialView(fields, tuple(empty) or ("p->none = 0;",), tuple(partial.lift), tuple(partial.combine),
                       tuple(partial.first), tuple(partial.last), tuple(partial.first_combine),
                       tuple(partial.last_combine), any("before" in line for line in partial.combine),
                       tuple(partial.members), tuple(partial.opaque))


def _bodies(step: typed.Step) -> tuple[typed.Alternate, ...]:
    if isinstance(step.body, typed.Operator):
        return step.body.alternates
    return (typed.Alternate(step.name, 1.0, None, None, step.body.construct, step.span),)


@dataclass(frozen=True)
class SharedValues:
    """What windows that share their panes take from a tuple, and the numbers by which a pane names it."""

    taken: Entering
    numbers: dict[str, int]

    def part(self, step: typed.Step) -> Entering:
        """What one of the windows takes of it."""
        return replace(self.taken, aggregates={one: self.taken.aggregates[one] for one in _aggregates((step,))})


def _aggregates(steps: Iterable[typed.Step]) -> tuple[typed.Aggregate, ...]:
    """Each different aggregate of all alternates once."""
    constructs = [a.body for step in steps for a in _bodies(step) if isinstance(a.body, typed.Construct)]
    return tuple(dict.fromkeys(agg for construct in constructs for agg in aggregates_of(construct)))


def taken_by(context: Context, steps: tuple[typed.Step, ...], keeps: bool) -> Entering:
    found, body = _aggregates(steps), context.graph.step(steps[0].name).body
    taken = entering(tuple(one for one in found if not second_map(one)), context.input(steps[0]), context.symbols,
                     keeps, context.graph.program, later=workers_compute(body))
    taken.more = frozenset(fields_of_second(found))
    return taken


def step_partial(context: Context, step: typed.Step, kind: str, taken: Entering,
                 numbers: dict[str, int] | None = None, compact: bool = False) -> Partial:
    """The result of a delta window, and of a count window where there is time, also needs its latest time."""
    partial = partial_of(taken, context.symbols, context.graph.program, numbers, compact)
    if kind == "delta_window" or kind == "count_window" and has_time(context.graph, step):
        partial.declare("latest", "int64_t latest", "INT64_MIN", "if (time > p->latest) p->latest = time;",
                        "if (later->latest > p->latest) p->latest = later->latest;", (("latest", Int(64, True)),))
    return partial


def keyed_view(context: Context, step: typed.Step, kind: str, keeps: bool = False, shared: SharedValues | None = None,
               **extra: object) -> View:
    """A windowed operator or a scan: keys, partial values or kept tuples, alternates."""
    divided, keeps = keeps, keeps or needs_tuples(context.graph.program, step)
    bodies = _bodies(step)
    record, ordered = context.input(step), kind in ("time_window", "session_window")
    taken = shared.part(step) if shared else taken_by(context, (step,), keeps)
    compact = kind == "count_window" and not keeps and shared is None
    partial = partial_of(taken, context.symbols, context.graph.program) if keeps and not divided else \
        step_partial(context, step, kind, taken, shared and shared.numbers, compact)
    pane_counts = compact and count_by_panes(partial)
    expire = None if ordered else getattr(step.body, "expire_after", None)
    combines = not keeps and kind in ("time_window", "count_window", "session_window", "moving_window")
    view = base_view(context, step, kind, keeps=keeps, ordered=ordered, timed=has_time(context.graph, step),
                     combines=combines, owns=combines or kind == "session_window", blocks=gets_blocks(context, step),
                     forgets=ordered or kind == "moving_window" or bool(expire), expire=expire,
                     active=active_alternate(context, step) if isinstance(step.body, typed.Operator) else "0",
                     watched=isinstance(step.body, typed.Operator),
                     partial=partial_view(partial), **extra)
    view.extra |= {"types": view.c, "store": context.store(step.name), "gives": "", "takes_panes": False,
                   "synchronous": False, "combines_rows": False, "lifts": shared is None, "owned": False, "batch": 1,
                   "ring": False, "in_panes": False, "panes": f"struct {view.c}_panes", "evict": f"{view.c}_evict",
                   "window_of": f"{view.c}_window", "whole": f"struct {view.c}_partial",
                   "tuple_faults": f"&s->head.counts[{view.number}].faults"}
    view.extra |= key_values(context, step, record) | value_parts(taken)
    view.extra |= {"pane_counts": pane_counts, "at_hand": f"{view.c}_{'lifted' if pane_counts else 'partial'}",
                   "tagged": compact and not expire and len(view.key) == 1 and view.key[0].exact,
                   "straight": straight(context, step)}
    view.extra["runs"] = view.blocks and combines and shared is None and not view.key and view.slide == 1
    view.extra["tuple"] = f"struct {view.c}_row" if keeps else view.input
    second = second_pass(context, bodies)
    view.extra |= {"second": second and partial_view(second.partial),
                   "reduced": tuple(second.reduced.values()) if second else ()}
    view.extra["alternates"] = tuple(_alternate(context, step, a, partial, second, kind, taken) for a in bodies)
    view.extra["frees"] = ("free(x->scratch.values);",) + {
        "time_window": ("dfrt_order_close(&x->order);",), "moving_window": ("dfrt_order_close(&x->order);",),
        "session_window": ("dfrt_timers_close(&x->timers);",)}.get(kind, ()) + _expiry_frees(expire)
    if keeps:
        view.extra |= kept_parts(context, step, kind, taken, bodies)
        view.extra["frees"] += ("dfrt_pool_close(&x->pool);",) + (("free(x->by_time.room);",) if view.sorts else ())
        view.extra["loose"] = kind == "count_window" and bool(view.key) and not view.sorts and view.slide <= view.size
    return view


def _expiry_frees(expire: int | None) -> tuple[str, ...]:
    return ("dfrt_order_close(&x->idle_order);",) if expire else ()


def key_values(context: Context, step: typed.Step, record: Record) -> dict[str, object]:
    keys = step.body.keys
    return {"tagged": False, "key": tuple(key_part(name, record.field(name).type) for name in keys),
            "key_inputs": (key_input(context, record, keys, keys, ""),)}


def _alternate(context: Context, step: typed.Step, alternate: typed.Alternate, partial: Partial,
               second: SecondPass | None, kind: str, taken: Entering) -> AlternateView:
    where = (alternate.body.span.line, quoted_file(alternate.body.span))
    if isinstance(alternate.body, typed.CFunction):
        return AlternateView(alternate.name, (), alternate.body.name, *where,
                             window=call_parts(context, step, alternate), merge=alternate.body.merge,
                             mark=alternate_mark(context, step, alternate.name, "out->"),
                             panes=merge_parts(context, step) if alternate.body.merge else ())
    target, tuple_ = ("out.", "t") if kind == "scan" else ("out->", "k")
    used = [one for one in aggregates_of(alternate.body) if not second_map(one)]
    names = {partial.results[agg] for agg in used}
    whole = tuple(w for w in partial.whole if w.name in names)
    twice = second is not None and len(aggregates_of(alternate.body)) > len(used)
    results = partial.results | second.results if twice else partial.results
    scope = Scope(context.symbols, (tuple_,), "faults", results)
    more = {"reduced": second.stores(alternate.body, partial.results, context.symbols), "twice": True,
            "second_whole": second.whole(alternate.body)} if twice else {}
    return AlternateView(alternate.name, stores(alternate.body, target, scope), "", *where,
                         folds=len(used) > len(whole), whole=whole, computed=computed_for(taken, used), **more)


# --- several inputs ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    port: int
    input: str
    other: int = 0
    pair: str = ""
    kept: tuple[str, ...] = ()    # declarations of the fields that pairs read
    copies: tuple[str, ...] = ()  # of those fields
    members: tuple[Member, ...] = ()  # likewise


def count_values(window: typed.CountWindow) -> dict[str, object]:
    first = window.slide if window.partial or window.every_tuple else window.size
    return {"size": window.size, "slide": window.slide, "cut": pane_cut(window), "first_release": first,
            "overlap": max(window.size - window.slide, 0), "next_due": f"INT64_C({window.slide})",
            "apart": "DFRT_INLINE" if window.slide == 1 else "DFRT_APART",
            "left": "uint32_t" if window.slide < 1 << 32 else "int64_t"}


def time_values(window: typed.TimeWindow) -> dict[str, object]:
    return {"size": window.size, "slide": window.slide, "cut": pane_cut(window), "gaps": window.slide > window.size}


def delta_values(context: Context, window: typed.DeltaWindow) -> dict[str, object]:
    """How far a value is from the first one; integers and times are compared without rounding."""
    scope = Scope(context.symbols)
    value, threshold = c_value(window.value, scope), c_value(window.threshold, scope)
    if isinstance(window.value.type, Float):
        return {"value_type": "double", "value_kind": "DFRT_F64", "value": f"(double){value}",
                "far": f"fabs(value - g->opening) > (double){threshold}"}
    unsigned = isinstance(window.value.type, Int) and window.value.type == Int(64, False)
    ctype = "uint64_t" if unsigned else "int64_t"
    return {"value_type": ctype, "value_kind": "DFRT_U64" if unsigned else "DFRT_I64", "value": f"({ctype}){value}",
            "far": f"dfrt_distance_{'u64' if unsigned else 'i64'}(value, g->opening) > (uint64_t){threshold}"}


def port_view(context: Context, step: typed.Step) -> View:
    """The operator pushes what it puts out here, already as this port's record."""
    view = base_view(context, step, "port", faults=False)
    view.input = view.output
    return view


def update_view(context: Context, step: typed.Step) -> View:
    """State of a key that each tuple changes: `now` is the tuple's, `next` becomes it."""
    body, scope = step.body, Scope(context.symbols, state="now")
    in_c = isinstance(body.next, typed.CFunction)
    parts = [(identifier(f.name), f.type) for f in body.state.fields]
    initial = tuple(c_store(f"now->{c}", type_, value, scope)
                    for (c, type_), value in zip(parts, body.initial, strict=True))
    following = () if in_c else tuple(
        Statement(value.span.line, quoted_file(value.span), c_store(f"next.{c}", type_, value, scope))
        for (c, type_), value in zip(parts, body.next, strict=True))
    view = base_view(context, step, "update", state=context.names.state(step.name), ordered=False, owns=False,
                     forgets=bool(body.expire_after), expire=body.expire_after, frees=_expiry_frees(body.expire_after),
                     initial=initial, next=following,
                     members=tuple(member for c, type_ in parts for member in members_of(type_, c)),
                     function=body.next.name if in_c else "",
                     statements=stores(body.construct, "out.", scope))
    view.extra |= key_values(context, step, context.input(step))
    return view


def union_view(context: Context, step: typed.Step) -> View:
    sides = tuple(Side(port, context.record(context.input(step, port))) for port in range(len(step.inputs)))
    return base_view(context, step, "union", sides=sides, buffered=step.name in context.plan.buffered,
                     fields=tuple(identifier(f.name) for f in step.record.fields))


def broadcast_view(context: Context, step: typed.Step) -> View:
    fast, slow = context.input(step, 0), context.input(step, 1)
    scope = Scope(context.symbols, ("left", "right"))
    members = tuple(member for c, type_ in fields_of(slow) for member in members_of(type_, c))
    return base_view(context, step, "broadcast", members=members, buffered=step.name in context.plan.buffered,
                     sides=(Side(0, context.record(fast)), Side(1, context.record(slow))),
                     statements=stores(step.body.construct, "out.", scope))


_SWEEP_PAYS = 32  # tuples that pay for a look at one group in a sweep


def _join_side(context: Context, step: typed.Step, port: int) -> Side:
    """Of a tuple that waits for partners, only the fields that pairs read are kept."""
    record = context.input(step, port)
    used = {part.name for value in step.body.construct.values for part in walk(value)
            if isinstance(part, typed.FieldRef) and part.side == port}
    fields = [f for f in record.fields if f.name in used]
    return Side(port, context.record(record), 1 - port,
                ("&entry.tuple, &partner->tuple", "&partner->tuple, &entry.tuple")[port],
                tuple(declare(f.type, identifier(f.name)) for f in fields),
                tuple(copy(f"entry.tuple.{identifier(f.name)}", f"t->{identifier(f.name)}", f.type) for f in fields),
                tuple(member for f in fields for member in members_of(f.type, identifier(f.name))))


def join_view(context: Context, step: typed.Step) -> View:
    left, right = context.input(step, 0), context.input(step, 1)
    keys = step.body.left_keys
    scope = Scope(context.symbols, ("left", "right"))
    return base_view(context, step, "join", sides=tuple(_join_side(context, step, port) for port in (0, 1)),
                     numbered=context.plan.segment_of(step.name).numbered,
                     buffered=step.name in context.plan.buffered, ordered=False, owns=True,
                     tagged=False, forgets=True, within=step.body.within, sweep=max(step.body.within, 1),
                     sweep_pays=_SWEEP_PAYS,
                     statements=stores(step.body.construct, "out.", scope),
                     key=tuple(key_part(name, left.field(name).type) for name in keys),
                     key_inputs=(key_input(context, left, keys, keys, "_0"),
                                 key_input(context, right, keys, step.body.right_keys, "_1")),
                     frees=("dfrt_order_close(&x->order);",))
