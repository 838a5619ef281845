"""Views of windows that share their panes: the groups and panes they have in common, and each of the windows."""

from __future__ import annotations

from ...dsl import typed
from ..artifacts.plan import Sharing
from .blocks import gets_blocks, straight
from .kept_views import value_parts
from .keyed_views import (
    SharedValues,
    count_values,
    key_values,
    keyed_view,
    partial_view,
    step_partial,
    taken_by,
    time_values,
)
from .step_views import Context, View, base_view

_KINDS = {typed.CountWindow: "count_window", typed.TimeWindow: "time_window"}


def shared_view(context: Context, sharing: Sharing) -> View:
    """What the windows have in common; `members` are their own views."""
    steps = tuple(context.graph.step(name) for name in sharing.steps)
    first, kind = steps[0], _KINDS[type(steps[0].body.window)]
    taken = taken_by(context, steps, keeps=False)
    union = step_partial(context, first, kind, taken)
    members = tuple(_member(context, step, kind, SharedValues(taken, union.numbers)) for step in steps)
    view = base_view(context, first, kind)
    view.name, view.c = ", ".join(sharing.steps), context.store(first.name)
    view.push, view.watermark = f"{view.c}_push", f"{view.c}_watermark"
    expire = first.body.expire_after if kind == "count_window" else None
    view.extra |= {"members": members, "partial": partial_view(union), "tuple": view.input, "lifts": True,
                   "combines": False, "combines_rows": False, "keeps": False, "owns": True, "types": view.c,
                   "tuple_faults": f"&s->head.counts[{view.number}].faults",
                   "expire": expire, "blocks": gets_blocks(context, first), "runs": False, "left": "int64_t",
                   "straight": straight(context, first), "pane_counts": False, "at_hand": f"{view.c}_partial",
                   "ordered": kind == "time_window",
                   "first_edge": min(member.cut or member.slide for member in members),
                   "forgets": kind == "time_window" or bool(expire), "frees": _frees(members, kind, expire),
                   "gaps": all(getattr(step.body.window, "slide", 0) > step.body.window.size for step in steps)}
    view.extra |= key_values(context, first, context.input(first)) | value_parts(taken)
    return view


def _member(context: Context, step: typed.Step, kind: str, shared: SharedValues) -> View:
    values = count_values if kind == "count_window" else time_values
    own = step_partial(context, step, kind, shared.part(step), shared.numbers)
    copies = tuple(map(_copy, own.fields)) or ("later.none = 0;",)
    return keyed_view(context, step, kind, shared=shared, copies=copies, **values(step.body.window))


def _copy(field: str) -> str:
    """Texts are structs without a name: they can't be assigned."""
    if field.startswith(("first_", "last_")):
        return f"memcpy(&later.{field}, &pane->{field}, sizeof later.{field});"
    return f"later.{field} = pane->{field};"


def _frees(members: tuple[View, ...], kind: str, expire: int | None) -> tuple[str, ...]:
    if kind == "time_window":
        return tuple(f"dfrt_order_close(&x->of_{member.c}.order);" for member in members)
    return ("dfrt_order_close(&x->idle_order);",) if expire else ()
