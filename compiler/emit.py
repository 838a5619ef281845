"""The artefacts between the steps as stable text, for `--emit` and for golden tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dfc.dsl.diagnostics import Diagnostics

from . import pipeline
from .artifacts import graph as graph_artifact
from .artifacts import plan as plan_artifact
from .failure import Usage
from .select.asked import Asked

EMITTED = ("ast", "graph", "plan", "c", "header", "control", "lib", "exe")
_ENDINGS = {"c": (".c", ".h"), "control": (".json",)}


def kinds_of(words: Iterable[str], option: str) -> tuple[str, ...]:
    """The words in the order of the pipeline, each once. `option` is what the caller calls them."""
    named = list(words)
    unknown = [word for word in named if word not in EMITTED]
    if unknown:
        raise Usage(f"{option} {unknown[0]}: there is {', '.join(EMITTED)}")
    return tuple(kind for kind in EMITTED if kind in named)


def emit(text: str, file: str, params: Mapping[str, str], wanted: tuple[str, ...],
         asked: Asked | None = None, diagnostics: Diagnostics | None = None) -> list[tuple[str, str]]:
    """The artefacts asked for, as (name, text), in the order of the pipeline. Who passes `diagnostics` gets the
    warnings."""
    program = pipeline.check(text, file, params, diagnostics)
    made = [(f"{program.name}.ast", _tree(text, file))] if "ast" in wanted else []
    if not set(wanted) - {"ast"}:
        return made
    graph = pipeline.flow(program)
    made += [(f"{program.name}.graph", graph_artifact.to_text(graph))] if "graph" in wanted else []
    made += [(f"{program.name}.plan", plan_artifact.to_text(pipeline.plan(graph, asked)))] if "plan" in wanted else []
    endings = tuple(ending for kind in wanted for ending in _ENDINGS.get(kind, ()))
    bundle = pipeline.generate(text, file, params, embed="lib" in wanted or "header" in wanted, asked=asked)
    public = f"include/{program.name}.h" if "header" in wanted else ""
    return made + [(name, content) for name, content in bundle.files if name == public or name.endswith(endings)]


def _tree(text: str, file: str) -> str:
    from dfc.dsl.ast_text import dump
    from dfc.dsl.parser import parse

    return dump(parse(text, file, Diagnostics()))
