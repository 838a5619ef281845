"""A forced pattern with what it leaves open: every way to fill it in that may pay. What is given stays as it is.

    pane_farming { merge: shuffled }  →  { workers: 1, merge_workers: 2, … }, { workers: 2, merge_workers: 2, … }, …

Degrees stay within the cores as far as what is given lets them; where it asks for more threads, the fewest are among
what is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import ModuleType

from ...dsl import typed
from ...dsl.settings import MOST_WORKERS
from . import PATTERNS, nesting, pane_farming
from .forced import why_not
from .function import Function
from .key_partitioning import most_workers
from .load import Load, filled

_SETTINGS = tuple(name for name in typed.Pattern.__dataclass_fields__ if name not in ("name", "span"))


def completions(load: Load, function: Function, forced: typed.Pattern, cores: int) -> Iterator[typed.Pattern]:
    """Each once; at least one."""
    given = {name: value for name in _SETTINGS if (value := getattr(forced, name)) is not None}
    degrees = {pane_farming.NAME: _panes, nesting.NAME: _teams}.get(forced.name, _workers)
    wholes = (replace(one, **given) for one in degrees(load, forced, cores))
    found = tuple(dict.fromkeys(one for one in wholes if why_not(function, one) is None))
    yield from found or (filled(forced, workers=1),)


def degrees_up_to(most: int) -> list[int]:
    """All of them up to 24, then in steps of an eighth."""
    found, degree = [], 1
    while degree <= most:
        found.append(degree)
        degree += max(1, degree // 8 if degree >= 24 else 1)
    return found


def _workers(load: Load, forced: typed.Pattern, cores: int) -> Iterator[typed.Pattern]:
    for workers in [forced.workers] if forced.workers else degrees_up_to(cores):
        yield from PATTERNS[forced.name].configurations(load, workers)


def _panes(load: Load, forced: typed.Pattern, cores: int) -> Iterator[typed.Pattern]:
    """Merge workers are of two merges only, and where these are forced they are there."""
    pattern = filled(forced, schedule=pane_farming.SCHEDULE)
    for merge in [forced.merge] if forced.merge else pane_farming.MERGES:
        if merge in pane_farming.APART:
            yield from (replace(pattern, merge=merge, workers=workers, merge_workers=merging)
                        for workers, merging in _merging(load, forced, cores))
        elif forced.merge_workers in (None, 1):
            yield from (replace(pattern, merge=merge, workers=workers)
                        for workers in ([forced.workers] if forced.workers else degrees_up_to(cores)))


def _merging(load: Load, forced: typed.Pattern, cores: int) -> Iterator[tuple[int, int]]:
    """Pane workers and merge workers."""
    workers, merging = forced.workers, forced.merge_workers
    if merging:
        yield from ((one, merging) for one in ([workers] if workers else degrees_up_to(max(1, cores - merging))))
    elif workers:
        most = cores - workers if load.keys == 1 else min(cores - workers, most_workers(load))
        yield from ((workers, one) for one in degrees_up_to(max(2, most)) if one > 1)
    else:
        yield from ((one.workers, one.merge_workers) for one in _split(pane_farming, load, max(cores, 4) if forced.merge
                                                                      else cores) if one.merge in pane_farming.APART)


def _teams(load: Load, forced: typed.Pattern, cores: int) -> Iterator[typed.Pattern]:
    """Also more teams than there are keys, if they are asked for: the rest of them has nothing to do."""
    for workers, inner in _sizes(load, forced, cores):
        by_key = load.keys > 1 and workers <= most_workers(load)
        for outer in [forced.outer] if forced.outer else ["window_farming"] + ["key_partitioning"] * by_key:
            yield replace(forced, workers=workers, inner_workers=inner, outer=outer)


def _sizes(load: Load, forced: typed.Pattern, cores: int) -> Iterator[tuple[int, int]]:
    """Teams and their workers: at least two, or as many as the bound allows."""
    workers, inner = forced.workers, forced.inner_workers
    if inner:
        yield from ((one, inner) for one in ([workers] if workers else degrees_up_to(max(1, cores // inner))))
    elif workers:
        largest = min(max(cores // workers, 2), MOST_WORKERS // workers)
        yield from ((workers, one) for one in degrees_up_to(largest) if one > 1 or largest == 1)
    else:
        yield from ((one.workers, one.inner_workers) for one in _split(nesting, load, max(cores, 4)))


def _split(pattern: ModuleType, load: Load, cores: int) -> Iterator[typed.Pattern]:
    """All workers that there may be, divided as the pattern divides them."""
    for workers in degrees_up_to(cores):
        yield from pattern.configurations(load, workers)
