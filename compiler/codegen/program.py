"""Graph and plan → the files of a program: C, header, main, controller configuration."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace

from ...dsl import typed
from ..artifacts.graph import Graph
from ..artifacts.interface import Interface
from ..artifacts.parts import Part, Work, divided, in_panes, together
from ..artifacts.plan import Edge, Plan, Segment, patterns_of, to_text
from ..artifacts.step_text import kind_of
from ..graph.used import c_functions, used_aggregates, used_fields, used_functions
from ..select.heavy import key_type
from ..select.segments import releases
from .blocks import block_of
from .c_types import c_type
from .connectors import connector_spec
from .control import control_configuration
from .embedding import embedding_files
from .header import declarations, header, library_files
from .names import Names, c_string, identifier
from .program_functions import aggregate_code, function_code
from .records import record_code, record_view, scalar_fields
from .saving import require_saved
from .step_code import StepCode, step_code
from .step_views import Context
from .templating import number_lines, render
from .timed import called, calls, timed_code

ABI = 1
_IDENTITY = "@identity@"  # no C


def generate_files(graph: Graph, plan: Plan, version: str, timed: bool = False,
                   saves: bool = False) -> tuple[tuple[str, str], ...]:
    """(name, text) of each generated file; equal graphs and plans give the same bytes. `timed`: for `dfc calibrate`."""
    program = graph.program
    context = replace(_context(graph, plan, timed), saves=saves)
    app, file = program.name, os.path.basename(program.file)
    own = f"{app}.c" if app != "main" else "main_.c"
    return (
        (f"{app}.h", header(context)),
        (own, number_lines(_identified(_program_c(context, version), version, saves), own)),
        ("main.c", render("main.c.j2", app=app, file=file, program=context.names.program,
                          timed=timed)),
        ("control.json", control_configuration(graph, plan)),
    )


def generate_library(graph: Graph, plan: Plan, version: str,
                     saves: bool = False) -> tuple[tuple[tuple[str, str], ...], Interface]:
    """As generate_files, with what a program that embeds this one calls. `saves`: its state can be saved."""
    if saves:
        require_saved(graph)
    context = _context(graph, plan)
    more, interface = embedding_files(context)
    return tuple({**dict(generate_files(graph, plan, version, saves=saves)), **dict(more)}.items()), interface


def library_of(graph: Graph, plan: Plan) -> tuple[tuple[tuple[str, str], ...], str]:
    """The files of a library that holds the user's C functions, and what it declares, for cffi."""
    context = _context(graph, plan)
    return library_files(context), declarations(context)


def _context(graph: Graph, plan: Plan, timed: bool = False) -> Context:
    records = frozenset(step.record.name for step in graph.steps)
    functions = frozenset(name for function in c_functions(graph) for name in (function.name, function.merge) if name)
    return Context(graph, plan, Names(graph.program.name, records, functions), {}, timed)


def _identified(text: str, version: str, saves: bool) -> str:
    """Saved state belongs to exactly this C: a digest of it takes the place of the mark."""
    digest = int.from_bytes(hashlib.sha256(f"{version}\n{text}".encode()).digest()[:8], "big") or 1
    return text.replace(_IDENTITY, f"UINT64_C(0x{digest:016x})" if saves else "0")


