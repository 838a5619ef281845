"""What is known of a step's function: the properties that decide which patterns apply.

They are derived, never guessed: from the window, the keys, the built-in aggregates, and what the program declares of
its own ones (`associative`, `commutative`, `decomposable`).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dsl import typed
from ...dsl.builtins import AGGREGATES
from ...dsl.typed_walk import walk
from ..artifacts.arrival import arrives_in_order


@dataclass(frozen=True, slots=True)
class Function:
    """A step as the patterns see it.

    window: `count`, `time`, `session`, `delta`, '' (no window). pane_tuples: of a count window the
    most that a pane holds, else None.
    combinable: a value a pane, into which tuples go as they arrive, in any order.
    decomposable: F = H∘G over panes, each pane in the order of its tuples.
    whole: what needs the whole window, in words ('' when nothing does).
    order_free: also tuples of one time may come in any order (`first` and `last` tell them apart).
    second_map: the reduced value goes back to a second pass over the tuples.
    arrives_in_order: the order of arrival, which cuts a count window into panes, is the order that the function sees.
    expires: idle keys are forgotten, and their count windows begin anew.

    Any alternate may run, so an operator has the properties that all its alternates have.
    """

    step: str
    stateless: bool
    keyed: bool
    window: str = ""
    pane_tuples: int | None = None
    every_tuple: bool = False
    combinable: bool = False
    decomposable: bool = False
    order_free: bool = False
    second_map: bool = False
    whole: str = ""
    arrives_in_order: bool = True
    expires: bool = False
    ports: bool = False

    @property
    def windowed(self) -> bool:
        return bool(self.window)

    @property
    def fixed_windows(self) -> bool:
        """Where a window begins and ends does not depend on what the tuples say."""
        return self.window in ("count", "time") and not self.every_tuple


_STATELESS = (typed.Filter, typed.Map, typed.FlatMap, typed.Branch)
_WINDOWS = {typed.CountWindow: "count", typed.TimeWindow: "time", typed.SessionWindow: "session",
            typed.DeltaWindow: "delta"}


def function_of(program: typed.Program, step: typed.Step) -> Function:
    body = step.body
    if isinstance(body, _STATELESS):
        return Function(step.name, stateless=True, keyed=False)
    if isinstance(body, typed.Operator):
        return _operator(program, step)
    keys = body.left_keys if isinstance(body, typed.Join) else getattr(body, "keys", ())
    return Function(step.name, stateless=False, keyed=bool(keys))


def chosen_alternate(body: typed.Operator) -> typed.Alternate:
    """The one that runs first."""
    return max(body.alternates, key=lambda one: one.value)


def _operator(program: typed.Program, step: typed.Step) -> Function:
    body = step.body
    if body.window is None:
        return Function(step.name, stateless=True, keyed=False, ports=bool(body.ports))
    whole, ordered = _needs_of_all(program, body)
    second = any(map(_is_second_map, body.alternates))
    every = getattr(body.window, "every_tuple", False)
    pane = body.window.largest_pane if isinstance(body.window, typed.CountWindow) else None
    return Function(step.name, stateless=False, keyed=bool(body.keys), window=_WINDOWS[type(body.window)],
                    pane_tuples=1 if every else pane, every_tuple=every,
                    combinable=not whole and not ordered and not second,
                    order_free=not whole and not ordered and not any(map(_has_edges, body.alternates)),
                    second_map=second, decomposable=not whole, whole=whole,
                    arrives_in_order=not ordered or arrives_in_order(program, step),
                    expires=bool(body.expire_after), ports=bool(body.ports))


def _needs_of_all(program: typed.Program, body: typed.Operator) -> tuple[str, bool]:
    """As _needs, of all alternates together; the words are about the first one that needs the whole window."""
    needs = [_needs(program, body, alternate) for alternate in body.alternates]
    return next((whole for whole, _ in needs if whole), ""), any(ordered for _, ordered in needs)


def _aggregates(alternate: typed.Alternate) -> list[typed.Aggregate]:
    if isinstance(alternate.body, typed.CFunction):
        return []
    return [part for value in alternate.body.values for part in walk(value) if isinstance(part, typed.Aggregate)]


def _is_second_map(alternate: typed.Alternate) -> bool:
    return any(map(second_map, _aggregates(alternate)))


def _has_edges(alternate: typed.Alternate) -> bool:
    return any(one.function in ("first", "last") for one in _aggregates(alternate))


def _needs(program: typed.Program, body: typed.Operator, alternate: typed.Alternate) -> tuple[str, bool]:
    """What needs the whole window, in words, and whether the order of a pane's tuples matters."""
    if isinstance(alternate.body, typed.CFunction):
        return _needs_in_c(body, alternate), True
    aggregates = _aggregates(alternate)
    whole = [one.function for one in aggregates if not mergeable(program, one)]
    ordered = any(not _takes_any_order(program, one) for one in aggregates)
    named = ", ".join(dict.fromkeys(whole)) + (f" of `{alternate.name}`" if len(body.alternates) > 1 else "")
    return (f"{named} need{'' if ',' in named else 's'} the whole window" if whole else ""), ordered


def _needs_in_c(body: typed.Operator, alternate: typed.Alternate) -> str:
    if not alternate.body.merge:
        return f"`{alternate.name}` is a function in C over the whole window"
    if len(body.alternates) > 1:
        return (f"`{alternate.name}` takes panes, but the other alternates of the operator could not take its "
                "pane results")
    return ""


def mergeable(program: typed.Program, aggregate: typed.Aggregate) -> bool:
    """Whether values of neighbouring panes can be merged."""
    if not aggregate.user:
        return AGGREGATES[aggregate.function].combinable
    return bool({"associative", "decomposable"} & _definition(program, aggregate).properties)


def combinable(program: typed.Program, aggregate: typed.Aggregate) -> bool:
    """A pane takes its tuples as they arrive: their order must not matter, and nothing may be asked of the window."""
    return not second_map(aggregate) and _takes_any_order(program, aggregate)


def _takes_any_order(program: typed.Program, aggregate: typed.Aggregate) -> bool:
    if not aggregate.user:
        return AGGREGATES[aggregate.function].combinable
    return {"associative", "commutative"} <= _definition(program, aggregate).properties


def second_map(aggregate: typed.Aggregate) -> bool:
    """Whether it compares tuples with aggregates of their window."""
    return sum(isinstance(part, typed.Aggregate) for part in walk(aggregate)) > 1


def _definition(program: typed.Program, aggregate: typed.Aggregate) -> typed.AggregateDef:
    return next(one for one in program.aggregates if one.name == aggregate.function)
