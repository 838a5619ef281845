"""Each step as C: which view and which templates it is written with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...dsl import typed
from ..artifacts.parts import Merge, Owned, Reduce, Windows, Work, in_panes
from . import keyed_views as keyed
from . import part_views as parts
from . import step_views as views
from .moving import moving_code
from .saving import saving_code
from .shared_views import shared_view
from .step_views import Context, View
from .templating import render


@dataclass(frozen=True)
class StepCode:
    """A step's view, its store (before the segments are declared) and its functions (after)."""

    view: View
    store: str = ""
    functions: str = ""
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    waits: bool = False  # for the end of an event
    stateless: bool = False  # the store declares types only
    state: str = ""  # whose state it is in the segment
    moves: tuple[str, ...] = ()  # whose functions move state to another replica
    archives: tuple[str, ...] = ()  # whose functions save state


def step_code(context: Context, step: typed.Step, sinks: list[str]) -> StepCode:
    sharing, segment = context.plan.sharing_of(step.name), context.plan.segment_of(step.name)
    if sharing is not None:
        first, shared = sharing.first == step.name, shared_view(context, sharing)
        code = _shared(shared, sharing.steps.index(step.name))
        if not first:
            return code
        code = _with_saving(code, shared, shared=True) if context.saves else code
        return _with_moving(code, shared.c, moving_code(shared, segment, shared=True))
    code = _step_code(context, step, sinks)
    code = _with_saving(code, code.view) if context.saves and code.store else code
    stateful = isinstance(step.body, typed.Broadcast) or _has_groups(step.body)
    if stateful:
        return _with_moving(code, code.view.c, moving_code(code.view, segment))
    if isinstance(step.body, Work) and in_panes(step.body) and segment.kind == "keyed":
        return _with_moving(code, code.view.c, render("move_results.c.j2", x=code.view))
    return code


def _has_groups(body: object) -> bool:
    if isinstance(body, typed.Operator):
        return body.window is not None
    return isinstance(body, typed.Scan | typed.Update | typed.Join | Windows) or \
        isinstance(body, Merge) and body.of == "panes"


def _with_saving(code: StepCode, view: View, shared: bool = False) -> StepCode:
    return replace(code, functions=f"{code.functions}\n{saving_code(view, shared)}", archives=(view.c,))


def _with_moving(code: StepCode, name: str, moving: str) -> StepCode:
    return replace(code, functions=code.functions + moving, moves=(name,)) if moving else code


def _step_code(context: Context, step: typed.Step, sinks: list[str]) -> StepCode:
    body = step.body
    match body:
        case typed.Source():
            return _source(views.source_view(context, step))
        case typed.Late():
            return _stateless(views.late_view(context, step))
        case typed.Filter() | typed.Branch():
            return _stateless(views.filter_view(context, step))
        case typed.Map():
            return _stateless(views.map_view(context, step))
        case typed.FlatMap():
            return _stateless(views.flatmap_view(context, step))
        case typed.Operator(window=None):
            return _stateless(views.tuple_operator_view(context, step))
        case typed.Sink():
            return _stateless(views.sink_view(context, step, sinks.index(step.name)))
        case typed.Union_():
            return _several_inputs(keyed.union_view(context, step), ())
        case typed.Join():
            return _several_inputs(keyed.join_view(context, step), ("groups.c.j2",))
        case typed.Broadcast():
            return _several_inputs(keyed.broadcast_view(context, step), ())
        case typed.Update():
            return _update(keyed.update_view(context, step))
        case typed.Port():
            return _stateless(keyed.port_view(context, step))
        case typed.Scan():
            return _keyed(keyed.keyed_view(context, step, "scan"))
        case typed.Operator():
            return _keyed(window_view(context, step))
        case Owned():
            return _keyed(parts.owned_view(context, step))
        case Windows():
            return _keyed(parts.windows_view(context, step))
        case Work(second=True):
            return _second_work(parts.second_work_view(context, step))
        case Work():
            return _work(parts.work_view(context, step))
        case Reduce():
            return _reduce(parts.reduce_view(context, step))
        case Merge(of="panes"):
            return _keyed(parts.merge_view(context, step))
        case Merge():
            return _merge(parts.merge_view(context, step))
    raise TypeError(f"{type(body).__name__} has no C form")


def window_view(context: Context, step: typed.Step, keeps: bool = False) -> View:
    """A windowed operator; with `keeps` its tuples are kept even if panes would do."""
    window = step.body.window
    return _WINDOWS[type(window)](context, step, window, keeps)


def _count_window(context: Context, step: typed.Step, window: typed.CountWindow, keeps: bool) -> View:
    return keyed.keyed_view(context, step, "count_window", keeps, **keyed.count_values(window))


def _delta_window(context: Context, step: typed.Step, window: typed.DeltaWindow, keeps: bool) -> View:
    return keyed.keyed_view(context, step, "delta_window", keeps, **keyed.delta_values(context, window))


def _time_window(context: Context, step: typed.Step, window: typed.TimeWindow, keeps: bool) -> View:
    if window.every_tuple:
        return keyed.keyed_view(context, step, "moving_window", keeps, size=window.size)
    return keyed.keyed_view(context, step, "time_window", keeps, **keyed.time_values(window))


def _session_window(context: Context, step: typed.Step, window: typed.SessionWindow, keeps: bool) -> View:
    return keyed.keyed_view(context, step, "session_window", keeps, gap=window.gap)