def _program_c(whole: Context, version: str) -> str:
    """Operators with a pattern that divides them stand here as parts."""
    plan, program = whole.plan, whole.graph.program
    graph = divided(whole.graph, patterns_of(plan.decisions, plan.layout))
    context = replace(whole, graph=graph)
    sinks = [step.name for step in graph.steps if isinstance(step.body, typed.Sink)]
    code = {step.name: step_code(context, step, sinks) for step in graph.steps}
    functions = [function_code(function, context.symbols) for function in used_functions(whole.graph)]
    functions += [aggregate_code(aggregate, context.symbols) for aggregate in used_aggregates(whole.graph)]
    edges = [_edge(context, edge) for edge in plan.edges]
    waits = [segment.number for segment in plan.segments if any(code[name].waits for name in segment.steps)]
    return render(
        "program.c.j2", app=program.name, file=os.path.basename(program.file), abi=ABI, program=context.names.program,
        plan_lines=to_text(plan).replace("*/", "* /").splitlines(),
        quoted_plan=[c_string(line) for line in to_text(plan).splitlines()], quoted_app=c_string(program.name),
        version=c_string(version), control=_control(whole), light="true" if plan.light else "false",
        staged="true" if plan.layout is not None and plan.layout.kind == "staged" else "false",
        functions=functions, records=record_code(_records(context)),
        stores=[c.store for c in code.values() if c.store], segments=[_segment(plan, s, code) for s in plan.segments],
        declarations=_declarations(context), timed=timed_code(context) if context.timed else "",
        links=_links(context, edges, code),
        steps=[c.functions for c in code.values() if c.functions], edges=edges,
        reading=_reading(context, code, waits), sources=_sources(whole), sinks=_sinks(context, sinks),
        saves=context.saves, identity=_IDENTITY,
        processing=any(isinstance(s.body, typed.Source) and s.body.processing_time for s in graph.steps),
        step_entries=_step_entries(context), alternates=_alternates(whole),
        heavy=_heavy(context, edges), symbols=[c_string(text) for text in context.symbols],
        symbol_sizes=[len(text.encode()) for text in context.symbols])


# --- parts ------------------------------------------------------------------------------------------


def _records(context: Context) -> list:
    """Every record that a step puts out, once; the functions for input and output only where they are used."""
    read = {step.record.name for step in context.graph.steps if isinstance(step.body, typed.Source)}
    written = {context.input(step).name for step in context.graph.steps if isinstance(step.body, typed.Sink)}
    records = {step.record.name: step.record for step in context.graph.steps}
    return [record_view(record, context.names, record.name in read, record.name in written)
            for record in records.values() if record.name in read | written]


@dataclass(frozen=True)
class SegmentView:
    number: int
    kind: str
    why: str
    title: str
    degree: int
    members: tuple[str, ...]
    waits: tuple[str, ...]
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    moves: tuple[str, ...]
    archives: tuple[str, ...]
    step: str
    elastic: str
    freely: str


def _segment(plan: Plan, segment: Segment, code: dict[str, StepCode]) -> SegmentView:
    own = [code[name] for name in segment.steps]
    members = [f"struct {c.state or c.view.c}_state {c.state or c.view.c}" for c in own if c.store and not c.stateless]
    members += [f"struct {c.view.c}_waiting {c.view.c}_waiting" for c in own if c.waits]
    return SegmentView(segment.number, segment.kind, segment.why, c_string(segment.kind),
                       segment.degree, tuple(members),
                       tuple(c.view.c for c in own if c.waits), tuple(name for c in own for name in c.opens),
                       tuple(name for c in own for name in c.closes), tuple(name for c in own for name in c.moves),
                       tuple(name for c in own for name in c.archives),
                       c_string(segment.steps[0] if segment.steps else segment.kind),
                       "true" if segment.elastic else "false",
                       "true" if plan.collects_freely(segment) else "false")


def _declarations(context: Context) -> list[str]:
    """Prototypes of all tuple and watermark functions, so that steps can stand in any order."""
    found = []
    for step in context.takers(context.graph.steps):
        segment = f"struct segment_{context.plan.segment_of(step.name).number} *s"
        for port in range(len(step.inputs)):
            push, watermark = calls(context, step, port)
            taken = context.record(step.record) if isinstance(step.body, typed.Port) else \
                context.given(step.inputs[port])
            found.append(f"static void {push}({segment}, const {taken} *t, int64_t time)")
            found.append(f"static void {watermark}({segment}, int64_t watermark)")
    return found


