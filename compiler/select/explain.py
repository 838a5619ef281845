"""Graph and plan → what was decided and why, for `dfc explain`: the same facts as data and as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...dsl import typed
from ...dsl.typed_walk import walk
from ...dsl.types import UNIT_NS
from ..artifacts.graph import Graph
from ..artifacts.plan import Edge, Plan, Segment, patterns_of
from ..artifacts.step_text import connector_text, describe, join_text, kind_of, window_text
from ..graph.walk import expressions_of
from ..patterns.function import combinable, second_map
from .pattern_table import as_data, to_lines
from .reading import parsed_ahead
from .search import Choice
from .stores import needs_tuples

_ROUTING = {"key": "to the worker that keeps the key", "deal": "to the workers in turn, block by block",
            "turn": "to the workers in turn, tuple by tuple", "task": "to the worker whose turn it is",
            "least": "to the worker that has the least to do", "part": "to every worker its part of the window",
            "team": "to every worker of the team whose turn it is its part of the window",
            "team of a key": "to every worker of the key's team its part of the window",
            "all": "to every worker", "one": "to the one thread there"}
_MARKERS = {"event": "watermarks in order with the tuples", "round": "one watermark a round"}
_SHOWN_WORKERS = (1, 2, 4)


@dataclass(frozen=True)
class Explanation:
    """What there is to explain: the graph, its plan, the choice of patterns behind it, and what a profile decided."""

    graph: Graph
    plan: Plan
    choice: Choice
    learned: tuple[str, ...] = ()

    def as_data(self) -> dict:
        return explanation(self.graph, self.plan) | {"from_profile": list(self.learned),
                                                     "patterns": as_data(self.choice)}

    def as_text(self) -> str:
        lines = ["", "from the profile", *(f"  {line}" for line in self.learned)] if self.learned else []
        return to_text(explanation(self.graph, self.plan)) + "".join(
            f"{line}\n" for line in (*lines, *to_lines(self.choice)))


def explanation(graph: Graph, plan: Plan) -> dict:
    """Everything but the patterns, as JSON can say it."""
    return {
        "app": graph.program.name,
        "steps": [_step(graph, plan, step) for step in graph.steps],
        "segments": [_segment(plan, segment) for segment in plan.segments],
        "edges": [_edge(plan, edge) for edge in plan.edges],
        "alternates": [{"operator": a.operator, "active": a.alternate, "why": a.why} for a in plan.alternates],
        "threads": [_threads(graph, plan, workers) for workers in _SHOWN_WORKERS],
        "otherwise": list(_otherwise(graph, plan)),
    }


def _step(graph: Graph, plan: Plan, step: typed.Step) -> dict:
    found = {"name": step.name, "kind": kind_of(step.body), "line": step.span.line,
             "segment": plan.segment_of(step.name).number, "reads": list(step.inputs),
             "says": _says(step, graph), "store": dict(plan.stores).get(step.name)}
    keys = getattr(step.body, "keys", ()) or getattr(step.body, "left_keys", ())
    return found | {"keys": list(keys), "waits_for_both_inputs": step.name in plan.buffered}


def _segment(plan: Plan, segment: Segment) -> dict:
    collecting = next((one for one in plan.collecting if one.segment == segment.number), None)
    return {"number": segment.number, "kind": segment.kind, "steps": list(segment.steps), "why": segment.why,
            "elastic": segment.elastic,
            "collects": collecting and {"freely": collecting.freely, "why": collecting.why}}


def _says(step: typed.Step, graph: Graph) -> str:
    """One line about what the step does."""
    body = step.body
    match body:
        case typed.Operator(window=window) if window is not None:
            unit = graph.step(step.inputs[0]).unit
            timed = f" (in {unit})" if unit and not isinstance(window, typed.CountWindow) else ""
            by = f"by {', '.join(body.keys)}, " if body.keys else ""
            return f"{by}window {window_text(window)}{timed}"
        case typed.Join():
            return f"{join_text(body)} {step.unit}"
        case typed.Scan() | typed.Update():
            return f"by {', '.join(body.keys)}" if body.keys else "over the whole stream"
        case typed.Source() | typed.Sink():
            return "; ".join((connector_text(body.connector), *describe(body)[1:]))
        case typed.Filter() | typed.Branch():
            return " ".join(describe(body))
    return ""


def _edge(plan: Plan, edge: Edge) -> dict:
    return {"from": edge.producer, "to": edge.consumer, "input": edge.port, "from_segment": edge.source,
            "to_segment": edge.target, "routing": edge.routing, "how": _how(plan, edge),
            "watermarks": _MARKERS[edge.markers]}


def _how(plan: Plan, edge: Edge) -> str:
    """To whom things go; of what is given out as work the pattern decides that."""
    parts = (edge.consumer, edge.consumer.removesuffix(".work"), edge.consumer.removesuffix(".second"))
    patterns = patterns_of(plan.decisions, plan.layout)
    pattern = next((patterns[name] for name in parts if name in patterns), None)
    if edge.routing != "task" or pattern is None:
        return _ROUTING[edge.routing]
    match pattern.name:
        case "window_partitioning":
            return _ROUTING["part"]
        case "nesting":
            return _ROUTING["team of a key" if pattern.outer == "key_partitioning" else "team"]
    in_a_row = f", {pattern.batch} in a row" if (pattern.batch or 1) > 1 else ""
    return _ROUTING["least" if pattern.schedule == "on_demand" else "task"] + in_a_row


def _threads(graph: Graph, plan: Plan, workers: int) -> dict:
    """Which threads `--workers N` starts; one worker means everything fused into one thread. Where parsing is most of
    the work, a second one parses; this holds as long as the sources stay what they are."""
    if workers == 1:
        return {"workers": 1, "threads": 1, "of": ["all segments, fused"]}
    if workers == 2 and plan.light:
        return {"workers": 2, "threads": 2, "of": ["all segments, fused", "1 × parsing ahead"]}
    each = [(segment, workers if segment.replicated else 1) for segment in plan.segments]
    parsers = sum(map(parsed_ahead, graph.steps))
    return {"workers": workers, "threads": sum(n for _, n in each) + parsers,
            "of": [*(f"{n} × segment {s.number} ({s.kind})" for s, n in each),
                   *([f"{parsers} × parsing ahead"] if parsers else ())]}


# --- what would be different -------------------------------------------------------------------------


def _about_slack(plan: Plan, step: typed.Step) -> Iterator[str]:
    """Against the delays of the trace; `slack auto` finds out by itself."""
    longest = dict(plan.delays).get(step.name)
    if longest is None or step.body.slack is None or step.unit is None:
        return
    slack = step.body.slack * UNIT_NS[step.unit] / 1e9
    if longest > slack:
        yield (f"tuples of {step.name} came up to {longest:g} s late in the trace, and its slack is {slack:g} s: "
               f"with {longest:g} s none would have been late")
    elif longest < slack / 2:
        yield (f"tuples of {step.name} came at most {longest:g} s late in the trace: its slack of {slack:g} s could be "
               "shorter, and results come sooner")


def _otherwise(graph: Graph, plan: Plan) -> Iterator[str]:
    """What the user could change, and what would follow."""
    if not any(segment.replicated for segment in plan.segments):
        yield "nothing here can be replicated: --workers above 1 only gives each segment a thread of its own"
    for step in graph.steps:
        yield from _about_key(plan, step)
        yield from _about_store(graph.program, step)
        yield from _about_slack(plan, step)
    for chosen in plan.alternates:
        others = [a.name for a in graph.step(chosen.operator).body.alternates if a.name != chosen.alternate]
        yield (f"`{chosen.operator}` runs alternate `{chosen.alternate}`; "
               f"--alternate {chosen.operator}={others[0]} runs another"
               + (f" (also: {', '.join(others[1:])})" if others[1:] else ""))


def _about_key(plan: Plan, step: typed.Step) -> Iterator[str]:
    stateful = isinstance(step.body, typed.Scan) or isinstance(step.body, typed.Operator) and step.body.window
    pattern = patterns_of(plan.decisions, plan.layout).get(step.name)
    divided = pattern is not None and pattern.name != "sequential"
    if stateful and not step.body.keys and not divided:
        yield f"`{step.name}` looks at the whole stream and runs in one thread; with `by …` its state could be divided"


def _about_store(program: typed.Program, step: typed.Step) -> Iterator[str]:
    windowed = isinstance(step.body, typed.Operator) and step.body.window is not None
    if not windowed or not needs_tuples(program, step):
        return
    in_c = sorted((a for a in step.body.alternates if isinstance(a.body, typed.CFunction)),
                  key=lambda a: bool(a.columns))
    why = _in_c(in_c[0]) if in_c else ", and because ".join(_needing(program, step))
    yield f"`{step.name}` keeps its tuples because {why}; what can be combined would need one value a pane"


def _needing(program: typed.Program, step: typed.Step) -> Iterator[str]:
    """The aggregates that see the tuples themselves, and those that compare them with others of the whole window."""
    aggregates = [part for expr in expressions_of(step.body) for part in walk(expr)
                  if isinstance(part, typed.Aggregate) and not combinable(program, part)]
    compared = {one.function: [part.function for part in walk(one) if isinstance(part, typed.Aggregate)][1:]
                for one in aggregates if second_map(one)}
    alone = sorted({one.function for one in aggregates if not second_map(one)})
    if alone:
        yield f"of {', '.join(alone)}"
    yield from (f"{name} compares tuples with {', '.join(sorted(set(others)))} of the whole window"
                for name, others in sorted(compared.items()))


def _in_c(alternate: typed.Alternate) -> str:
    sees = f"takes their {', '.join(alternate.columns)}" if alternate.columns else \
        "sees them whole (`columns` would keep only the fields that it names)"
    return f"alternate `{alternate.name}` is in C and {sees}"


# --- text --------------------------------------------------------------------------------------------


def to_text(found: dict) -> str:
    """For people; the order is that of the program."""
    width = max(len(step["name"]) for step in found["steps"])
    lines = [f"{found['app']}: {len(found['steps'])} steps in {len(found['segments'])} segments", "", "steps"]
    for step in found["steps"]:
        lines += _step_lines(step, width)
    lines += ["", "layout"]
    for segment in found["segments"]:
        lines += [f"  segment {segment['number']}, {segment['kind']}: {', '.join(segment['steps'])}",
                  f"    {segment['why']}", *_collects_lines(segment["collects"])]
        lines += [f"    {e['from']} → {e['to']} (segment {e['to_segment']}): {e['how']}; {e['watermarks']}"
                  for e in found["edges"] if e["from_segment"] == segment["number"]]
    if found["alternates"]:
        lines += ["", "alternates", *(f"  {a['operator']} runs {a['active']}: {a['why']}" for a in found["alternates"])]
    lines += ["", "threads", *(_thread_line(one) for one in found["threads"])]
    if found["otherwise"]:
        lines += ["", "what would be different", *(f"  {line}" for line in found["otherwise"])]
    return "\n".join(lines) + "\n"


def _step_lines(step: dict, width: int) -> list[str]:
    lines = [f"  {step['name']:{width}}  {step['kind']:8}  {step['says']}".rstrip()]
    if step["store"]:
        lines.append(f"  {'':{width}}  {'':8}  {step['store']}")
    if step["waits_for_both_inputs"]:
        lines.append(f"  {'':{width}}  {'':8}  its inputs come from one source: an event's tuples are taken at its end")
    return lines


def _collects_lines(found: dict | None) -> list[str]:
    return [f"    collects {'freely' if found['freely'] else 'in order'}: {found['why']}"] if found else []


def _thread_line(one: dict) -> str:
    count = f"{one['threads']} thread{'s' if one['threads'] > 1 else ''}"
    return f"  --workers {one['workers']}: {count}: {', '.join(one['of'])}"


__all__ = ["Explanation", "explanation", "to_text"]
