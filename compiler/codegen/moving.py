"""How the state of a step goes from one replica to another: what is done for each group, and for the whole."""

from __future__ import annotations

from dataclasses import dataclass

from ..artifacts.plan import Segment
from .step_views import View
from .templating import render


@dataclass(frozen=True)
class Moving:
    """group: after a group `g` of `x` was copied to `h`, number `there` of `y`. orders: lists of groups that lose those
    that moved. whole: what else `y` has to know of `x`, whether groups came or not."""

    group: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()  # where `next_end` is the end of the next window


def moving_code(view: View, segment: Segment, shared: bool = False) -> str:
    """The function that moves the state of a step; '' where its segment has none that moves."""
    if view.kind == "broadcast":
        return render("move_copy.c.j2", x=view) if segment.kind == "farm" else ""
    if segment.kind != "keyed":
        return ""
    moving = _shared(view) if shared else _moving(view)
    waiting = view.extra.get("buffered", False)
    return render("move.c.j2", x=view, move=moving, waiting=waiting)


def _moving(view: View) -> Moving:
    x = view.extra
    group, orders, whole, ends = [], [], [], []
    if x.get("keeps"):
        group.append(f"h->kept = dfrt_kept_move(&y->pool, &x->pool, &g->kept, {x['types']}_widths);")
    if view.kind == "session_window":
        group += ["h->sessions = g->sessions == &g->only ? &h->only : g->sessions;",
                  "h->timer = g->timer = INT64_MAX; /* the timers of `x` find nothing to do */",
                  f"{view.c}_set_timer(y, h, there);"]
    if view.kind in ("time_window", "join") or view.kind == "moving_window" and not x["expire"]:
        orders.append("order")
    if view.kind == "time_window":
        whole.append(_next_end(""))
        ends.append("")
    if view.kind == "moving_window":
        whole.append("y->watermark = x->watermark;")
    if view.kind == "join":
        whole += ["memcpy(y->watermarks, x->watermarks, sizeof y->watermarks);", "y->watermark = x->watermark;"]
    return _with_expiry(view, group + [f"dfrt_order_add(&y->{order}, there);" for order in orders], orders, whole,
                        ends)


def _shared(view: View) -> Moving:
    members = [f"of_{member.c}" for member in view.members] if view.kind == "time_window" else []
    return _with_expiry(
        view, [f"if (h->{one}_waits) dfrt_order_add(&y->{one}.order, there);" for one in members],
        [f"{one}.order" for one in members],
        [_next_end(f"{one}.") for one in members], [f"{one}." for one in members])


def _next_end(of: str) -> str:
    """Whoever has groups has released nothing that ends there yet; who has none may be past it."""
    return f"if (y->{of}order.count > 0) y->{of}next_end = dfrt_least_i64(y->{of}next_end, x->{of}next_end);"


def _with_expiry(view: View, group: list[str], orders: list[str], whole: list[str],
                 ends: list[str]) -> Moving:
    if view.extra.get("expire"):
        group = [*group, "dfrt_order_add(&y->idle_order, there);"]
        orders = [*orders, "idle_order"]
        whole = [*whole, "y->idle_watermark = x->idle_watermark;"]
    return Moving(tuple(group), tuple(orders), tuple(whole), tuple(ends))
