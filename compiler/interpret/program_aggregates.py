"""Aggregates of the program as accumulators: a left fold over the tuples in the order they are given.

Faults count where they depend on nothing but the tuples and results: in the arguments and in `lift` once a tuple,
in `lower` once a result. How often `combine` runs is the business of whoever computes, so its faults don't count.
"""

from __future__ import annotations

from ...dsl import typed
from .aggregates import accumulator as built_in
from .expressions import Faults, Scope, evaluate

_SMALLEST_STATE = 8  # bytes of state in C where the program says nothing


def entering(node: typed.Aggregate, scope: Scope):
    """What an aggregate takes from the tuple at hand: a value (None of count()), the lifted state, or arguments."""
    if not node.user:
        return None if node.value is None else evaluate(node.value, scope)
    args = [evaluate(arg, scope) for arg in ((node.value, *node.more) if node.value is not None else ())]
    definition = scope.definitions[node.function]
    if definition.c is not None:
        return args
    names = (name for name, _ in definition.params)
    inside = scope.of_locals(dict(zip(names, args, strict=True)))
    return tuple(evaluate(part, inside) for part in definition.lift)


def accumulator(node: typed.Aggregate, scope: Scope):
    """Takes what `entering` gives, tuple by tuple."""
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
