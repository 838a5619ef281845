"""How a single segment takes what replicas give: in the order of the sequential program, or as it comes.

Nobody may see the difference but who permits it. So only sinks and stateless steps collect freely, behind which nothing
comes; and every sink must get what it asks for: with `order free` anything does, with `order key` replicas that are
divided by its keys, with `order total` one thread that gives it everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.plan import Collecting, Segment
from .segments import Crossing, inputs_meet, is_keyed, is_stateless


def collecting_of(graph: Graph, segments: tuple[Segment, ...],
                  relays: Mapping[Crossing, int]) -> tuple[Collecting, ...]:
    """Of the segments to which replicas give, and where a sink asks for less than the whole order. `graph` has
    operators as parts."""
    cut = _Cut(graph, {name: segment for segment in segments for name in segment.steps}, relays)
    return tuple(cut.collecting(segment) for segment in segments if segment.kind == "single" and cut.asks(segment))


def freely_collected(graph: Graph, segments: tuple[Segment, ...], relays: Mapping[Crossing, int]) -> frozenset[str]:
    """The steps of replicated segments that only segments read which collect freely."""
    home = {name: segment for segment in segments for name in segment.steps}
    free = {one.segment for one in collecting_of(graph, segments, relays) if one.freely}
    return frozenset(name for segment in segments if segment.replicated and all(
        home[after.name] is segment or home[after.name].number in free
        for step in segment.steps for after in graph.consumers(step)) for name in segment.steps)


@dataclass(frozen=True, slots=True)
class _Cut:
    """The graph with the segments of its steps."""

    graph: Graph
    home: Mapping[str, Segment]
    relays: Mapping[Crossing, int]

    def asks(self, segment: Segment) -> bool:
        given = (name for step in self._steps(segment) for name in step.inputs)
        return any(self.home[name].replicated for name in given) and \
            any(sink.body.order != "total" for sink in self._sinks(segment))

    def collecting(self, segment: Segment) -> Collecting:
        why_not = next(self._why_not(segment), None)
        if why_not is not None:
            return Collecting(segment.number, False, why_not)
        return Collecting(segment.number, True, "; ".join(map(self._why, self._sinks(segment))))

    def _steps(self, segment: Segment) -> list[typed.Step]:
        return [self.graph.step(name) for name in segment.steps]

    def _sinks(self, segment: Segment) -> list[typed.Step]:
        return [step for step in self._steps(segment) if isinstance(step.body, typed.Sink)]

    def _why_not(self, segment: Segment) -> Iterator[str]:
        for step in self._steps(segment):
            yield from (f"`{after.name}` takes it on from there" for after in self.graph.consumers(step.name)
                        if self.home[after.name] is not segment)
        yield from (f"`{consumer}` takes it on from there" for (_, consumer), relay in self.relays.items()
                    if relay == segment.number)
        for step in self._steps(segment):
            if isinstance(step.body, typed.Union_):
                if inputs_meet(self.graph, step):
                    yield f"the inputs of `{step.name}` come from one source"
            elif not is_stateless(step) and not isinstance(step.body, typed.Port | typed.Sink):
                yield f"`{step.name}` depends on the order of its input"
        yield from filter(None, map(self._missed, self._sinks(segment)))

    def _missed(self, sink: typed.Step) -> str | None:
        """Why the sink would not get the order that it asks for."""
        giver = self._giver(sink)
        if sink.body.order == "free" or giver is not None and not self.home[giver].replicated:
            return None
        if sink.body.order == "total":
            return f"`{sink.name}` asks for the whole order"
        if giver is not None and self.home[giver].kind == "keyed" and self._keyed_step(giver):
            return None
        return f"`{sink.name}` asks for the order of each key, and what gives it is not divided by its keys"

    def _why(self, sink: typed.Step) -> str:
        if sink.body.order == "free":
            return f"`{sink.name}` asks for no order"
        giver = self._giver(sink)
        if not self.home[giver].replicated:
            return f"`{sink.name}` gets all from one thread"
        return f"`{sink.name}` gets each key of `{self._keyed_step(giver)}` from one replica"

    def _giver(self, sink: typed.Step) -> str | None:
        """The step of another segment whose results come to the sink; None behind a union, where there are several."""
        step = sink
        while len(step.inputs) == 1 and self.home[step.name] is self.home[sink.name]:
            step = self.graph.step(step.inputs[0])
        return step.name if self.home[step.name] is not self.home[sink.name] else None

    def _keyed_step(self, name: str) -> str | None:
        """Whose keys a stream has: those of the last step with keys. A step without state that names keys is not
        divided by them."""
        step = self.graph.step(name)
        while isinstance(step.body, typed.Port) or is_stateless(step) and not getattr(step.body, "keys", ()):
            step = self.graph.step(step.inputs[0])
        return step.name if is_keyed(step) else None
