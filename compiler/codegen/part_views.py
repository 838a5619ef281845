"""Views of the parts of a divided operator (artifacts/parts.py), for the templates of windows and for their own.

The part that keeps tuples defines the types: keys, columns, rows, partial values. The others name them by its prefix
(`types`).
"""

from __future__ import annotations

from dataclasses import replace

from ...dsl import typed
from ..artifacts.parts import Merge, Reduce, Windows, Work, in_panes, in_ring, owns_windows, pane_function
from ..select.segments import releases
from .keyed_views import key_input, key_part
from .step_views import Context, View, active_alternate


def windows_view(context: Context, step: typed.Step) -> View:
    """Tuples are kept, whatever the aggregates; where parts are merged, a partial value takes rows of kept tuples."""
    body: Windows = step.body
    view = _window(context, step, body.operator, keeps=True)
    pattern, merged = body.pattern, body.gives != "whole" and not pane_function(body.operator.body)
    view.extra |= {
        "operator": body.operator.name, "gives": body.gives, "ring": in_ring(body),
        "edge": next((e.number for e in context.plan.edges if e.producer == step.name), None),
        "worker": _worker(pattern), "inner": pattern.inner_workers or 0, "strided": strided(pattern),
        "team": f"{view.c}_hash(key)" if pattern.outer == "key_partitioning" else "x->dealing.handed / parts",
        "combines_rows": merged, "reads": merged or view.reads, "blocks": False}
    view.output = f"struct {view.c}_task"
    view.extra["frees"] += ("dfrt_dealing_close(&x->dealing);",)
    view.extra["frees"] += ("dfrt_turns_close(&x->turns);",) if in_ring(body) else ()
    if body.gives == "panes" and view.kind == "count_window":
        cut, slide = view.cut, view.slide
        view.extra |= {"overlap": 0, "first_release": cut or slide,
                       "next_due": f"g->pane++ % 2 == 0 ? INT64_C({slide - cut}) : INT64_C({cut})" if cut else
                       f"INT64_C({slide})"}
    return view


def owned_view(context: Context, step: typed.Step) -> View:
    view = _window(context, step, step.body.operator, keeps=False)
    view.extra |= {"owned": True, "batch": step.body.pattern.batch or 1, "blocks": False, "runs": False,
                   "tuple_faults": f"s->head.stage->replica == 0 ? {view.tuple_faults} : &s->{view.c}.others"}
    return view


def work_view(context: Context, step: typed.Step) -> View:
    body: Work = step.body
    store = context.graph.step(step.inputs[0])
    view = _window(context, step, body.operator, keeps=True)
    types = context.names.step(store.name)
    view.extra |= {"operator": body.operator.name, "types": types, "store": types, "gives": store.body.gives,
                   "partial_only": body.partial, "strided": strided(body.pattern),
                   "synchronous": body.pattern.reduce == "synchronous", "in_panes": in_panes(body),
                   "ring": in_ring(body), "releases": releases(store),
                   "segment_c": view.segment.removeprefix("struct ")}
    view.input = f"struct {types}_task"
    if body.partial:
        view.output = f"struct {view.c}_part"
    return view


def reduce_view(context: Context, step: typed.Step) -> View:
    """Alternates may look at different values of the first pass: all of them are there."""
    body: Reduce = step.body
    view = _window(context, step, body.operator, keeps=True)
    view.extra |= {"operator": body.operator.name, "types": _types(context, step),
                   "reduces": tuple(dict.fromkeys(one for a in view.alternates for one in a.reduced))}
    view.input, view.output = context.given(step.inputs[0]), f"struct {view.c}_task"
    return view


def second_work_view(context: Context, step: typed.Step) -> View:
    body: Work = step.body
    view = _window(context, step, body.operator, keeps=True)
    view.extra |= {"operator": body.operator.name, "types": _types(context, step), "gives": "shares",
                   "strided": strided(body.pattern), "active_now": active_alternate(context, body.operator),
                   "idle": " || ".join(f"active == {i}" for i, one in enumerate(view.alternates) if not one.twice)}
    view.input, view.output = context.given(step.inputs[0]), f"struct {view.c}_part"
    return view


def _types(context: Context, step: typed.Step) -> str:
    """The prefix of the part that keeps the tuples."""
    while not isinstance(step.body, Windows):
        step = context.graph.step(step.inputs[0])
    return context.names.step(step.name)


def merge_view(context: Context, step: typed.Step) -> View:
    """What the parts of a window give together; of panes, an ordinary window whose tuples are pane results."""
    body: Merge = step.body
    work = context.graph.step(step.inputs[0])
    types = _types(context, step)
    view = _window(context, step, body.operator, keeps=True)
    own = view.c if body.of == "panes" else types
    view.extra |= {"operator": body.operator.name, "types": types, "store": own, "keeps": False, "blocks": False,
                   "takes_panes": body.of == "panes", "combines": body.of == "panes", "owns": body.of == "panes",
                   "owned": owns_windows(body), "synchronous": body.pattern.reduce == "synchronous",
                   "whole": f"struct {types}_partial", "at_hand": f"{types}_partial"}
    if in_panes(body):
        view.extra |= {"in_panes": True, "panes": "dfrt_panes", "evict": "dfrt_panes_evict",
                       "window_of": "dfrt_panes_window", "whole": "dfrt_whole"}
    view.input = f"struct {context.names.step(work.name)}_part"
    if body.of == "panes":
        view.extra |= _pane_keys(context, step, view)
        view.extra["frees"] = tuple(line for line in view.frees if "pool" not in line and "by_time" not in line)
    return view


def _pane_keys(context: Context, step: typed.Step, view: View) -> dict[str, object]:
    """A pane result carries the key as a struct of its own."""
    record, keys = context.input(step), step.body.keys
    taken = key_input(context, record, keys, keys, "")
    parts = tuple(part.replace("t->", "t->key.") for part in taken.parts)
    return {"key": tuple(key_part(name, record.field(name).type) for name in keys),
            "key_inputs": (replace(taken, input=view.input, parts=parts),)}


def _window(context: Context, step: typed.Step, operator: typed.Step, keeps: bool) -> View:
    from .step_code import window_view

    return window_view(context, replace(operator, name=step.name, inputs=step.inputs, record=step.record), keeps)


def _worker(pattern: typed.Pattern) -> str:
    batch = pattern.batch or 1
    if pattern.schedule == "on_demand":
        return f"dfrt_dealing_least(&x->dealing, most, workers, {batch})"
    return f"(unsigned)(x->dealing.handed / {batch})" if batch > 1 else "(unsigned)x->dealing.handed"


def strided(pattern: typed.Pattern) -> bool:
    return pattern.partition == "round_robin"
