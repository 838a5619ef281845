"""What `dfc explain`, `compile`, `run` and `graph` all take: one choice, and the plan that follows from it.

The models choose for the cores that the command line or `resources` gives, else for those of this machine. The plan has
their choice when somebody asked for one (`Request.taken`): else the same text would give other programs on other
machines. Where a controller changes the number of workers (`Request.elastic`), the plan leaves that to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..artifacts.graph import Graph
from ..artifacts.plan import Alternative, Plan
from .choose import choose
from .learned import choose_learned
from .search import Choice, Request


@dataclass(frozen=True, slots=True)
class Planned:
    plan: Plan
    choice: Choice
    alternates: tuple[Alternative, ...]


def planned(graph: Graph, request: Request) -> Planned:
    """The choice of the models, and the plan."""
    choice, alternates = choose_learned(graph, request)
    taken = choice if request.fixed else None
    return Planned(choose(graph, taken, request.profile, request.file, alternates), choice, alternates)


def plan_of(graph: Graph, request: Request) -> Plan:
    """The plan alone: models are asked only where it depends on them."""
    return planned(graph, request).plan if request.fixed else choose(graph, None, request.profile, request.file)


__all__ = ["Planned", "plan_of", "planned"]
