"""Graph → plan, with the reason of every decision."""

from __future__ import annotations

import networkx as nx

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.parts import Owned, Windows, divided
from ..artifacts.plan import Alternative, Edge, Plan, Segment, Sharing, patterns_of, verify
from ..artifacts.plan_file import PlanFile
from ..artifacts.profile import Profile
from ..graph.used import c_functions
from .collecting import collecting_of
from .heavy import heavy_keys
from .pattern_table import decided
from .search import Choice
from .segments import inputs_meet, releases, segments_of
from .sharing import shared_windows
from .stores import needs_tuples, stores_of


def choose(graph: Graph, choice: Choice | None = None, profile: Profile | None = None,
           file: PlanFile | None = None, begun: tuple[Alternative, ...] = ()) -> Plan:
    """`choice` is the answer of the cost model, where it was asked; what a trace says otherwise is in the profile, what
    a search found in the plan file. `begun`: alternates that begin because of what was measured."""
    layout, decisions = (decided(choice) if choice is not None else (None, ()))
    patterns = patterns_of(decisions, layout)
    parts = divided(graph, patterns)
    shared, apart = shared_windows(parts, choice.forced if choice is not None else ())
    segments, relays = segments_of(parts, shared, choice.model.cutting(patterns) if choice is not None else {})
    buffered = tuple(step.name for step in graph.steps if inputs_meet(graph, step))
    edges = _edges(parts, segments, relays, set(buffered), shared)
    plan = Plan(segments, edges, _alternates(graph, file, begun), stores_of(graph, shared, apart, patterns), buffered,
                layout, decisions, "" if patterns else _light(graph), shared, *_learned(graph, profile), file,
                heavy_keys(graph, profile), collecting_of(parts, segments, relays))
    verify(plan)
    return plan


def _learned(graph: Graph, profile: Profile | None) -> tuple[tuple, tuple]:
    """What controllers start with, and what the slack of sources is compared with."""
    if profile is None:
        return (), ()
    fitted = profile.forecast()
    delays = ((step.name, profile.delay(step.name)) for step in graph.steps if isinstance(step.body, typed.Source))
    return (tuple((name, float(fitted[name])) for name in ("level", "trend") if name in fitted),
            tuple((name, float(delay)) for name, delay in delays if delay is not None))


def _light(graph: Graph) -> str:
    """Text is parsed at a hundred cycles a row or so. Values combined in panes cost less; tuples that are kept and
    sorted, joins and the user's C may cost any amount, and are better divided among the workers; so is what the
    program itself gives a pattern."""
    heavy = c_functions(graph) or any(isinstance(step.body, typed.Join) or getattr(step.body, "pattern", None)
                                      or needs_tuples(graph.program, step) for step in graph.steps)
    if heavy or not all(_is_csv_file(step) for step in graph.steps if isinstance(step.body, typed.Source)):
        return ""
    return "parsing CSV is most of the work"


def _is_csv_file(step: typed.Step) -> bool:
    return step.body.connector.kind == "csv" and step.body.connector.path != "-"


# --- edges ------------------------------------------------------------------------------------------


def _edges(graph: Graph, segments: tuple[Segment, ...], relays: dict[tuple[str, str], int],
           buffered: set[str], shared: tuple[Sharing, ...]) -> tuple[Edge, ...]:
    home = {name: segment for segment in segments for name in segment.steps}
    exact = _exact(graph, buffered)
    together = {one.first: one.steps for one in shared}
    edges: list[Edge] = []
    for step in graph.steps:
        if any(step.name in one.others for one in shared):
            continue  # the first of them takes the stream for all
        for port, name in enumerate(step.inputs):
            if home[name] is not home[step.name]:
                takers = together.get(step.name, (step.name,))
                markers = "event" if any(_reaches(graph, taker, exact) for taker in takers) else "round"
                relay = relays.get((name, step.name))
                edges += _edge(len(edges), home, name, step, port, markers, relay)
    return tuple(edges)


def _edge(number: int, home: dict[str, Segment], producer: str, consumer: typed.Step, port: int, markers: str,
          relay: int | None) -> list[Edge]:
    """One edge, or the second and the first part of a way through another segment."""
    target = home[consumer.name]
    routing = {"keyed": "key", "farm": "turn" if target.behind else "deal", "work": "task",
               "owners": "all"}.get(target.kind, "one")
    if isinstance(consumer.body, typed.Broadcast) and port == 1 and target.kind == "farm":
        routing = "all"
    source = home[producer].number if relay is None else relay
    last = Edge(number, producer, consumer.name, port, source, target.number, routing, markers)
    if relay is None:
        return [last]
    return [last, Edge(number + 1, producer, consumer.name, port, home[producer].number, relay, "one", markers, number)]


def _exact(graph: Graph, buffered: set[str]) -> set[str]:
    """Steps that show between which tuples a watermark moved: those that forget idle keys, that wait for the end
    of an event, or whose results at a watermark meet another stream."""
    several = {step.name for step in graph.steps if len(step.inputs) > 1}
    meeting = {step.name for step in graph.steps
               if releases(step) and not several.isdisjoint(nx.descendants(graph.flow, step.name))}
    return buffered | meeting | {step.name for step in graph.steps if _expires(step.body)}


def _expires(body: object) -> bool:
    """Of the parts of an operator the ones that keep its keys."""
    whole = body.operator.body if isinstance(body, Windows | Owned) else body
    return bool(getattr(whole, "expire_after", None))


def _reaches(graph: Graph, name: str, goals: set[str]) -> bool:
    return name in goals or not goals.isdisjoint(nx.descendants(graph.flow, name))


# --- alternates -------------------------------------------------------------------------------------


def _alternates(graph: Graph, file: PlanFile | None, begun: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    operators = [step for step in graph.steps
                 if isinstance(step.body, typed.Operator) and len(step.body.alternates) > 1]
    found = {one.operator: one for one in begun}
    found |= {name: Alternative(name, one.alternate, "by the plan file") for name, one in file.operators.items()
              if one.alternate} if file else {}
    return tuple(found.get(step.name) or _best(step) for step in operators)


def _best(step: typed.Step) -> Alternative:
    best = max(step.body.alternates, key=lambda alternate: alternate.value)
    others = ", ".join(f"{a.name} {a.value:g}" for a in step.body.alternates if a is not best)
    return Alternative(step.name, best.name, f"the highest value, {best.value:g} (others: {others})")


__all__ = ["choose"]
