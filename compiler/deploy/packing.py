"""Machines that fill up: cores where the flow is narrowest, and packing again where that costs less."""

from __future__ import annotations

from itertools import combinations
from math import comb

from .model import Dataflow, Deployment, Goals, Machine, Placed

LOOSE = 8  # machines that packing again looks at, alone and in pairs
WAYS = 100  # combinations of machines that may take the place of those, at most


class Packing:
    """Grows in `fill`, gets cheaper in `repack`; the choice of alternates is fixed.

    One that foresees knows what each element will need when all others have enough. One that does not goes by the share
    of its present input that an element can work off.
    """

    def __init__(self, dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, chosen: tuple[int, ...],
                 placed: tuple[Placed, ...] = (), foresees: bool = True, needs: list[float] | None = None):
        self.dataflow, self.goals, self.chosen, self.foresees = dataflow, goals, chosen, foresees
        self.flow = dataflow.flow(chosen)
        self.needs = needs or needed_power(dataflow, chosen, [goals.throughput] + [1.0] * len(dataflow.elements))
        self.machines = sorted(machines, key=lambda m: (m.price, m.power))
        self.depth = max(d for d in range(1, 13) if d == 1 or comb(d + len(machines), d) <= WAYS)
        self.largest = max(machines, key=lambda m: (m.power, -m.price))
        self.places = [(p.machine, list(p.cores)) for p in placed]
        self.power = Deployment(chosen, placed).power(len(dataflow.elements))

    def deployment(self) -> Deployment:
        return Deployment(self.chosen, tuple(Placed(m, tuple(sorted(cores))) for m, cores in self.places if cores))

    def fill(self) -> Packing:
        """Each element a core, neighbours together; then a core for the narrowest one until the flow is wide enough."""
        for element in _depth_first(self.dataflow):
            if element in self.dataflow.working:
                self._add(element)
        while (narrow := self._narrowest(self.power)) is not None:
            self._add(narrow)
        return self

    def _add(self, element: int) -> None:
        if not self.places or len(self.places[-1][1]) == self.places[-1][0].cores:
            self.places.append((self.largest, []))
        self.places[-1][1].append(element)
        self.power[element] += self.largest.speed

    def _narrowest(self, power: list[float]) -> int | None:
        """The element that is shortest of power; None when the flow is wide enough."""
        throughput = self.flow.throughput(power)
        if throughput >= self.goals.throughput - 1e-12:
            return None
        if self.foresees or throughput == 0.0:
            shares = [have / need if need > 0 else 1.0 for have, need in zip(power, self.needs, strict=True)]
        else:
            shares = self.dataflow.throughput(self.chosen, power)[1]
        return min(self.dataflow.working, key=shares.__getitem__)

    def _is_wide(self, power: list[float]) -> bool:
        return self.flow.throughput(power) >= self.goals.throughput - 1e-12

    # --- packing again --------------------------------------------------------------------------------

    def repack(self) -> Packing:
        """The loosest machines, alone and in pairs, give way to cheaper ones, as long as there are any."""
        self._drop_spare_cores()
        while self._repack_once():
            pass
        return self

    def _drop_spare_cores(self) -> None:
        """Cores that the flow does not need, the slowest and last first."""
        for machine, cores in sorted(reversed(self.places), key=lambda place: place[0].speed):
            for element in sorted(set(cores)):
                while element in cores and self._is_spare(element, machine.speed):
                    cores.remove(element)
                    self.power[element] -= machine.speed
        self.places = [place for place in self.places if place[1]]

    def _is_spare(self, element: int, speed: float) -> bool:
        trial = list(self.power)
        trial[element] -= speed
        return self.power[element] > speed and self._is_wide(trial)

    def _repack_once(self) -> bool:
        def emptiness(at: int) -> float:
            machine, cores = self.places[at]
            return len(cores) * machine.speed / machine.price
        loose = sorted(range(len(self.places)), key=emptiness)[:LOOSE]
        for gone in (*((at,) for at in loose), *combinations(loose, 2)):
            if self.exchange(gone):
                return True
        return False

    def rearrange(self) -> bool:
        """All cores given out anew, by need; true if that is wide enough."""
        found = self._used([(machine, []) for machine, _ in self.places])
        if found is not None:
            self.places = found
            self.power = self.deployment().power(len(self.power))
        return found is not None

    def exchange(self, gone: tuple[int, ...]) -> bool:
        """Other machines, cheaper together, in place of those: true if there are any."""
        kept = [(m, list(cores)) for at, (m, cores) in enumerate(self.places) if at not in gone]
        found = self._complete(kept, sum(self.places[at][0].price for at in gone))
        if found is None:
            return False
        self.places = [(machine, cores) for machine, cores in found if cores]
        self.power = self.deployment().power(len(self.power))
        self._drop_spare_cores()
        return True

    def _complete(self, kept: list[tuple[Machine, list[int]]], budget: float) -> list[tuple[Machine, list[int]]] | None:
        """What is kept, its free cores in use, with the cheapest machines below `budget` that make it wide enough."""
        return self._used(kept) or self._cheapest(kept, [], budget, 0)

    def _cheapest(self, kept: list[tuple[Machine, list[int]]], added: list[Machine], budget: float,
                  first: int) -> list[tuple[Machine, list[int]]] | None:
        best: list[tuple[Machine, list[int]]] | None = None
        for at in range(first, len(self.machines)):
            machine = self.machines[at]
            if sum(m.price for m in added) + machine.price >= budget - 1e-9:
                break
            more = [*added, machine]
            found = self._used([(m, list(cores)) for m, cores in kept] + [(m, []) for m in more])
            if found is None and len(more) < self.depth:
                found = self._cheapest(kept, more, budget, at)
            if found is not None:
                best, budget = found, sum(m.price for m, _ in found[len(kept):])
        return best

    def _used(self, places: list[tuple[Machine, list[int]]]) -> list[tuple[Machine, list[int]]] | None:
        """The places with their free cores given to the neediest, the fastest first; None when that is not enough."""
        power = [0.0] * len(self.power)
        for machine, cores in places:
            for element in cores:
                power[element] += machine.speed
        working = self.dataflow.working
        short = [self.needs[i] - power[i] for i in working]
        for machine, cores in sorted(places, key=lambda place: -place[0].speed):
            for _ in range(machine.cores - len(cores)):
                neediest = short.index(max(short))
                cores.append(working[neediest])
                short[neediest] -= machine.speed
                power[working[neediest]] += machine.speed
        return places if self._is_wide(power) else None


def needed_power(dataflow: Dataflow, chosen: tuple[int, ...], shares: list[float]) -> list[float]:
    """Core speed for elements that work off shares[i + 1] of what comes; shares[0] is for what comes from outside."""
    needs, out = [], [0.0] * len(dataflow.elements)
    for i, element in enumerate(dataflow.elements):
        alternate = element.alternates[chosen[i]]
        work = shares[i + 1] * (shares[0] * dataflow.rates[i] + sum(out[p] for p in dataflow.predecessors[i]))
        out[i] = work * alternate.selectivity
        needs.append(work * alternate.cost)
    return needs


def _depth_first(dataflow: Dataflow) -> list[int]:
    seen: list[int] = []
    stack = [i for i in reversed(range(len(dataflow.elements))) if not dataflow.predecessors[i]]
    while stack:
        element = stack.pop()
        if element not in seen:
            seen.append(element)
            stack.extend(reversed(dataflow.successors[element]))
    return seen