@dataclass(frozen=True)
class EdgeView:
    number: int
    title: str
    quoted: str
    source: int
    target: int
    tuple: str
    element: str
    keyed: str  # the step whose key orders what one event releases in several replicas; '' if there is none
    routing: str
    markers: str
    numbers: bool  # whether the sending segment numbers what it puts out
    order: str  # the number that the receiving segment passes on; '' where it numbers anew
    hash: str
    push: str
    watermark: str
    shares: bool  # what goes over it points to bytes that every receiver counts


def _edge(context: Context, edge: Edge) -> EdgeView:
    consumer, producer = context.graph.step(edge.consumer), context.graph.step(edge.producer).body
    push, watermark = called(context, consumer, edge.port) if edge.onward is None else \
        (f"edge_{edge.onward}_put", f"edge_{edge.onward}_pass")
    tuple_ = context.given(edge.producer)
    keyed = _ordering_step(context, edge)
    suffix = f"_{edge.port}" if isinstance(consumer.body, typed.Join) else ""
    title = f"{edge.producer} to {edge.consumer}"
    return EdgeView(edge.number, title, c_string(title), edge.source, edge.target, tuple_,
                    f"edge_{edge.number}_element" if keyed else tuple_, keyed, edge.routing, edge.markers,
                    not context.plan.segments[edge.source].numbered, _order(context, edge),
                    f"{context.store(consumer.name)}_hash_of{suffix}(t)", push, watermark,
                    isinstance(producer, Work) and in_panes(producer))


def _order(context: Context, edge: Edge) -> str:
    if not context.plan.segments[edge.target].numbered:
        return ""
    return "run->orders[i]" + (" | DFRT_SECOND_INPUT" if edge.port > 0 else "")


def _ordering_step(context: Context, edge: Edge) -> str:
    """Windows that the watermark closes come out of all replicas at once."""
    segment = context.plan.segments[edge.source]
    first = context.graph.step(segment.steps[0]) if segment.steps else None
    timed = segment.kind in ("keyed", "owners") and releases(first)
    name = first.body.operator.name if timed and together(first.body) else segment.steps[0] if timed else ""
    return name and context.store(name)


def _links(context: Context, edges: list[EdgeView], code: dict[str, StepCode]) -> list[str]:
    found = [render("link.c.j2", edge=edge) for edge in edges]
    for step in context.graph.steps:
        if not isinstance(step.body, typed.Sink):
            found.append(_emit(context, step, code))
    return found


def _emit(context: Context, step: typed.Step, code: dict[str, StepCode]) -> str:
    ports = {c.body.port: called(context, c, 0)[0] for c in context.graph.consumers(step.name)
             if isinstance(c.body, typed.Port)}
    home = context.plan.segment_of(step.name).number
    crossing = {(e.producer, e.consumer, e.port): e.number for e in context.plan.edges if e.source == home}
    pushes, passes = [], []
    for consumer in context.takers(context.graph.consumers(step.name)):
        for port in (p for p, name in enumerate(consumer.inputs) if name == step.name):
            number = crossing.get((step.name, consumer.name, port))
            push, watermark = called(context, consumer, port) if number is None else \
                (f"edge_{number}_put", f"edge_{number}_pass")
            if not isinstance(consumer.body, typed.Late):
                pushes.append(push)
                passes.append(watermark)
    view = code[step.name].view
    view.extra |= {"pushes": pushes, "passes": passes, "runs": view.extra.get("runs", False),
                   "only_sink": _only_sink(context, step, code),
                   "port_pushes": [(identifier(port), push) for port, push in ports.items()]}
    return render("emit.c.j2", x=view)


def _only_sink(context: Context, step: typed.Step, code: dict[str, StepCode]) -> int | None:
    """The sink of the same segment that alone reads a step; it takes many results at once."""
    consumers = context.graph.consumers(step.name)
    if len(consumers) != 1 or not isinstance(consumers[0].body, typed.Sink):
        return None
    together = context.plan.segment_of(consumers[0].name) is context.plan.segment_of(step.name)
    return code[consumers[0].name].view.sink if together else None


