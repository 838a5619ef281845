"""What aggregates take from a tuple: computed once, when the tuple comes, or by workers.

Equal arguments are computed together, and a fault in one counts once, however many windows the tuple is in and
however many aggregates read it. A store that keeps tuples keeps these values, and fields that are read as they are.

Where workers compute windows of tuples that another thread keeps (`later`), they also compute what takes long: the
store keeps what that reads. What can fault is not theirs, since they may see a tuple more than once, or never.

    avg(exp(f64(a / b) * x))   kept: x, value_0 = a / b   workers: value_1 = exp(f64(value_0) * x)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...dsl import typed
from ...dsl.typed_walk import children_of
from ...dsl.types import Record
from ..graph.effort import takes_long
from ..graph.faults import can_fault, faults_itself
from .c_types import record_bytes, type_bytes
from .expressions import Scope, c_store


@dataclass(frozen=True)
class Value:
    """An expression over the tuple; `kept` when windows read it, `later` when workers compute it for them."""

    name: str
    expr: typed.Expr
    kept: bool
    later: bool = False


@dataclass
class Entering:
    """`aggregates` gives for each one the same over values; `lifted` those whose state for one tuple windows read,
    `lifted_later` those of them that workers compute."""

    record: Record
    symbols: dict[str, int]
    keeps: bool
    program: typed.Program
    later: bool = False
    values: dict[typed.Expr, Value] = field(default_factory=dict)
    parts: list[Value] = field(default_factory=list)  # of values that workers compute, what they don't
    aggregates: dict[typed.Aggregate, typed.Aggregate] = field(default_factory=dict)
    lifted: dict[typed.Aggregate, str] = field(default_factory=dict)
    lifted_later: set[typed.Aggregate] = field(default_factory=set)
    more: frozenset[str] = frozenset()  # fields that a second pass reads as they are

    @property
    def at_once(self) -> list[Value]:
        return [value for value in (*self.parts, *self.values.values()) if not value.later]

    @property
    def by_workers(self) -> list[Value]:
        return [value for value in self.values.values() if value.later]

    def add(self, aggregate: typed.Aggregate) -> None:
        lifts = self.keeps and aggregate.user and self._definition(aggregate).c is None
        later = lifts and self._lifts_later(aggregate)
        value = None if aggregate.value is None else self._argument(aggregate.value, lifts and not later)
        taken = replace(aggregate, value=value,
                        more=tuple(self._argument(one, lifts and not later) for one in aggregate.more))
        self.aggregates[aggregate] = taken
        if lifts:
            self.lifted.setdefault(taken, self._name("lifted"))
        if later:
            self.lifted_later.add(taken)

    def add_faulty(self, aggregate: typed.Aggregate) -> None:
        """Arguments of what is lifted at once count their faults at once, also where others read them later."""
        if aggregate.user and self._definition(aggregate).c is None and not self._lifts_later(aggregate):
            for one in children_of(aggregate):
                self._argument(one, True)

    def _lifts_later(self, aggregate: typed.Aggregate) -> bool:
        """The state of a tuple may also be larger than what it is made from."""
        definition, arguments = self._definition(aggregate), children_of(aggregate)
        larger = record_bytes(definition.state) > sum(type_bytes(one.type) for one in arguments)
        return self.later and not any(can_fault(self.program, one) for one in definition.lift) and (
            larger or takes_long(self.program, *definition.lift, *arguments))

    def _definition(self, aggregate: typed.Aggregate) -> typed.AggregateDef:
        return next(d for d in self.program.aggregates if d.name == aggregate.function)

    def _argument(self, expr: typed.Expr, lifts: bool) -> typed.Expr:
        kept = self.keeps and not lifts
        if _plain(expr) or not kept and not self._faulty(expr):
            return expr
        if kept and self.later and expr not in self.values:
            self._leave(expr)
        known = self.values.get(expr)
        if known is None or kept and not known.kept:
            self.values[expr] = Value(known.name if known else self._name("value"), expr, kept)
        return typed.LocalRef(self.values[expr].name, expr.type, expr.span)

    def _name(self, word: str) -> str:
        values = (*self.parts, *self.values.values())
        taken = {f.name for f in self.record.fields} | {v.name for v in values} | {*self.lifted.values()}
        return next(name for name in (f"{word}_{i}" for i in range(len(taken) + 1)) if name not in taken)

    def _faulty(self, expr: typed.Expr) -> bool:
        return "faults" in c_store("place", expr.type, expr, Scope(self.symbols))

    # --- what workers compute -----------------------------------------------------------------------

    def _leave(self, expr: typed.Expr) -> None:
        """To workers, if what they can compute of it takes long."""
        before = len(self.parts)
        rest = self._rest(expr)
        if takes_long(self.program, rest):
            self.values[expr] = Value(self._name("value"), rest, True, True)
        else:
            del self.parts[before:]

    def _rest(self, expr: typed.Expr) -> typed.Expr:
        """The expression with values in place of what can fault, each its own: equal ones count each. Of an array only
        the elements that are read are kept."""
        faulty = can_fault(self.program, expr)
        if faulty and (faults_itself(self.program, expr) or not _strict(expr)):
            return self._part(expr)
        if not faulty and _of_field(expr):
            known = next((part for part in self.parts if part.expr == expr), None)
            return typed.LocalRef(known.name, expr.type, expr.span) if known else self._part(expr)
        return _over(expr, tuple(map(self._rest, children_of(expr))))

    def _part(self, expr: typed.Expr) -> typed.Expr:
        self.parts.append(Value(self._name("value"), expr, True))
        return typed.LocalRef(self.parts[-1].name, expr.type, expr.span)


def _plain(expr: typed.Expr) -> bool:
    """A field, also as another type: kept as it is."""
    return isinstance(expr.operand if isinstance(expr, typed.Cast) else expr, typed.FieldRef)


def _of_field(expr: typed.Expr) -> bool:
    """An element of an array that is a field."""
    array = expr
    while isinstance(array, typed.Element):
        array = array.array
    return array is not expr and isinstance(array, typed.FieldRef)


def _strict(expr: typed.Expr) -> bool:
    """Whether it always computes all that stands in it, and could be computed from that by workers."""
    if isinstance(expr, typed.Binary):
        return expr.op not in ("and", "or")
    return isinstance(expr, typed.Unary | typed.Cast | typed.Call)


def _over(expr: typed.Expr, inside: tuple[typed.Expr, ...]) -> typed.Expr:
    """The same operation of other values."""
    match expr:
        case typed.Unary() | typed.Cast():
            return replace(expr, operand=inside[0])
        case typed.Binary():
            return replace(expr, left=inside[0], right=inside[1])
        case typed.If():
            return replace(expr, condition=inside[0], then=inside[1], otherwise=inside[2])
        case typed.Call():
            return replace(expr, args=inside)
        case typed.Element():
            return replace(expr, array=inside[0], index=inside[1])
        case typed.ArrayOf():
            return replace(expr, elements=inside)
    return expr


def entering(aggregates: tuple[typed.Aggregate, ...], record: Record, symbols: dict[str, int], keeps: bool,
             program: typed.Program, later: bool = False) -> Entering:
    found = Entering(record, symbols, keeps, program, later)
    for aggregate in aggregates if later else ():
        found.add_faulty(aggregate)
    for aggregate in aggregates:
        found.add(aggregate)
    return found
