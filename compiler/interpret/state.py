"""The meaning of what remembers something other than a window: update, broadcast, and the expiry of idle keys."""

from __future__ import annotations

from ...dsl import typed
from ...dsl.types import Record
from .expressions import Scope
from .steps import Item, Operator, key_of


class Idleness:
    """When the keys of a step were last heard of. A key is forgotten when the step's watermark has reached the
    time of its latest tuple plus `after`; None: never."""

    def __init__(self, after: int | None):
        self.after, self.watermark = after, float("-inf")
        self.latest: dict[tuple, int] = {}

    def starts_afresh(self, key: tuple, time: int) -> bool:
        """Takes note of a tuple. True when its key is new or had been forgotten."""
        before = self.latest.get(key)
        fresh = before is None or self.after is not None and self.watermark >= before + self.after
        self.latest[key] = time if fresh else max(before, time)
        return fresh


class Update(Operator):
    """State of a key: each tuple gives the next one, from which the result is read."""

    def __init__(self, step: typed.Step, scope: Scope, given: Record):
        super().__init__(step, scope)
        self.given, self.idle = given, Idleness(self.body.expire_after)
        self.states: dict[tuple, tuple] = {}

    def take(self, port, item):
        key = key_of(self.body.keys, self.scope.columns[0], item.row)
        if self.idle.starts_afresh(key, item.time):
            self.states[key] = tuple(self.value(part) for part in self.body.initial)
        self.states[key] = self._next(self.states[key], item.row)
        self._name(self.states[key])
        return (Item(item.time, self.build(self.body.construct, item.row)),)

    def advance(self, watermark):
        self.idle.watermark = watermark
        return ()

    def _next(self, state: tuple, row: tuple) -> tuple:
        after = self.body.next
        if isinstance(after, typed.CFunction):
            user_c = self.scope.c_for(f"`{after.name}`", after)
            return user_c.call_update(after.name, state, self.body.state, row, self.given)
        self._name(state)
        return tuple(self.value(part, row) for part in after)

    def _name(self, state: tuple) -> None:
        self.scope.locals = {part.name: value for part, value in zip(self.body.state.fields, state, strict=True)}


class Broadcast(Operator):
    """Each tuple of the first input with the latest one of the second; before there is one, nothing."""

    def __init__(self, step: typed.Step, scope: Scope):
        super().__init__(step, scope)
        self.latest: Item | None = None

    def take(self, port, item):
        if port == 1:
            self.latest = item
            return ()
        if self.latest is None:
            return ()
        return (Item(item.time, self.build(self.body.construct, item.row, self.latest.row)),)
