"""Heavy keys by name: what a trace counted exactly, as keys that a program can begin with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dsl import typed
from ...dsl.types import Int, Symbol, Type
from ..artifacts.graph import Graph
from ..artifacts.plan import HeavyKeys
from ..artifacts.profile import Profile

_MOST = 64  # routes of their own that a segment can have
_CUT = "…"  # ends a key whose name was too long for the profile


def heavy_keys(graph: Graph, profile: Profile | None) -> tuple[HeavyKeys, ...]:
    """Of steps whose key is one field, a whole number or a symbol."""
    found = (_of_step(graph, step, profile) for step in graph.steps) if profile is not None else ()
    return tuple(one for one in found if one is not None)


def key_type(graph: Graph, step: str, field: str) -> Type:
    record = graph.step(graph.step(step).inputs[0]).record
    return next(one.type for one in record.fields if one.name == field)


def _of_step(graph: Graph, step: typed.Step, profile: Profile) -> HeavyKeys | None:
    measured = profile.operators.get(step.name)
    keys = getattr(step.body, "keys", ())
    if measured is None or len(keys) != 1 or len(step.inputs) != 1:
        return None
    type_ = key_type(graph, step.name, keys[0])
    named = [(key, share) for text, share in _named(measured.key_figures) if (key := _key(type_, text)) is not None]
    return HeavyKeys(step.name, keys[0], tuple(named[:_MOST])) if named else None


def _named(figures: Mapping[str, Any]) -> list[tuple[str, float]]:
    """As checked by the profile's reader."""
    return [(text, share) for text, share in figures.get("heavy") or () if not text.endswith(_CUT)]


def _key(type_: Type, text: str) -> int | str | None:
    if isinstance(type_, Symbol):
        return text
    if not isinstance(type_, Int):
        return None
    try:
        number = int(text)
    except ValueError:
        return None
    high = 1 << (type_.bits - 1 if type_.signed else type_.bits)
    low = -high + 1 if type_.signed else 0
    return number if low <= number < min(high, 1 << 63) else None
