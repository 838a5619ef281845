"""Aggregates of the program as accumulators: a left fold over the tuples in the order they are given.

Faults count where they depend on nothing but the tuples and results: in the arguments and in `lift` once a tuple,
in `lower` once a result. How often `combine` runs is the business of whoever computes, so its faults don't count.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dsl import typed
from .aggregates import accumulator as built_in
from .expressions import Faults, Scope, evaluate

_SMALLEST_STATE = 8  # bytes of state in C where the program says nothing


class Entering:
    """What aggregates take from a tuple. Equal arguments are computed once, so that a fault in them counts once."""

    def __init__(self, nodes: Sequence[typed.Aggregate]):
        self.nodes = nodes
        self.arguments = tuple(dict.fromkeys(arg for node in nodes for arg in arguments_of(node)))
        places = {arg: i for i, arg in enumerate(self.arguments)}
        self.places = tuple(tuple(places[arg] for arg in arguments_of(node)) for node in nodes)

    def values(self, scope: Scope) -> tuple:
        """Of the tuple at hand, one for each aggregate."""
        computed = [evaluate(arg, scope) for arg in self.arguments]
        return tuple(_taken(node, [computed[i] for i in places], scope)
                     for node, places in zip(self.nodes, self.places, strict=True))


def arguments_of(node: typed.Aggregate) -> tuple[typed.Expr, ...]:
    return () if node.value is None else (node.value, *node.more)


def _taken(node: typed.Aggregate, args: list, scope: Scope):
    """A value (None of count()), the lifted state, or arguments."""
    if not node.user:
        return args[0] if args else None
    definition = scope.definitions[node.function]
    if definition.c is not None:
        return args
    names = (name for name, _ in definition.params)
    inside = scope.of_locals(dict(zip(names, args, strict=True)))
    return tuple(evaluate(part, inside) for part in definition.lift)


def accumulator(node: typed.Aggregate, scope: Scope):
    """Takes what `Entering` gives, tuple by tuple."""
    if not node.user:
        return built_in(node)
    definition = scope.definitions[node.function]
    return Folded(definition, scope) if definition.c is None else FoldedInC(definition, scope)


class Folded:
    """In the language: lifted states are combined one after the other, the outcome is lowered."""

    def __init__(self, definition: typed.AggregateDef, scope: Scope):
        self.definition, self.scope, self.state = definition, scope, None
        self.names = [part.name for part in definition.state.fields]

    def add(self, lifted: tuple, time: int) -> None:
        self.state = lifted if self.state is None else self._combined(self.state, lifted)

    def _combined(self, left: tuple, right: tuple) -> tuple:
        parts = {f"{side}.{name}": value for side, state in (("left", left), ("right", right))
                 for name, value in zip(self.names, state, strict=True)}
        inside = self.scope.of_locals(parts, Faults())
        return tuple(evaluate(part, inside) for part in self.definition.combine)

    def result(self):
        parts = dict(zip(self.names, self.state, strict=True))
        return evaluate(self.definition.lower, self.scope.of_locals(parts))


class FoldedInC:
    """In C: `NAME_add(state, arguments…)` on bytes that were zero, then `NAME_lower(state)`."""

    def __init__(self, definition: typed.AggregateDef, scope: Scope):
        self.definition, self.name = definition, definition.c.name
        self.user_c = scope.c_for(f"aggregate `{definition.name}`", definition.c)
        fields = definition.state.fields
        self.state, self.owner = self.user_c.zeroed(fields[0].type.size if fields else _SMALLEST_STATE)

    def add(self, args: list, time: int) -> None:
        self.user_c.call_function(f"{self.name}_add", args, None, self.state)

    def result(self):
        return self.user_c.call_function(f"{self.name}_lower", [], self.definition.result, self.state)