_WINDOWS: dict[type, Callable[[Context, typed.Step, typed.Window, bool], View]] = {
    typed.CountWindow: _count_window, typed.DeltaWindow: _delta_window, typed.TimeWindow: _time_window,
    typed.SessionWindow: _session_window}


def _source(view: View) -> StepCode:
    if not view.timed:
        return StepCode(view)
    return StepCode(view, render("source.store.j2", x=view), render("source.c.j2", x=view), (view.c,))


def _stateless(view: View) -> StepCode:
    return StepCode(view, "", render("stateless.c.j2", x=view))


def _keyed(view: View) -> StepCode:
    parts = ["key.c.j2"]
    if not view.takes_panes:  # pane results are what the workers made of tuples
        parts += ["values.c.j2"] if view.values else []
        parts += ["kept.c.j2"] if view.keeps else []
        parts += ["partial.c.j2"] if not view.keeps or view.reads else []
    if view.combines and view.kind in ("time_window", "count_window") and not view.in_panes:
        parts.append("panes.c.j2")
    if view.combines and view.kind == "moving_window":
        parts.append("moments.c.j2")
    if view.kind == "time_window" or not view.keeps and view.kind == "count_window":
        parts.append(f"{view.kind}.panes.j2")
    tasks = ["task.store.j2"] if view.gives else []
    second = [_second(view)] if view.second and view.keeps else []
    rendered = [render(part, x=view) for part in [*parts, *tasks, f"{view.kind}.store.j2"]]
    store = "\n".join([*rendered[:len(parts)], *second, *rendered[len(parts):]])
    results = [] if view.kind == "scan" else ["tasks.c.j2"] if view.gives else ["result.c.j2"]
    expiry = ["expiry.c.j2"] if view.expire else []
    functions = "\n".join(render(part, x=view) for part in ["groups.c.j2", *expiry, *results, f"{view.kind}.c.j2"])
    opens = (view.c,) if view.kind in ("time_window", "moving_window", "session_window") else ()
    return StepCode(view, store, functions, (*opens, *_idle(view)), (view.c,))


def _second(view: View) -> str:
    """The partial value of a second pass is one like the first, over tuples with what that gave beside them."""
    twin = replace(view, c=f"{view.c}_second", extra=view.extra | {
        "partial": view.second, "tuple": f"struct {view.c}_compared", "values": (), "lifts": True})
    return render("second.store.j2", x=view) + render("partial.c.j2", x=twin)


def _work(view: View) -> StepCode:
    functions = render("work.c.j2", x=view)
    if view.partial_only:
        closes = (view.c,) if view.in_panes else ()
        return StepCode(view, render("part.store.j2", x=view), functions, (), closes, stateless=not view.in_panes)
    return StepCode(view, render("work.store.j2", x=view), functions, (), (view.c,))


def _second_work(view: View) -> StepCode:
    return StepCode(view, render("second_part.store.j2", x=view), render("second_work.c.j2", x=view), stateless=True)


def _reduce(view: View) -> StepCode:
    return StepCode(view, render("reduce.store.j2", x=view), render("reduce.c.j2", x=view))


def _merge(view: View) -> StepCode:
    closes = (view.c,) if view.in_panes else ()
    return StepCode(view, render("merge.store.j2", x=view), render("merge.c.j2", x=view), (), closes)


def _shared(view: View, number: int) -> StepCode:
    """Windows that share their panes: all their code stands with the first of them."""
    member = view.members[number]
    if number > 0:
        return StepCode(member)
    own = [part for one in view.members
           for part in (render("partial.c.j2", x=one), render("part.c.j2", x=one), render("panes.c.j2", x=one),
                        render(f"{view.kind}.panes.j2", x=one))]
    values = [render("values.c.j2", x=view)] if view.values else []
    store = [render("key.c.j2", x=view), *values, render("partial.c.j2", x=view), *own,
             render(f"shared_{view.kind}.store.j2", x=view)]
    functions = [render("groups.c.j2", x=view), *([render("expiry.c.j2", x=view)] if view.expire else []),
                 *(render("result.c.j2", x=one) for one in view.members), render(f"shared_{view.kind}.c.j2", x=view)]
    opens = (view.c,) if view.kind == "time_window" else ()
    return StepCode(member, "\n".join(store), "\n".join(functions), (*opens, *_idle(view)), (view.c,), state=view.c)


def _update(view: View) -> StepCode:
    store = "\n".join(render(part, x=view) for part in ("key.c.j2", "update.store.j2"))
    expiry = ["expiry.c.j2"] if view.expire else []
    functions = "\n".join(render(part, x=view) for part in ["groups.c.j2", *expiry, "update.c.j2"])
    return StepCode(view, store, functions, _idle(view), (view.c,))


def _idle(view: View) -> tuple[str, ...]:
    """Keys expire by a watermark that begins before all time."""
    return (f"{view.c}_idle",) if view.expire else ()


def _several_inputs(view: View, before: tuple[str, ...]) -> StepCode:
    keyed = ["key.c.j2"] if view.kind == "join" else []
    waiting = ["inputs.store.j2"] if view.buffered else []
    store = "\n".join(render(part, x=view) for part in [*keyed, f"{view.kind}.store.j2", *waiting])
    functions = "\n".join(render(part, x=view) for part in [*before, f"{view.kind}.c.j2", "inputs.c.j2"])
    waits = (f"{view.c}_waiting",) if view.buffered else ()
    closes = (view.c,) if view.kind == "join" else ()
    return StepCode(view, store, functions, (view.c, *waits), (*closes, *waits), view.buffered)
