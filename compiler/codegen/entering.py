"""What aggregates take from a tuple: computed once, when the tuple comes.

Equal arguments are computed together, and a fault in one counts once, however many windows the tuple is in and
however many aggregates read it. A store that keeps tuples keeps these values, and fields that are read as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...dsl import typed
from ...dsl.types import Record
from .expressions import Scope, c_store


@dataclass(frozen=True)
class Value:
    """An expression over the tuple; `kept` when windows read it later."""

    name: str
    expr: typed.Expr
    kept: bool


@dataclass
class Entering:
    """`aggregates` gives for each one the same over values; `lifted` those whose state for one tuple is kept."""

    record: Record
    symbols: dict[str, int]
    keeps: bool
    program: typed.Program
    values: dict[typed.Expr, Value] = field(default_factory=dict)
    aggregates: dict[typed.Aggregate, typed.Aggregate] = field(default_factory=dict)
    lifted: dict[typed.Aggregate, str] = field(default_factory=dict)
    more: frozenset[str] = frozenset()  # fields that a second pass reads as they are

    def add(self, aggregate: typed.Aggregate) -> None:
        lifts = self.keeps and aggregate.user and self._definition(aggregate).c is None
        value = None if aggregate.value is None else self._argument(aggregate.value, lifts)
        taken = replace(aggregate, value=value, more=tuple(self._argument(one, lifts) for one in aggregate.more))
        self.aggregates[aggregate] = taken
        if lifts:
            self.lifted.setdefault(taken, self._name("lifted"))

    def _definition(self, aggregate: typed.Aggregate) -> typed.AggregateDef:
        return next(d for d in self.program.aggregates if d.name == aggregate.function)

    def _argument(self, expr: typed.Expr, lifts: bool) -> typed.Expr:
        kept = self.keeps and not lifts
        if _plain(expr) or not kept and not self._faulty(expr):
            return expr
        known = self.values.get(expr)
        name = known.name if known else self._name("value")
        self.values[expr] = Value(name, expr, kept or bool(known and known.kept))
        return typed.LocalRef(self.values[expr].name, expr.type, expr.span)

    def _name(self, word: str) -> str:
        taken = {f.name for f in self.record.fields} | {v.name for v in self.values.values()} | {*self.lifted.values()}
        return next(name for name in (f"{word}_{i}" for i in range(len(taken) + 1)) if name not in taken)

    def _faulty(self, expr: typed.Expr) -> bool:
        return "faults" in c_store("place", expr.type, expr, Scope(self.symbols))


def _plain(expr: typed.Expr) -> bool:
    """A field, also as another type: kept as it is."""
    return isinstance(expr.operand if isinstance(expr, typed.Cast) else expr, typed.FieldRef)


def entering(aggregates: tuple[typed.Aggregate, ...], record: Record, symbols: dict[str, int], keeps: bool,
             program: typed.Program) -> Entering:
    found = Entering(record, symbols, keeps, program)
    for aggregate in aggregates:
        found.add(aggregate)
    return found
