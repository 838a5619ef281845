"""What of a program can run where: by ranges of its files, by key, or in one task. Needs the graph only, not Spark.

Before: a graph.
After:  a Placement. `ranges`: no step remembers anything, so each range of a file goes through the whole program by
        itself. `keys`: the rows of each source go to tasks by some of its fields, so that whatever any step groups
        together is in one task, in order of arrival. `overlap`: stretches of the order of arrival, each with as much
        before it as its windows reach back (`overlap.py`). `one`: something looks at the whole stream; `reason` says
        what.

Every task runs the whole program on its rows. What comes out is what the program gives on one machine as long as no
step sees tuples of several keys, or the moments in which watermarks of rows elsewhere move. The rules below stop where
one does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import networkx as nx
from dfc.dsl import typed

from ..artifacts.graph import Graph
from .overlap import Overlap, overlap_of

RANGES, KEYS, OVERLAP, ONE = "ranges", "keys", "overlap", "one"
Copies = dict[str, dict[str, str]]  # source → field of a step → the field of the source that it is a copy of


@dataclass(frozen=True)
class Placement:
    mode: str
    reason: str
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of every source; () where any task will do
    order: str = "index"  # how rows of several sources follow each other: index, watermark, turn
    overlap: Overlap | None = None


class _OneTask(Exception):
    """Why the program can't be divided."""


def place(graph: Graph) -> Placement:
    try:
        return _divided(graph)
    except _OneTask as why:
        found = overlap_of(graph)
        if isinstance(found, str):
            return Placement(ONE, f"{why}; {found}")
        return Placement(OVERLAP, f"{why}, but needs no more of it than {found.words}", _every_source(graph, {}),
                         overlap=found)


def _divided(graph: Graph) -> Placement:
    _require_files_by_time(graph)
    for step in graph.steps:
        _require_groups(step)
    order = _order(graph)
    keyed = [step for step in graph.steps if _keys(step)]
    if not keyed:
        return Placement(RANGES, "no step remembers anything", _every_source(graph, {}), order)
    _require_no_moments(graph)
    keys = _common_keys(keyed, _copies(graph))
    words = ", ".join(f"{source} by {', '.join(names)}" for source, names in keys.items())
    return Placement(KEYS, f"rows go to tasks by key: {words}", _every_source(graph, keys), order)