def _reading(context: Context, code: dict[str, StepCode], waits: list[int]) -> str:
    sources = [code[step.name].view for step in context.graph.steps if isinstance(step.body, typed.Source)]
    for x in sources:
        block = None if x.timed or waits or context.timed else block_of(context, context.graph.step(x.name))
        x.extra |= {"block": block and render("block.c.j2", x=x, block=block), "block_most": block and block.most}
    return render("reading.c.j2", sources=sources, waits=waits, processing=[x for x in sources if x.processing])


# --- tables -----------------------------------------------------------------------------------------


def _heavy(context: Context, edges: list[EdgeView]) -> dict[int, dict]:
    """By segment: how an element gets each of the keys that are known to be heavy."""
    found: dict[int, dict] = {}
    for known in context.plan.heavy:
        edge = next((one for one in context.plan.edges if one.consumer == known.step and one.routing == "key"), None)
        if edge is not None and edge.target not in found:
            view = edges[edge.number]
            place = f"element.{'tuple.' if view.keyed else ''}{identifier(known.field)}"
            type_ = c_type(key_type(context.graph, known.step, known.field))
            found[edge.target] = {"element": view.element, "edge": edge.number, "entries": [
                {"set": _set_key(place, type_, key), "share": repr(share)} for key, share in known.keys]}
    return found


def _set_key(place: str, type_: str, key: int | str) -> str:
    """A condition that holds when the key is set."""
    if isinstance(key, int):
        return f"({place} = ({type_}){'-' * (key < 0)}INT64_C({abs(key)}), true)"
    return f"dfrt_symbol_intern({c_string(key)}, {len(key.encode())}, &{place}) == DFRT_OK"


def _sources(context: Context) -> list[dict]:
    return [{"name": c_string(step.name), "spec": c_string(connector_spec(step.body.connector, step.body.retry)),
             "record": context.record(step.record), "time_field": _time_field(step),
             "step": context.number(step.name), "c": context.names.step(step.name),
             "used": _used(context, step)}
            for step in context.graph.steps if isinstance(step.body, typed.Source)]


def _used(context: Context, step: typed.Step) -> list[str]:
    used = used_fields(context.graph, step)
    return ["true" if name in used else "false" for name in scalar_fields(step.record)]


def _time_field(step: typed.Step) -> int:
    return scalar_fields(step.record).index(step.body.event_time) if step.body.event_time else -1


def _sinks(context: Context, sinks: list[str]) -> list[dict]:
    steps = [context.graph.step(name) for name in sinks]
    return [{"name": c_string(step.name), "spec": c_string(connector_spec(step.body.connector)),
             "record": context.record(context.input(step)),
             "segment": context.plan.segment_of(step.name).number, "step": context.number(step.name)}
            for step in steps]


def _step_entries(context: Context) -> list[dict]:
    same = (typed.Map, typed.Scan, typed.Update, typed.Sink, typed.Union_)
    return [{"name": c_string(step.name), "kind": c_string(_kind(step)), "c": context.names.step(step.name),
             "inputs": [] if isinstance(step.body, typed.Late) else [context.number(name) for name in step.inputs],
             "same": "true" if isinstance(step.body, same) else "false",
             "segment": context.plan.segment_of(step.name).number} for step in context.graph.steps]


def _kind(step: typed.Step) -> str:
    return type(step.body).__name__.lower() if isinstance(step.body, Part) else kind_of(step.body)


def _control(context: Context) -> list[str]:
    """The configuration as the program carries it: line by line, since C has a limit for literals."""
    return [c_string(line) for line in control_configuration(context.graph, context.plan).splitlines()]


def _alternates(context: Context) -> list[dict]:
    found = []
    for chosen in context.plan.alternates:
        alternates = context.graph.step(chosen.operator).body.alternates
        names = [a.name for a in alternates]
        found.append({"name": c_string(chosen.operator), "c": context.names.step(chosen.operator),
                      "names": [c_string(name) for name in names], "active": names.index(chosen.alternate)})
    return found


