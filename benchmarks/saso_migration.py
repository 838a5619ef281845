"""The three migration protocols, and the two balancers, at 12 cores, simulated after 000 §5.2.2: the rate jumps, a
second later six workers become eight, and latency is watched in quarters of a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from dfc.compiler.simulate.control_library import BALANCED, FLUX, Controls, open_controls
from dfc.compiler.simulate.plant import FLUENT, PROTOCOLS, Plant, Slice
from dfc.compiler.simulate.trace import Trace, make_trace
from dfc.compiler.simulate.trial import Operator

Divide = Callable[[np.ndarray], np.ndarray]
BEFORE, CHANGE, END = 2, 3, 10  # seconds: the rate jumps, the workers change, the run ends
QUARTER = 0.25
# rate before and after in tuples a second; seconds to move a key out, and in
LOADS = (("the rate jumps from 300,000/s to 400,000/s a second before (000 §5.2.2), state is handed over by a pointer",
          300_000.0, 400_000.0, 1e-6),
         ("at half load, 170,000/s throughout, state is handed over by a pointer", 170_000.0, 170_000.0, 1e-6),
         ("at half load, if state were copied: 100 µs a key out, and in", 170_000.0, 170_000.0, 100e-6))


@dataclass
class Watched:
    keys: int  # that moved
    of: int
    latencies: np.ndarray  # seconds, of each quarter, over all seeds
    results: np.ndarray


def watch(subject: Operator, before: float, after: float, protocol: str, divide: Divide, seeds: int,
          controls: Controls) -> Watched:
    """The same arrivals for every protocol. Weights are the true ones, so that only the protocols differ. `divide`
    makes owners among eight of owners among six."""
    arrivals = replace(subject.arrivals, rates=[before] * BEFORE + [after] * (END - BEFORE))
    parts = np.arange(len(arrivals.keys))
    sums, counts, moved = np.zeros(END * 4), np.zeros(END * 4), 0
    for seed in range(1, seeds + 1):
        trace = make_trace(arrivals, seed)
        owner = controls.rebalance(BALANCED, arrivals.keys, parts % 6, 6)
        plant = Plant(subject.costs, parts, owner, 6, 8, protocol=protocol, ordered=subject.ordered)
        for quarter, one in enumerate(_quarters(plant, trace, divide)):
            sums[quarter] += one.latencies.sum()
            counts[quarter] += len(one.latencies)
            moved = max(moved, int((plant.owner != owner).sum()))
    return Watched(moved, len(parts), sums / np.maximum(counts, 1), counts / seeds)


def _quarters(plant: Plant, trace: Trace, divide: Divide) -> Iterator[Slice]:
    for quarter in range(END * 4):
        start = quarter * QUARTER
        if start == CHANGE:
            plant.move(divide(plant.owner), 8)
        yield plant.advance(trace.between(start, start + QUARTER), start + QUARTER)


def by_balancer(balancer: str, subject: Operator, controls: Controls) -> Divide:
    return lambda owner: controls.rebalance(balancer, subject.arrivals.keys, owner, 8)


def migration_tables(subject: Operator, seeds: int) -> list[str]:
    lines = ["## Migration: six workers become eight", "",
             f"Mean latency in milliseconds, by quarters of a second after the change; {seeds} seeds. *Peak* is the "
             "highest of them, *recovered* when latency stays below twice that of the last second of the run."]
    for title, before, after, a_key in LOADS:
        moving = replace(subject, costs=replace(subject.costs, take_out=a_key, put_in=a_key))
        lines += ["", f"{title[0].upper()}{title[1:]}:", "",
                  "| results | protocol | balancer | keys moved | peak | recovered after | " +
                  " | ".join(f"{QUARTER * (number + 1):g} s" for number in range(6))
                  + " | results in the first quarter |",
                  "| --- | --- | --- | --- | --- | --- |" + " --- |" * 7]
        for ordered in (True, False):
            lines += _rows(replace(moving, ordered=ordered), before, after, seeds)
    return lines


def _rows(subject: Operator, before: float, after: float, seeds: int) -> Iterator[str]:
    controls = open_controls()
    for protocol, balancer in [*((one, BALANCED) for one in PROTOCOLS), (FLUENT, FLUX)]:
        divide = by_balancer(balancer, subject, controls)
        seen = watch(subject, before, after, protocol, divide, seeds, controls)
        yield f"| {'in order' if subject.ordered else 'free'} {_row(seen, protocol, balancer)}"


def _row(watched: Watched, protocol: str, balancer: str) -> str:
    after: Sequence[float] = watched.latencies[CHANGE * 4:]
    steady = float(np.mean(after[-4:]))
    late = [number for number, latency in enumerate(after) if latency > 2 * steady]
    recovered = f"{(late[-1] + 1) * QUARTER:g} s" if late else "at once"
    share = f"{watched.keys} ({watched.keys / watched.of:.0%})"
    return (f"| {protocol} | {balancer} | {share} | {max(after) * 1e3:.3g} | {recovered} | "
            + " | ".join(f"{latency * 1e3:.3g}" for latency in after[:6])
            + f" | {watched.results[CHANGE * 4]:.0f} |")
