"""Classes of machines that others can stand for: left out of a search, and put back where they mean fewer machines.

A core of one class can be replaced by one that is as fast, or by several slower ones, since what an element can do is
the sum of its cores. When that costs no more, whatever can be built with the class can be built without it. Of six
classes whose prices follow their sizes two may be left, and a search has far fewer equal answers to tell apart.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from .model import Deployment, Machine, Placed


@dataclass(frozen=True)
class Stand:
    """`count` machines of the class `by` do what one of `machine` does: `each` of their cores for one of its."""

    machine: Machine
    by: Machine
    each: int
    count: int

    @property
    def is_even(self) -> bool:
        """Whether the exchange also goes the other way: the same price, and no core is left over."""
        return (math.isclose(self.count * self.by.price, self.machine.price)
                and self.count * self.by.cores == self.each * self.machine.cores
                and math.isclose(self.each * self.by.speed, self.machine.speed))


@dataclass(frozen=True)
class Classes:
    kept: tuple[Machine, ...]
    stands: tuple[Stand, ...]  # of those that are left out

    def split(self, deployment: Deployment) -> Deployment:
        """The same with the kept classes only; it costs no more."""
        stands = {stand.machine: stand for stand in self.stands}
        placed: list[Placed] = []
        for place in deployment.placed:
            stand = stands.get(place.machine)
            placed += [place] if stand is None else _places(stand.by, [e for e in place.cores
                                                                       for _ in range(stand.each)])
        return Deployment(deployment.chosen, tuple(placed))

    def joined(self, deployment: Deployment) -> Deployment:
        """The same at the same price with fewer machines: those that are left out come back, the largest first."""
        counts: dict[Machine, Counter[int]] = {m: Counter() for m in self.kept}
        for place in deployment.placed:
            counts.setdefault(place.machine, Counter()).update(place.cores)
        placed: list[Placed] = []
        for stand in sorted(self.stands, key=lambda stand: (-stand.machine.power, stand.machine.name)):
            if stand.is_even:
                placed += _taken_back(stand, counts[stand.by])
        placed += [place for machine, cores in counts.items() for place in _places(machine, sorted(cores.elements()))]
        return Deployment(deployment.chosen, tuple(placed))


def classes_of(machines: tuple[Machine, ...]) -> Classes:
    kept, stands = list(machines), []
    for machine in sorted(machines, key=lambda m: (-m.price, -m.power)):
        found = [stand for other in kept if other is not machine
                 and (stand := _stand(machine, other)).count * other.price <= machine.price * (1 + 1e-12)]
        if found:
            kept.remove(machine)
            stands.append(machine)
    return Classes(tuple(kept), tuple(_cheapest_stand(machine, kept) for machine in stands))


def _stand(machine: Machine, by: Machine) -> Stand:
    each = math.ceil(machine.speed / by.speed - 1e-9)
    return Stand(machine, by, each, math.ceil(each * machine.cores / by.cores))


def _cheapest_stand(machine: Machine, kept: list[Machine]) -> Stand:
    """An even one if there is any."""
    found = [_stand(machine, other) for other in kept]
    return min(found, key=lambda stand: (not stand.is_even, stand.count * stand.by.price))


def _taken_back(stand: Stand, cores: Counter[int]) -> list[Placed]:
    whole = [element for element in sorted(cores) for _ in range(cores[element] // stand.each)]
    size = stand.machine.cores
    used = whole[:len(whole) // size * size]
    cores.subtract({element: stand.each * count for element, count in Counter(used).items()})
    return _places(stand.machine, used)


def _places(machine: Machine, elements: list[int]) -> list[Placed]:
    """Full machines as far as they go; neighbours in the dataflow stay together."""
    return [Placed(machine, tuple(elements[start:start + machine.cores]))
            for start in range(0, len(elements), machine.cores)]