def _every_source(graph: Graph, keys: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {step.name: keys.get(step.name, ()) for step in graph.steps if isinstance(step.body, typed.Source)}


# --- what can't be divided ---------------------------------------------------------------------------


def _sources(graph: Graph) -> list[typed.Step]:
    return [step for step in graph.steps if isinstance(step.body, typed.Source)]


def _require_files_by_time(graph: Graph) -> None:
    for step in _sources(graph):
        if step.body.processing_time:
            raise _OneTask(f"`{step.name}` goes by processing time, which only one reader can tell")


def _require_groups(step: typed.Step) -> None:
    body = step.body
    if isinstance(body, typed.Broadcast):
        raise _OneTask(f"`{step.name}` needs the latest tuple of `{step.inputs[1]}` for every tuple")
    if _remembers(body) and not _keys(step):
        raise _OneTask(f"`{step.name}` looks at the whole stream: it has no `by`")


def _remembers(body: typed.Body) -> bool:
    return isinstance(body, typed.Scan | typed.Update | typed.Join) or \
        isinstance(body, typed.Operator) and body.window is not None


def _keys(step: typed.Step) -> tuple[str, ...]:
    """What a step groups by; of a join the keys of its first input."""
    if isinstance(step.body, typed.Join):
        return step.body.left_keys
    return step.body.keys if _remembers(step.body) else ()


def _is_released(body: typed.Body) -> bool:
    """Whether results come when a watermark moves, not when a tuple comes."""
    return isinstance(body, typed.Operator) and isinstance(body.window, typed.TimeWindow | typed.SessionWindow) \
        and not getattr(body.window, "every_tuple", False)


def _require_no_moments(graph: Graph) -> None:
    """A task hears of watermarks when its next row comes. Who would notice the difference must not be divided."""
    released = _after(graph, [step.name for step in graph.steps if _is_released(step.body)])
    for step in graph.steps:
        if len(step.inputs) > 1 and any(name in released for name in step.inputs):
            later = [graph.step(name) for name in nx.descendants(graph.flow, step.name)]
            first = next((other.name for other in later if _keys(other)), None)
            if first is not None:
                raise _OneTask(f"`{step.name}` mixes results that come with the watermark into the input of `{first}`")
        if getattr(step.body, "expire_after", None) is not None:
            _require_steady_expiry(graph, step, released)


def _require_steady_expiry(graph: Graph, step: typed.Step, released: set[str]) -> None:
    before = nx.ancestors(graph.flow, step.name)
    timed = [name for name in before if getattr(graph.step(name).body, "event_time", None) is not None]
    if len(timed) > 1 or any(name in released for name in step.inputs):
        raise _OneTask(f"the keys of `{step.name}` expire by a watermark that not every task sees at the same tuple")


def _after(graph: Graph, names: list[str]) -> set[str]:
    return {*names}.union(*(nx.descendants(graph.flow, name) for name in names))


def _order(graph: Graph) -> str:
    """How the program reads: untimed sources in turn, of timed ones the one that is furthest behind."""
    timed = [step.body.event_time is not None for step in _sources(graph)]
    if all(timed):
        return "watermark" if len(timed) > 1 else "index"
    if sum(timed) > 1:
        raise _OneTask("several sources with event time are read in turn with one that has none")
    return "turn" if any(timed) else "index"


# --- which fields rows can be divided by --------------------------------------------------------------


def _copies(graph: Graph) -> dict[str, Copies]:
    """For every step, which of its fields are copies of fields of which sources."""
    found: dict[str, Copies] = {}
    for step in graph.steps:
        found[step.name] = _copied(step, [found[name] for name in step.inputs])
    return found


def _copied(step: typed.Step, inputs: list[Copies]) -> Copies:
    body = step.body
    match body:
        case typed.Source():
            return {step.name: {one.name: one.name for one in step.record.fields}}
        case typed.Filter() | typed.Branch() | typed.Late() | typed.Union_() | typed.Sink():
            return _same_in_all(inputs)
        case typed.Map() | typed.Scan() | typed.Update():
            return _through(_same_in_all(inputs), (body.construct,))
        case typed.Join():
            return _joined(body, *inputs)
        case typed.Operator() if not body.ports and all(isinstance(one.body, typed.Construct)
                                                        for one in body.alternates):
            return _through(_same_in_all(inputs), tuple(one.body for one in body.alternates))
    return {source: {} for copies in inputs for source in copies}


def _same_in_all(inputs: list[Copies]) -> Copies:
    """A field is a copy if it is one on every way that tuples of the source take."""
    found: Copies = {}
    for copies in inputs:
        for source, fields in copies.items():
            known = found.setdefault(source, dict(fields))
            found[source] = {name: origin for name, origin in known.items() if fields.get(name) == origin}
    return found


def _through(copies: Copies, constructs: tuple[typed.Construct, ...]) -> Copies:
    ways = [{one.name: value.name for one, value in zip(made.record.fields, made.values, strict=True)
             if isinstance(value, typed.FieldRef)} for made in constructs]
    return _same_in_all([{source: {name: fields[came] for name, came in way.items() if came in fields}
                          for source, fields in copies.items()} for way in ways])


def _joined(body: typed.Join, left: Copies, right: Copies) -> Copies:
    """The keys of both sides are equal, so that a key of the one stands for that of the other."""
    sides = ((left, dict(zip(body.right_keys, body.left_keys, strict=True))),
             (right, dict(zip(body.left_keys, body.right_keys, strict=True))))
    return _same_in_all([_of_side(body.construct, copies, number, partner)
                         for number, (copies, partner) in enumerate(sides)])


def _of_side(made: typed.Construct, copies: Copies, side: int, partner: dict[str, str]) -> Copies:
    came = {one.name: value.name if value.side == side else partner.get(value.name)
            for one, value in zip(made.record.fields, made.values, strict=True) if isinstance(value, typed.FieldRef)}
    return {source: {name: fields[origin] for name, origin in came.items() if origin in fields}
            for source, fields in copies.items()}


def _origins(step: typed.Step, copies: dict[str, Copies]) -> dict[str, tuple[str | None, ...]]:
    """For every source before the step: the field that each of its keys is a copy of."""
    found: dict[str, tuple[str | None, ...]] = {}
    sides = zip(step.inputs, _keys_by_input(step), strict=True)
    for name, keys in sides:
        for source, fields in copies[name].items():
            origins = tuple(fields.get(key) for key in keys)
            known = found.get(source, origins)
            found[source] = tuple(a if a == b else None for a, b in zip(known, origins, strict=True))
    return found


def _keys_by_input(step: typed.Step) -> list[tuple[str, ...]]:
    if isinstance(step.body, typed.Join):
        return [step.body.left_keys, step.body.right_keys]
    return [_keys(step)] * len(step.inputs)


def _common_keys(keyed: list[typed.Step], copies: dict[str, Copies]) -> dict[str, tuple[str, ...]]:
    """Fields of the sources such that rows which any step groups together are equal in them: all keys of the first step
    if that is possible, else some of them. Two rows with equal keys are equal in any part of the keys."""
    all_origins = {step.name: _origins(step, copies) for step in keyed}
    for step in keyed:
        if not _traced(all_origins[step.name]):
            keys = ", ".join(_keys(step))
            raise _OneTask(f"the keys of `{step.name}` ({keys}) are computed, not copied from a source")
    first = all_origins[keyed[0].name]
    places = _traced(first)
    for size in range(len(places), 0, -1):
        for chosen in combinations(places, size):
            keys = {source: tuple(origins[at] for at in chosen) for source, origins in first.items()}
            if all(_agrees(origins, keys) for origins in list(all_origins.values())[1:]):
                return keys
    raise _OneTask(f"`{keyed[0].name}` and the steps that group after it have no key in common")


def _traced(origins: dict[str, tuple[str | None, ...]]) -> list[int]:
    """The places of keys that are copies whichever source a tuple comes from."""
    return [at for at, one in enumerate(zip(*origins.values(), strict=True)) if None not in one]


def _agrees(origins: dict[str, tuple[str | None, ...]], keys: dict[str, tuple[str, ...]]) -> bool:
    """Whether the step's keys hold the chosen fields, at the same places for all its sources. Adds new sources."""
    known = [source for source in origins if source in keys]
    places = _traced(origins)
    if known:
        size = len(keys[known[0]])
        found = [next((at for at in places if all(origins[one][at] == keys[one][which] for one in known)), None)
                 for which in range(size)]
        if None in found:
            return False
        places = found
    for source in origins:
        keys.setdefault(source, tuple(origins[source][at] for at in places))
    return True


# --- as text ------------------------------------------------------------------------------------------

_HEADINGS = {RANGES: "ranges of the files, side by side", KEYS: "tasks by key, side by side",
             OVERLAP: "ranges of the files that overlap, side by side", ONE: "one task"}


def as_text(graph: Graph, found: Placement) -> str:
    """What `dfc explain --engine spark` says."""
    lines = [f"engine spark: {_HEADINGS[found.mode]}", f"  {found.reason}"]
    for step in graph.steps:
        lines.append(f"  {step.name:<24} {_where(step, found)}")
    return "\n".join(lines) + "\n"


def _where(step: typed.Step, found: Placement) -> str:
    if isinstance(step.body, typed.Sink):
        return "driver: written in order of arrival, then put in place"
    if isinstance(step.body, typed.Source):
        if found.mode == ONE:
            return "the one task reads it, as the program itself does"
        keys = found.keys[step.name]
        sent = f", rows sent by {', '.join(keys)}" if keys else ""
        sent = f", each with {found.overlap.words} before it" if found.overlap else sent
        return f"executors: ranges of its files, twice (first for the watermarks){sent}"
    if found.mode == ONE:
        return "the one task"
    return f"every task, by {', '.join(_keys(step))}" if _keys(step) else "every task"


def as_data(graph: Graph, found: Placement) -> dict:
    return {"engine": "spark", "mode": found.mode, "reason": found.reason,
            "keys": {source: list(names) for source, names in found.keys.items()},
            "steps": {step.name: _where(step, found) for step in graph.steps}}
