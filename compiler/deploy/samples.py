"""Two dataflows and the machines of the literature, to compare algorithms on.

The machines are EC2's of 2013 (004's artifact). Linear Road is Fig. 5 of 004: the alternates of `congestion` are given
there, all other costs are assumed here, as the text does not tell them: parse and weather 0.1 s, accidents 0.3 s with
one report in ten passed on, toll 0.2 s, notices and balances 0.1 s, travel time 0.6 s or, less exact, 0.3 s. The
diamond is that of the predecessor of 004.
"""

from __future__ import annotations

from .model import Alternate, Dataflow, Element, Goals, Machine

MACHINES = tuple(Machine(*row) for row in (
    ("m1.small", 1, 1.0, 0.06), ("m1.medium", 1, 2.0, 0.12), ("m1.large", 2, 2.0, 0.24),
    ("m1.xlarge", 4, 2.0, 0.48), ("m3.xlarge", 4, 3.25, 0.50), ("m3.2xlarge", 8, 3.25, 1.00)))


def _element(name: str, *alternates: tuple[float, float, float]) -> Element:
    return Element(name, tuple(Alternate(f"{name}_{i}", *row) for i, row in enumerate(alternates)))


def linear_road(rate: float) -> Dataflow:
    """`rate` position reports a second, and a fiftieth of it in weather."""
    elements = (
        _element("weather", (1.0, 0.1, 1.0)), _element("parse", (1.0, 0.1, 1.0)),
        _element("congestion", (1.0, 1.2, 1.0), (0.8, 0.8, 1.0), (0.5, 0.8, 0.5)),
        _element("accidents", (1.0, 0.3, 0.1)), _element("toll", (1.0, 0.2, 1.0)),
        _element("notice", (1.0, 0.1, 1.0)), _element("balance", (1.0, 0.1, 1.0)),
        _element("travel_time", (1.0, 0.6, 1.0), (0.6, 0.3, 1.0)))
    edges = ((0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (2, 7), (3, 7), (4, 5), (4, 6))
    return Dataflow(elements, edges, (rate / 50, rate, 0, 0, 0, 0, 0, 0))


def diamond(rate: float) -> Dataflow:
    elements = (
        _element("first", (0.83, 0.22, 2.0), (1.0, 0.52, 2.0)), _element("left", (0.70, 0.62, 2.0), (1.0, 0.35, 1.0)),
        _element("right", (1.0, 0.9, 0.5), (0.80, 1.54, 2.0)), _element("last", (0.5, 0.1, 1.0), (1.0, 0.8, 1.0)))
    return Dataflow(elements, ((0, 1), (0, 2), (1, 3), (2, 3)), (rate, 0, 0, 0))


def usual_goals(rate: float, hours: float = 12.0) -> Goals:
    """004 §9.2: relative throughput 0.8 ± 0.05; break-even costs of 1.0 and 0.5 times hours times rate over ten."""
    return Goals(hours, 0.8, 0.05, hours * rate / 10, hours * rate / 20)
