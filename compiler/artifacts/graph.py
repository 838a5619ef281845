"""The dataflow graph: a networkx graph of typed steps, with its text form, JSON form and verifier."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property

import networkx as nx

from ...dsl import typed
from ...dsl.span import Span
from ...dsl.types import Record
from .step_text import describe, kind_of


class GraphError(Exception):
    """A graph that can't be: a mistake of the compiler, not of the program."""


@dataclass(frozen=True)
class Graph:
    """`flow` has a node a step, keyed by its name, with the typed.Step as `step`; an edge for each input,
    with the index of the input as `port`, so that one stream can feed two ports of a step. It is frozen."""

    program: typed.Program
    flow: nx.MultiDiGraph = field(compare=False, repr=False)

    @property
    def steps(self) -> tuple[typed.Step, ...]:
        """In the order in which they run: a step after all its inputs."""
        return self.program.steps

    def step(self, name: str) -> typed.Step:
        return self.flow.nodes[name]["step"]

    def consumers(self, name: str) -> tuple[typed.Step, ...]:
        """The steps that read this one, each once, in order."""
        readers = self.flow.successors(name)
        return tuple(sorted((self.step(reader) for reader in readers), key=lambda step: self.places[step.name]))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each step stands in the order."""
        return {step.name: place for place, step in enumerate(self.steps)}


def graph_of(program: typed.Program) -> Graph:
    """The graph of a program's steps, as they are; `verify` says whether it is one."""
    flow = nx.MultiDiGraph(name=program.name)
    for step in program.steps:
        flow.add_node(step.name, step=step)
    for step in program.steps:
        for port, name in enumerate(step.inputs):
            flow.add_edge(name, step.name, key=port, port=port)
    return Graph(program, nx.freeze(flow))


def with_steps(graph: Graph, steps: tuple[typed.Step, ...]) -> Graph:
    """The graph of the same program with other steps."""
    return graph_of(replace(graph.program, steps=steps))


# --- verifier ---------------------------------------------------------------------------------------

_INPUTS = {typed.Source: (0, 0), typed.Join: (2, 2), typed.Broadcast: (2, 2), typed.Union_: (1, None)}


def verify(graph: Graph) -> None:
    """Raises GraphError unless the graph is one: every stage leaves it so."""
    seen: set[str] = set()
    for step in graph.steps:
        _require(step.name not in seen, step, "is written twice")
        for name in step.inputs:
            _require(name in graph.places, step, f"reads {name}, which is not there")
            _require(name in seen, step, f"reads {name}, which comes after it")
        seen.add(step.name)
        _verify_inputs(graph, step)
        _verify_outputs(graph, step)
    _require_same(graph)


def _require(true: bool, step: typed.Step, complaint: str) -> None:
    if not true:
        raise GraphError(f"{step.span}: step {step.name} {complaint}")


def _require_same(graph: Graph) -> None:
    """Nodes and edges are those of the steps, and there is no cycle."""
    edges = sorted((name, step.name, port) for step in graph.steps for port, name in enumerate(step.inputs))
    if sorted(graph.flow.edges(keys=True)) != edges or set(graph.flow) != {step.name for step in graph.steps}:
        raise GraphError("the graph's edges are not its steps' inputs")
    if not nx.is_directed_acyclic_graph(graph.flow):
        raise GraphError("the graph has a cycle")


def _verify_inputs(graph: Graph, step: typed.Step) -> None:
    low, high = _INPUTS.get(type(step.body), (1, 1))
    _require(low <= len(step.inputs) and (high is None or len(step.inputs) <= high), step,
             f"has {len(step.inputs)} inputs")
    inputs = [graph.step(name) for name in step.inputs]
    _require(not any(isinstance(other.body, typed.Sink) for other in inputs), step, "reads a sink")
    if isinstance(step.body, typed.Filter | typed.Branch | typed.Union_ | typed.Late | typed.Sink):
        for other in inputs:
            _require(other.record.fits(step.record), step,
                     f"puts out {step.record}, but {other.name} gives {other.record}")
            _require(other.unit == step.unit, step, f"has unit {step.unit}, but {other.name} has {other.unit}")
    if isinstance(step.body, typed.Late):
        body = inputs[0].body
        _require(isinstance(body, typed.Source) and body.late_to == step.name, step, "is no late stream of its input")


def _verify_outputs(graph: Graph, step: typed.Step) -> None:
    body = step.body
    if isinstance(body, typed.Source) and body.late_to is not None:
        _require(body.late_to in graph.flow, step, f"sends late tuples to {body.late_to}, which is not there")
    if isinstance(body, typed.Source) and body.event_time is not None:
        _require(step.record.field(body.event_time) is not None, step, f"has no field {body.event_time}")
    for construct in _constructs(body):
        _require(construct.record.fits(step.record), step, f"puts out {step.record}, but builds {construct.record}")
        types = tuple(value.type for value in construct.values)
        _require(types == tuple(column.type for column in construct.record.fields), step,
                 f"builds {construct.record} from values of other types")


def _constructs(body: typed.Body) -> tuple[typed.Construct, ...]:
    if isinstance(body, typed.Map | typed.Join | typed.Broadcast | typed.Scan | typed.Update):
        return (body.construct,)
    if isinstance(body, typed.Operator) and not body.ports:
        return tuple(one.body for one in body.alternates if isinstance(one.body, typed.Construct))
    return ()


# --- text and JSON ----------------------------------------------------------------------------------


def to_text(graph: Graph) -> str:
    """A paragraph a step, in order; the same graph gives the same text."""
    lines = [f"graph {graph.program.name}"]
    for step in graph.steps:
        inputs = f" <- {', '.join(step.inputs)}" if step.inputs else ""
        unit = f" in {step.unit}" if step.unit else ""
        lines += ["", f"{kind_of(step.body)} {step.name}{inputs}"]
        lines += [f"  {line}" for line in describe(step.body)]
        lines.append(f"  -> {record_text(step.record)}{unit}")
    return "\n".join(lines) + "\n"


def record_text(record: Record) -> str:
    return f"{record.name} {{ {', '.join(f'{column.name}: {column.type}' for column in record.fields)} }}"


def to_json(graph: Graph) -> str:
    return json.dumps(as_data(graph), indent=2, ensure_ascii=False) + "\n"


def as_data(graph: Graph) -> dict:
    """Steps with what they do, records, edges: what the JSON form says."""
    records = dict.fromkeys(step.record for step in graph.steps)
    return {
        "version": 1,
        "app": graph.program.name,
        "operators": [_step_json(step) for step in graph.steps],
        "records": [{"name": record.name,
                     "fields": [{"name": one.name, "type": str(one.type)} for one in record.fields]}
                    for record in records],
        "edges": [{"from": name, "to": step.name, "port": port}
                  for step in graph.steps for port, name in enumerate(step.inputs)],
    }


def _step_json(step: typed.Step) -> dict:
    return {"name": step.name, "kind": kind_of(step.body), "record": step.record.name, "unit": step.unit,
            "details": list(describe(step.body)), "span": _span_json(step.span)}


def _span_json(span: Span) -> dict:
    return {"file": span.file, "line": span.line, "column": span.column,
            "end_line": span.end_line, "end_column": span.end_column}
