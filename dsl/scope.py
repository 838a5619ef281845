"""Which names an expression may use, and what they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from . import typed
from .span import NOWHERE
from .types import Record, Timestamp, Type

Bindings = Mapping[str, typed.Expr]


@dataclass(frozen=True, slots=True)
class Scope:
    """`names` stand alone, `qualified` after a dot, `ambiguous` in both inputs of a join.

    `aggregates` says where the expression stands: "" (no window), "window", "running" (a scan), or the name of the
    aggregate whose argument it is; `nests` whether that may hold aggregates of the whole window. `keys` are the only
    fields that may stand alone in a window.
    """

    names: Bindings
    owner: str = ""
    owner_kind: str = "record"
    qualified: Mapping[str, Bindings] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()
    aggregates: str = ""
    nests: bool = False
    keys: frozenset[str] | None = None
    bounds: Timestamp | None = None
    no_bounds: str = "an expression that is no window's result"
    shorthand: bool = False  # the name stands for `name: name`
    unknown: bool = False  # the input's record could not be found: every name is taken in silence

    def inside(self, aggregate: str) -> Scope:
        """The scope of an aggregate's argument: a single tuple."""
        return replace(self, aggregates=aggregate, nests=self.aggregates == "window", keys=None,
                       bounds=None, no_bounds="an aggregate's argument")

    def in_aggregate(self) -> bool:
        return self.aggregates not in ("", "window", "running")

    def suggestions(self) -> list[str]:
        qualified = [f"{q}.{name}" for q, names in self.qualified.items() for name in names]
        return [*self.names, *qualified]


def fields(record: Record, side: int = 0) -> dict[str, typed.Expr]:
    return {f.name: typed.FieldRef(f.name, f.type, NOWHERE, side) for f in record.fields}


def locals_(parts: tuple[tuple[str, Type], ...], prefix: str = "") -> dict[str, typed.Expr]:
    """Parameters of a function or parts of a state; with a prefix as `combine` reads them."""
    return {name: typed.LocalRef(prefix + name, type_, NOWHERE) for name, type_ in parts}


def of_record(record: Record | None, **more: object) -> Scope:
    """The scope of an expression over one stream."""
    if record is None:
        return Scope({}, unknown=True, **more)
    return Scope(fields(record), owner=record.name, **more)


def of_pair(left: Record | None, right: Record | None, left_name: str, right_name: str) -> Scope:
    """The scope of a join's body: names that only one side has may stand alone."""
    if left is None or right is None:
        return Scope({}, unknown=True)
    first, second = fields(left), fields(right, 1)
    both = frozenset(first) & frozenset(second)
    alone = {name: ref for name, ref in {**second, **first}.items() if name not in both}
    return Scope(alone, owner=f"{left_name} and {right_name}", owner_kind="streams",
                 qualified={left_name: first, right_name: second}, ambiguous=both)
