"""The order in which streams are checked: inputs before users, otherwise as declared; cycles are reported."""

from __future__ import annotations

from collections.abc import Iterator

from . import ast
from .context import Context
from .diagnostics import Note
from .mistake import Mistake

StreamDecl = ast.SourceDecl | ast.StreamDecl | ast.SplitDecl | ast.OperatorDecl | ast.SinkDecl


def declared_names(decl: StreamDecl) -> Iterator[tuple[str, ast.Ident]]:
    """What the declaration declares: (kind, name)."""
    match decl:
        case ast.SplitDecl():
            yield from (("outlet", outlet.name) for outlet in decl.outlets)
        case ast.SourceDecl():
            yield "source", decl.name
            if decl.late_to:
                yield "late stream", decl.late_to
        case ast.OperatorDecl():
            yield "operator", decl.name
        case ast.SinkDecl():
            yield "sink", decl.name
        case ast.StreamDecl():
            yield "stream", decl.name


def references(decl: StreamDecl) -> Iterator[ast.StreamRef]:
    """The streams that the declaration reads."""
    match decl:
        case ast.OperatorDecl():
            yield from decl.inputs
        case ast.StreamDecl() | ast.SinkDecl():
            yield from _of_pipeline(decl.pipeline)
        case ast.SplitDecl():
            yield from _of_pipeline(decl.input)


def _of_pipeline(pipeline: ast.Pipeline) -> Iterator[ast.StreamRef]:
    yield pipeline.head
    for stage in pipeline.stages:
        if isinstance(stage, ast.UnionStage):
            yield from stage.others
        elif isinstance(stage, ast.JoinStage | ast.BroadcastStage):
            yield stage.other


def in_order(context: Context, decls: list[StreamDecl]) -> list[StreamDecl]:
    """The declarations so that inputs come first. What stands in a cycle is reported once and left out.

    Depth first with its own stack: a chain of streams may be longer than Python's.
    """
    owner = {name.text: decl for decl in reversed(decls) for _, name in declared_names(decl)}
    state: dict[int, str] = {}
    result: list[StreamDecl] = []
    for root in decls:
        if id(root) in state:
            continue
        state[id(root)] = "open"
        path = [(root, references(root))]
        while path:
            decl, refs = path[-1]
            for ref in refs:
                needed = owner.get(ref.name.text)
                if needed is None or state.get(id(needed)) in ("done", "cyclic"):
                    continue
                if state.get(id(needed)) == "open":
                    _report_cycle(context, [d for d, _ in path], needed, ref, state)
                    continue
                state[id(needed)] = "open"
                path.append((needed, references(needed)))
                break
            else:
                path.pop()
                if state[id(decl)] == "open":
                    state[id(decl)] = "done"
                    result.append(decl)
    return result


def _report_cycle(context: Context, path: list[StreamDecl], start: StreamDecl, ref: ast.StreamRef,
                  state: dict[int, str]) -> None:
    cycle = path[next(i for i, decl in enumerate(path) if decl is start):]
    names = [next(declared_names(decl))[1] for decl in cycle]
    way = " ← ".join(f"`{name}`" for name in [*names, names[0]])
    notes = tuple(Note(f"`{name}` is declared here", name.span) for name in names[1:])
    context.report(Mistake("E0111", ref.span, f"a stream can't be made from itself: {way}",
                           expected="a stream that does not need this one", notes=notes))
    for decl in cycle:
        state[id(decl)] = "cyclic"
