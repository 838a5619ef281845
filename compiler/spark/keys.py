"""Which keys there are and how unevenly tuples fall to them: the heaviest exactly, the tail by its number and ranks.

A key whose share of all tuples is at least LEAST_SHARE has that share in at least one piece: where a piece has too many
keys to tell them all, it tells those, a second look counts them exactly, and the number of keys is that of a sketch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.artifacts.profile import share_of
from dfc.dsl import typed

from .measure import Counts
from .sketch import SIZE, estimate, registers

MOST_SHARES = 1000
_NAMED, _LONGEST = 20, 64
_THROUGH = (typed.Filter, typed.Branch, typed.Late, typed.Union_)

Origins = tuple[tuple[str, tuple[str, ...]], ...]  # sources, and which of their columns the key is made of


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """`top` are the largest shares, `ranks` what the heaviest 1, 2, 4, … have together."""

    count: int
    exact: bool
    top: tuple[float, ...]
    heavy: tuple[tuple[str, float], ...]
    ranks: tuple[float, ...]
    over_time: tuple[tuple[str, float] | None, ...]  # the heaviest of each slice of the trace

    def data(self) -> dict[str, object]:
        return {"exact": self.exact, "heavy": [list(one) for one in self.heavy], "ranks": list(self.ranks),
                "over_time": [one and list(one) for one in self.over_time]}


# --- where keys come from ---------------------------------------------------------------------------


def keyed_steps(graph: Graph) -> dict[str, Origins]:
    """Steps whose keys are fields of sources, handed on as they are; filters between are taken as if they kept all."""
    found = {}
    for step in graph.steps:
        origins = [one for source, keys in _inputs(step) if keys for one in _origins(graph, source, keys)]
        if origins and None not in origins:
            found[step.name] = tuple(dict.fromkeys(origins))
    return found


def _inputs(step: typed.Step) -> list[tuple[str, tuple[str, ...]]]:
    body = step.body
    if isinstance(body, typed.Join):
        return list(zip(step.inputs, (body.left_keys, body.right_keys), strict=True))
    return [(step.inputs[0], body.keys)] if getattr(body, "keys", ()) and step.inputs else []


def _origins(graph: Graph, name: str, keys: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]] | None]:
    """None: a key is computed on the way."""
    step = graph.step(name)
    if isinstance(step.body, typed.Source):
        return [(name, keys)]
    if isinstance(step.body, typed.Map):
        passed = [_passed(step, key) for key in keys]
        return [None] if None in passed else _origins(graph, step.inputs[0], tuple(passed))
    if isinstance(step.body, _THROUGH):
        return [one for source in step.inputs for one in _origins(graph, source, keys)]
    return [None]


def _passed(step: typed.Step, key: str) -> str | None:
    value = step.body.construct.values[[one.name for one in step.record.fields].index(key)]
    return value.name if isinstance(value, typed.FieldRef) else None


# --- figures ----------------------------------------------------------------------------------------


def candidates(counts: Counts) -> dict[str, frozenset[str]]:
    """Of keys that were not all told: the values to count exactly."""
    return {name: frozenset(value for slice_ in counts.keys.get(name, {}).values() for value in slice_)
            for name in sorted(counts.partial)}


def figures(name: str, counts: Counts, rows: int, slices: int, shares: int = MOST_SHARES) -> KeyFigures | None:
    """None when no tuple has the key."""
    by_slice = counts.keys.get(name, {})
    totals: dict[str, int] = {}
    for one in by_slice.values():
        for value, count in one.items():
            totals[value] = totals.get(value, 0) + count
    if not totals and name not in counts.partial:
        return None
    exact = name not in counts.partial
    ordered = sorted(totals.items(), key=lambda one: (-one[1], one[0]))
    count = len(ordered) if exact else max(_estimated(name, counts, totals), len(ordered))
    top = tuple(share_of(one, rows) for _, one in ordered[:shares])
    return KeyFigures(count, exact, top, tuple((_cut(value), share_of(one, rows)) for value, one in ordered[:_NAMED]),
                      tuple(_ranks([one for _, one in ordered], rows)),
                      tuple(_heaviest(by_slice.get(at, {}), exact) for at in range(slices)))


def _estimated(name: str, counts: Counts, totals: Mapping[str, int]) -> int:
    """Values of pieces that told all are added to the sketch of the others."""
    sketch = counts.sketches[name]
    if totals:
        sketch = registers(list(totals)).clip(min=sketch)
    found = estimate(sketch)
    return round(found, -2) if found > SIZE else round(found)


def _ranks(ordered: list[int], rows: int) -> list[float]:
    found, total, at = [], 0, 1
    for rank, count in enumerate(ordered, 1):
        total += count
        if rank == at:
            found.append(share_of(total, rows))
            at *= 2
    return found


def _heaviest(counts: Mapping[str, int], exact: bool) -> tuple[str, float] | None:
    """Its share of the tuples of the slice, where all of them are known."""
    if not counts or not exact:
        return None
    value = min(counts, key=lambda one: (-counts[one], one))
    return _cut(value), share_of(counts[value], sum(counts.values()))


def _cut(value: str) -> str:
    return value if len(value) <= _LONGEST else value[:_LONGEST - 1] + "…"
