"""Aggregates that compare each tuple with aggregates of the whole window: a second pass over kept tuples.

What the first pass gave (`reduced`) stands beside the fields of each tuple that the second one looks at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ...dsl import typed
from ...dsl.typed_walk import children_of, walk
from ...dsl.types import Text
from ..graph.walk import aggregates_of, second_map
from .aggregates import Partial
from .c_types import declare
from .expressions import Scope, c_store
from .step_views import Context


@dataclass(frozen=True)
class Reduced:
    """A value of the first pass that the second one reads."""

    name: str
    declaration: str


@dataclass(frozen=True)
class SecondPass:
    partial: Partial
    reduced: dict[typed.Aggregate, Reduced]

    @property
    def results(self) -> dict[typed.Aggregate, str]:
        """Over `second`."""
        return {aggregate: _renamed(result) for aggregate, result in self.partial.results.items()}

    def stores(self, body: typed.Construct, results: dict[typed.Aggregate, str],
               symbols: dict[str, int]) -> tuple[str, ...]:
        """The statements that fill `reduced` for one alternate."""
        scope = Scope(symbols, ("k",), "faults", results)
        return tuple(c_store(f"reduced.{self.reduced[inner].name}", inner.type, inner, scope) for inner in _inner(body))

    def whole(self, body: typed.Construct) -> tuple:
        names = {self.partial.results[one] for one in aggregates_of(body) if second_map(one)}
        return tuple(replace(one, name=_renamed(one.name)) for one in self.partial.whole if one.name in names)


def second_pass(context: Context, bodies: tuple[typed.Alternate, ...]) -> SecondPass | None:
    """None when there is none."""
    constructs = [a.body for a in bodies if isinstance(a.body, typed.Construct)]
    outer = tuple(dict.fromkeys(one for body in constructs for one in aggregates_of(body) if second_map(one)))
    if not outer:
        return None
    inner = dict.fromkeys(one for body in constructs for one in _inner(body))
    reduced = {one: Reduced(f"reduced_{i}", declare(one.type, f"reduced_{i}")) for i, one in enumerate(inner)}
    places = {one: f"dfrt_text_of(&t->{r.name})" if isinstance(one.type, Text) else f"t->{r.name}"
              for one, r in reduced.items()}
    partial = Partial(Scope(context.symbols, aggregates=places), context.graph.program)
    for aggregate in outer:
        partial.add(aggregate)
    return SecondPass(partial, reduced)


def fields_of_second(aggregates: tuple[typed.Aggregate, ...]) -> set[str]:
    """The fields that second passes read of a tuple."""
    return {part.name for one in aggregates if second_map(one) for child in children_of(one)
            for part in _outside(child) if isinstance(part, typed.FieldRef)}


def _outside(expr: typed.Expr):
    """The expression without the aggregates in it."""
    if not isinstance(expr, typed.Aggregate):
        yield expr
        for child in children_of(expr):
            yield from _outside(child)


def _inner(body: typed.Construct) -> tuple[typed.Aggregate, ...]:
    outer = [one for one in aggregates_of(body) if second_map(one)]
    return tuple(dict.fromkeys(part for one in outer for child in children_of(one) for part in walk(child)
                               if isinstance(part, typed.Aggregate)))


def _renamed(code: str) -> str:
    """The second partial value is `second`, its arrays of values are apart from those of the first."""
    return re.sub(r"\bwhole_", "second_whole_", re.sub(r"\bp->", "second->", code))
