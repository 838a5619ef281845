"""`dfc graph`: the dataflow graph, or the threads of a plan, as a picture, for Graphviz, as JSON or as text."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, Usage

from .asked import asked
from .checked import checked_graph

ENDINGS = (".svg", ".dot", ".json", ".txt")


def run(args: Namespace) -> int:
    ending = Path(args.output).suffix if args.output else ".txt"
    if ending not in ENDINGS:
        raise Usage(f"{args.output}: the name must end in {', '.join(ENDINGS)}")
    wanted = asked(args)
    text = _draw_plan(checked_graph(args), wanted, ending) if wanted else _draw(checked_graph(args), ending)
    if args.output:
        from dfc.compiler.build.write import write_file

        write_file(Path(args.output), text.encode())
    else:
        sys.stdout.write(text)
    return GOOD


def _draw(graph, ending: str) -> str:
    if ending in (".svg", ".dot"):
        from dfc.compiler.graph import picture

        return picture.to_svg(graph) if ending == ".svg" else picture.to_dot(graph)
    from dfc.compiler.artifacts import graph as form

    if ending == ".json":
        return json.dumps(form.to_json(graph), indent=2, ensure_ascii=False) + "\n"
    return form.to_text(graph)


def _draw_plan(graph, wanted, ending: str) -> str:
    """The threads that --cores, --profile and --pattern give, each replica for itself."""
    if ending == ".json":
        raise Usage("a plan is drawn as .svg, .dot or .txt; `dfc explain --json` has it as JSON")
    from dfc.compiler import pipeline
    from dfc.compiler.artifacts.plan import to_text

    graph = pipeline.flow(graph.program)
    plan = pipeline.plan(graph, wanted)
    if ending == ".txt":
        return to_text(plan)
    from dfc.compiler.select import plan_picture

    return plan_picture.to_svg(graph, plan) if ending == ".svg" else plan_picture.to_dot(graph, plan)
