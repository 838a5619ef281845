"""How the state of a step becomes bytes, and bytes its state: for checkpoints of programs that run elsewhere.

One function a step goes over everything that it remembers, in both directions (dfrt/archive.h). What only C knows can't
be saved: `require_saved` says so before anything is generated.
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl import typed
from ...dsl.diagnostics import Diagnostics
from ..artifacts.graph import Graph
from ..graph.runnable import RUNNABLE_CODES, NotRunnable
from ..graph.walk import aggregates_of
from .step_views import View
from .templating import render


def require_saved(graph: Graph) -> None:
    """Raises NotRunnable with every step whose state can't be saved."""
    found = Diagnostics()
    for step in graph.steps:
        for what in _unsaved(graph, step):
            found.add("E0814", step.span, f"`{step.name}`: {what}", expected=RUNNABLE_CODES["E0814"].right)
    if found.items:
        raise NotRunnable(found)


def _unsaved(graph: Graph, step: typed.Step) -> list[str]:
    body = step.body
    if isinstance(body, typed.Source) and body.processing_time:
        return ["processing time begins anew when a program does, so what it remembers can't be saved"]
    constructs = [body.construct] if isinstance(body, typed.Scan) else \
        [one.body for one in body.alternates if isinstance(one.body, typed.Construct)] \
        if isinstance(body, typed.Operator) and body.window is not None else []
    used = {one.function for made in constructs for one in aggregates_of(made) if one.user}
    return [f"the state of the aggregate `{one.name}` is known to its C only, so it can't be saved"
            for one in graph.program.aggregates if one.name in used and one.c is not None]


def saving_code(view: View, shared: bool = False) -> str:
    """The function that saves and loads the state of a step."""
    members = view.extra.get("key", ())
    view = replace(view, extra=view.extra | {
        "state_times": _state_times(view, shared), "keeps": view.extra.get("keeps", False),
        "expire": view.extra.get("expire"), "key_members": tuple(m for part in members for m in part.members)})
    if shared:
        view.extra["shortest_slide"] = min(member.slide for member in view.members)
        return render("save_shared.c.j2", x=view)
    template = "save_times.c.j2" if view.kind in ("source", "union", "broadcast") else "save.c.j2"
    return render(template, x=view)


def _state_times(view: View, shared: bool) -> tuple[str, ...]:
    """Times that a step as a whole remembers."""
    found = [f"x->{name}" for name in _TIMES.get(view.kind, ())] if not shared else \
        [f"x->of_{member.c}.next_end" for member in view.members if view.kind == "time_window"]
    if view.kind == "source" and view.slack is None:
        found.append("x->slack")
    if view.kind in ("union", "broadcast", "join"):
        sides = range(len(view.sides))
        found += [f"x->watermarks[{port}]" for port in sides]
        found += [f"s->{view.c}_waiting.watermarks[{port}]" for port in sides if view.buffered]
    if view.extra.get("expire"):
        found += ["x->idle_watermark", "x->idle_sweep"]
    return tuple(found)


_TIMES = {"source": ("watermark", "highest"), "time_window": ("next_end",),
          "moving_window": ("watermark", "next_sweep"), "union": ("watermark",), "broadcast": ("watermark",),
          "join": ("watermark", "next_sweep")}
