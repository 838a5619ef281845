"""The meaning of the operators without windows: what each does with a tuple and with a watermark.

An operator here is an object with `take(port, item)`, called for every tuple in order, and
`advance(watermark)`, called when the smallest watermark of its inputs has moved. Both answer with the
tuples that come out, in order.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...dsl import typed
from ...dsl.types import Record
from ..graph.walk import aggregates_of
from .expressions import Scope, columns_of, construct, evaluate
from .numbers import convert
from .program_aggregates import Entering, accumulator
from .user_c import UserC


class Item(NamedTuple):
    """A tuple on its way, with the event time that belongs to it (0 where a stream has none)."""

    time: int
    row: tuple


class Operator:
    """Without state, and silent: what the others are made from."""

    def __init__(self, step: typed.Step, scope: Scope):
        self.body, self.scope = step.body, scope

    def take(self, port: int, item: Item) -> Iterable[Item]:
        return ()

    def advance(self, watermark: float) -> Iterable[Item]:
        return ()

    def value(self, expr: typed.Expr, *rows: tuple):
        self.scope.rows = rows
        return evaluate(expr, self.scope)

    def build(self, body: typed.Construct, *rows: tuple) -> tuple:
        self.scope.rows = rows
        return construct(body, self.scope)


class PassOn(Operator):
    """union, late and sink: every tuple as it is."""

    def take(self, port, item):
        return (item,)


class Filter(Operator):
    def take(self, port, item):
        return (item,) if self.value(self.body.predicate, item.row) else ()


class Branch(Operator):
    def take(self, port, item):
        if any(self.value(predicate, item.row) for predicate in self.body.before):
            return ()
        taken = self.body.predicate is None or self.value(self.body.predicate, item.row)
        return (item,) if taken else ()


class Map(Operator):
    def take(self, port, item):
        return (Item(item.time, self.build(self.body.construct, item.row)),)


class FlatMap(Operator):
    def take(self, port, item):
        sequence = self.body.sequence
        values = self.value(sequence, item.row)
        return [Item(item.time, (convert(value, sequence.type.element, self.body.element),)) for value in values]


class InC(NamedTuple):
    """An alternate in C, and what it is called with; no result where the function says so. With ports `result` has a
    record for each, and a result is a row or None for each. `columns` are the fields of a window that it takes as
    columns, with the `keys`; without them it takes whole tuples. With `merge` the function takes panes: here the whole
    window is the only one."""

    user_c: UserC
    function: str
    given: Record
    result: Record | Mapping[str, Record]
    columns: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    merge: str = ""
    name: str = ""

    def of_tuple(self, row: tuple):
        return self._marked(self.user_c.call_tuple(self.function, row, self.given, self.result))

    def of_window(self, rows: Sequence[tuple], times: Sequence[int], bounds: tuple[int, int]):
        window = self._window(rows, times, bounds)
        if self.merge:
            return self._marked(self.user_c.call_panes(self.function, self.merge, window, bounds, self._key(rows),
                                                       self.result))
        return self._marked(self.user_c.call_window(self.function, window, self.result))

    def _marked(self, row: tuple | None):
        """The result says which alternate made it, if its record has a field for that."""
        if row is None or not isinstance(self.result, Record) or not self.result.names_alternate():
            return row
        return tuple(self.name if field.name == "alternate" else value
                     for field, value in zip(self.result.fields, row, strict=True))

    def _window(self, rows: Sequence[tuple], times: Sequence[int], bounds: tuple[int, int]):
        if not self.columns:
            return self.user_c.window(self.function, rows, times, bounds, self.given)
        place = columns_of(self.given)
        columns = [(self.given.field(name).type, [row[place[name]] for row in rows]) for name in self.columns]
        return self.user_c.columns(self.function, columns, times, bounds, self._key(rows))

    def _key(self, rows: Sequence[tuple]) -> tuple[tuple, Record]:
        """The key of a window, and its parts as a record."""
        return (key_of(self.keys, columns_of(self.given), rows[0]),
                Record("key", tuple(self.given.field(name) for name in self.keys)))


class PerTuple(Operator):
    """An operator without a window: one result a tuple, by an expression, or at most one, in C."""

    def __init__(self, step, scope, how: typed.Construct | InC):
        super().__init__(step, scope)
        self.how = how

    def take(self, port, item):
        result = self.how.of_tuple(item.row) if isinstance(self.how, InC) else self.build(self.how, item.row)
        return () if result is None else (Item(item.time, result),)


class Port(Operator):
    """One named output: an operator with ports gives a row, or None, for each."""

    def take(self, port, item):
        row = item.row[self.body.port]
        return () if row is None else (Item(item.time, row),)


class Scan(Operator):
    """A running aggregate a group, over the tuples so far in the order they arrived."""

    def __init__(self, step, scope):
        super().__init__(step, scope)
        self.nodes = aggregates_of(self.body.construct)
        self.entering = Entering(self.nodes)
        self.groups = defaultdict(lambda: [accumulator(node, scope) for node in self.nodes])

    def take(self, port, item):
        group = self.groups[key_of(self.body.keys, self.scope.columns[0], item.row)]
        self.scope.rows = (item.row,)
        for value, running in zip(self.entering.values(self.scope), group, strict=True):
            running.add(value, item.time)
        self.scope.aggregates = {node: running.result() for node, running in zip(self.nodes, group, strict=True)}
        return (Item(item.time, self.build(self.body.construct, item.row)),)


class Join(Operator):
    """Pairs with equal keys and times that differ by at most `within`. A tuple meets those that came before
    it on the other side, by (event time, arrival), so that each pair is formed once."""

    def __init__(self, step, scope):
        super().__init__(step, scope)
        self.keys = (self.body.left_keys, self.body.right_keys)
        self.stores = (defaultdict(list), defaultdict(list))

    def take(self, port, item):
        key = key_of(self.keys[port], self.scope.columns[port], item.row)
        bisect.insort(self.stores[port][key], item, key=lambda stored: stored.time)
        met = self.stores[1 - port].get(key, ())
        first = bisect.bisect_left(met, item.time - self.body.within, key=lambda stored: stored.time)
        results = []
        for other in met[first:]:
            if other.time > item.time + self.body.within:
                break
            left, right = (item, other) if port == 0 else (other, item)
            results.append(Item(max(item.time, other.time), self.build(self.body.construct, left.row, right.row)))
        return results

    def advance(self, watermark):
        """Forgets what no later tuple can reach. Nothing comes out."""
        for store in self.stores:
            for key in [key for key, items in store.items() if items[0].time + self.body.within < watermark]:
                store[key] = [item for item in store[key] if item.time + self.body.within >= watermark]
                if not store[key]:
                    del store[key]
        return ()


def key_of(keys: tuple[str, ...], columns: dict[str, int], row: tuple) -> tuple:
    return tuple(row[columns[name]] for name in keys)
