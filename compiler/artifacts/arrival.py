"""Whether tuples come to a step in the order of their time."""

from __future__ import annotations

from ...dsl import typed

_STATELESS = (typed.Filter, typed.Map, typed.FlatMap, typed.Branch)


def arrives_in_order(program: typed.Program, step: typed.Step) -> bool:
    """They do from one source that lets nothing earlier in. Where no source before the step has a time, there is no
    other order."""
    steps = {one.name: one for one in program.steps}
    before, waiting = set(), [step.name]
    while waiting:
        name = waiting.pop()
        waiting += [other for other in steps[name].inputs if other not in before]
        before.add(name)
    sources = [steps[name].body for name in before if isinstance(steps[name].body, typed.Source)]
    plain = all(isinstance(steps[name].body, (*_STATELESS, typed.Source)) for name in before - {step.name})
    if len(sources) == 1 and plain and (sources[0].slack == 0 or sources[0].processing_time):
        return True
    return not any(body.event_time is not None or body.processing_time for body in sources)
