"""The genetic algorithm: chromosomes with two strands, the alternates and the machines with what runs on them (004 §7).

It starts from CE, SH, other choices of alternates packed as CE does, and variations of them. Parents are picked by
rank, the best twentieth stays, a random mask says which parent gives each gene, and a deployment that is too narrow
pays a penalty that grows with the iterations. A few of each generation are packed anew. All chromosomes of a
generation are judged at once. Classes of machines that others can stand for are left out (`classes.py`) and come back
in what is found. The same seed gives the same deployment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .classes import classes_of
from .greedy import centralised, sharded
from .model import Dataflow, Deployment, Goals, Machine, Placed, worth
from .packing import Packing, needed_power


@dataclass(frozen=True)
class Breeding:
    population: int = 120
    packed: int = 24        # random choices of alternates to start from
    generations: int = 400
    elite: float = 0.05
    mutation: float = 0.06  # share of the genes of a chromosome
    penalty: float = 0.05
    patience: int = 200     # generations without a better one
    packed_anew: int = 8    # of each generation


USUAL = Breeding()
Told = Callable[[int, int, Deployment], None]  # generation, of how many, the best so far


@dataclass
class _Population:
    chosen: np.ndarray   # chromosome × element: alternate
    machine: np.ndarray  # chromosome × gene: class
    cores: np.ndarray    # chromosome × gene × element: cores in use


def genetic(dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, seed: int = 1,
            how: Breeding = USUAL, told: Told = lambda at, of, best: None) -> Deployment:
    return _Search(dataflow, machines, goals, how, np.random.default_rng(seed)).run(told)


class _Search:
    def __init__(self, dataflow: Dataflow, machines: tuple[Machine, ...], goals: Goals, how: Breeding,
                 random: np.random.Generator):
        self.dataflow, self.goals, self.how, self.random = dataflow, goals, how, random
        self.classes = classes_of(machines)
        self.machines = self.classes.kept
        self.working = np.array(dataflow.working)
        self.speeds = np.array([m.speed for m in self.machines])
        self.sizes = np.array([m.cores for m in self.machines])
        self.prices = np.array([m.price for m in self.machines])
        self.counts = np.array([len(e.alternates) for e in dataflow.elements])
        self.tables = [np.array([[a.value, a.cost, a.selectivity] for a in e.alternates]) for e in dataflow.elements]
        found = [centralised(dataflow, machines, goals), sharded(dataflow, machines, goals)]
        self.best = max(found, key=lambda d: worth(dataflow, d, goals).profit)
        self.starts = [*map(self.classes.split, found), *self._packed()]

    def _packed(self) -> list[Deployment]:
        """Other choices of alternates, packed as CE does: a start that knows more than one choice."""
        if np.prod(self.counts) <= self.how.packed:
            chosen = set(self.dataflow.choices())
        else:
            chosen = {tuple(int(c) for c in self.random.integers(0, self.counts)) for _ in range(self.how.packed)}
        return [Packing(self.dataflow, self.machines, self.goals, choice).fill().repack().deployment()
                for choice in sorted(chosen)]

    # --- the way of a population ---------------------------------------------------------------------

    def run(self, told: Told) -> Deployment:
        now, most, since = self._first(), worth(self.dataflow, self.best, self.goals).profit, 0
        for at in range(self.how.generations):
            profit, throughput = self._judge(now)
            good = np.where(throughput >= self.goals.throughput - 1e-9, profit, -np.inf)
            leader, since = int(np.argmax(good)), since + 1
            if good[leader] > most + 1e-9:
                self._consider(now, leader)
                most, since = worth(self.dataflow, self.best, self.goals).profit, 0
            told(at, self.how.generations, self.best)
            if since > self.how.patience:
                break
            short = np.maximum(0.0, self.goals.throughput - throughput)
            now = self._breed(now, profit - self.how.penalty * short * (at + 1))
        return self.best

    def _consider(self, now: _Population, row: int) -> None:
        """The leader, packed again: what it does not need goes as long as the flow stays wide enough."""
        found = self._deployment(now, row)
        packing = Packing(self.dataflow, self.machines, self.goals, found.chosen, found.placed).repack()
        deployment = self.classes.joined(packing.deployment())
        got, had = (worth(self.dataflow, one, self.goals) for one in (deployment, self.best))
        if got.profit > had.profit and got.meets(self.goals):
            self.best = deployment

    def _first(self) -> _Population:
        genes = 2 * max(len(d.placed) for d in self.starts) + 2 * len(self.machines)
        n, e = self.how.population, len(self.dataflow.elements)
        first = _Population(np.zeros((n, e), int), np.zeros((n, genes), int), np.zeros((n, genes, e), int))
        for row in range(n):
            self._write(first, row, self.starts[row % len(self.starts)])
            if row >= len(self.starts):
                chance = self.random.random(e) < 0.3
                first.chosen[row] = np.where(chance, self.random.integers(0, self.counts), first.chosen[row])
        return first

    def _write(self, into: _Population, row: int, deployment: Deployment) -> None:
        into.chosen[row], into.cores[row] = deployment.chosen, 0
        into.machine[row] = self.random.integers(0, len(self.machines), into.machine.shape[1])
        for gene, place in enumerate(deployment.placed):
            into.machine[row, gene] = self.machines.index(place.machine)
            into.cores[row, gene] = np.bincount(place.cores, minlength=into.cores.shape[2])

    def _judge(self, now: _Population) -> tuple[np.ndarray, np.ndarray]:
        """Profit and relative throughput of all, as `model.worth` has them but for the bandwidth."""
        power = np.einsum("ng,nge->ne", self.speeds[now.machine], now.cores)
        used = now.cores.sum(axis=2) > 0
        cost = (self.prices[now.machine] * used).sum(axis=1) * np.ceil(self.goals.hours)
        n, e = now.chosen.shape
        out, asked, value = np.zeros((n, e)), np.zeros((n, e)), np.zeros(n)
        for i in range(e):
            row = self.tables[i][now.chosen[:, i]]
            before = list(self.dataflow.predecessors[i])
            rate = self.dataflow.rates[i] + out[:, before].sum(axis=1)
            able = np.divide(power[:, i], row[:, 1], out=np.full(n, np.inf), where=row[:, 1] > 0)
            out[:, i] = np.minimum(rate, able) * row[:, 2]
            asked[:, i] = (self.dataflow.rates[i] + asked[:, before].sum(axis=1)) * row[:, 2]
            value += row[:, 0] / len(self.working) if i in self.working else 0.0
        ends = list(self.dataflow.outputs)
        reached = np.divide(out[:, ends], asked[:, ends], out=np.ones((n, len(ends))), where=asked[:, ends] > 0)
        profit = self.goals.profit(self.dataflow, value, cost)
        complete = (power[:, self.working] > 0).all(axis=1)
        return profit, reached.mean(axis=1) * complete

    # --- the next generation -------------------------------------------------------------------------

    def _breed(self, now: _Population, fitness: np.ndarray) -> _Population:
        n = self.how.population
        order = np.argsort(-fitness, kind="stable")
        elite = order[:max(1, round(self.how.elite * n))]
        chance = np.arange(n, 0, -1) / (n * (n + 1) / 2)
        mothers, fathers = (order[self.random.choice(n, n - len(elite), p=chance)] for _ in range(2))
        mask = self.random.random((len(mothers), now.machine.shape[1])) < 0.5
        mask1 = self.random.random((len(mothers), now.chosen.shape[1])) < 0.5
        young = _Population(np.where(mask1, now.chosen[mothers], now.chosen[fathers]),
                            np.where(mask, now.machine[mothers], now.machine[fathers]),
                            np.where(mask[:, :, None], now.cores[mothers], now.cores[fathers]))
        self._mutate(young)
        self._pack_some(young)
        return _Population(*(np.concatenate((getattr(now, strand)[elite], getattr(young, strand)))
                             for strand in ("chosen", "machine", "cores")))

    def _mutate(self, young: _Population) -> None:
        """Alternates switch; machines get, lose or hand over a core, become another class, or are let go."""
        switch = self.random.random(young.chosen.shape) < self.how.mutation / 2
        young.chosen = np.where(switch, self.random.integers(0, self.counts, young.chosen.shape), young.chosen)
        rows, genes = np.nonzero(self.random.random(young.machine.shape) < self.how.mutation)
        kinds = self.random.integers(0, 5, len(rows))
        kinds[(kinds == 4) & (self.random.random(len(rows)) < 0.75)] = 5  # nothing
        elements, others = (self.random.choice(self.working, len(rows)) for _ in range(2))
        cores, classes = young.cores[rows, genes], young.machine[rows, genes]
        each = np.arange(len(rows))
        gets = (kinds == 0) & (cores.sum(axis=1) < self.sizes[classes])
        gives = ((kinds == 1) | (kinds == 2)) & (cores[each, elements] > 0)
        cores[each, elements] += gets.astype(int) - gives
        cores[each, others] += gives & (kinds == 2)
        classes = np.where(kinds == 3, self.random.integers(0, len(self.machines), len(rows)), classes)
        cores[kinds == 4] = 0
        while len(wide := np.nonzero(cores.sum(axis=1) > self.sizes[classes])[0]):
            cores[wide, cores[wide].argmax(axis=1)] -= 1
        young.cores[rows, genes], young.machine[rows, genes] = cores, classes

    def _pack_some(self, young: _Population) -> None:
        """A few of the young are packed anew, for flows that are narrow in another place, with machines exchanged."""
        for row in self.random.choice(len(young.chosen), self.how.packed_anew, replace=False):
            if self.random.random() < 0.5:
                element = self.random.integers(0, len(self.counts))
                young.chosen[row, element] = self.random.integers(0, self.counts[element])
            found = self._deployment(young, row)
            shares = np.ones(1 + len(self.counts))
            shares[self.random.integers(0, len(shares))] = self.random.random()
            shares[0] = min(shares[0], self.random.uniform(self.goals.throughput, 1.0))
            needs = needed_power(self.dataflow, found.chosen, list(shares))
            packing = Packing(self.dataflow, self.machines, self.goals, found.chosen, found.placed, needs=needs)
            if packing.rearrange() and len(packing.places) <= young.machine.shape[1]:
                gone = self.random.choice(len(packing.places), min(2, len(packing.places)), replace=False)
                packing.exchange(tuple(int(g) for g in gone))
                self._write(young, row, packing.deployment())

    def _deployment(self, now: _Population, row: int) -> Deployment:
        used = np.nonzero(now.cores[row].any(axis=1))[0]
        placed = tuple(Placed(self.machines[m], tuple(i for i, count in enumerate(cores) for _ in range(count)))
                       for m, cores in zip(now.machine[row, used].tolist(), now.cores[row, used].tolist(), strict=True))
        return Deployment(tuple(now.chosen[row].tolist()), placed)
