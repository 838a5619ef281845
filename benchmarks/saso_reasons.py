"""Why figures differ from the papers': one thing at a time is switched off or changed, and the runs are made again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from dfc.compiler.report.saso import mean, saso
from dfc.compiler.simulate.control_library import BALANCED, Controls, Goals, Limits, Options, Setting, open_controls
from dfc.compiler.simulate.plant import R_BLK, S_BLK
from dfc.compiler.simulate.trace import make_trace
from dfc.compiler.simulate.trial import Operator, Played, Variant, play
from saso_migration import CHANGE, LOADS, by_balancer, watch

MARGIN = 0.95  # of the time between triggers the model counts on this much (models.h)
MOST_SEEDS = 5


# --- violations of throughput --------------------------------------------------------------------------


@dataclass(frozen=True)
class Sight:
    """What a controller is told. `service`: its computing time is so many times the real one; `waiting`: what waits at
    the end of a step counts as load of the next, and nothing is given back while it grows; `missed`: nothing is given
    back after a step that missed the goal."""

    title: str
    service: float = 1.0
    waiting: bool = True
    missed: bool = True


SIGHTS = (Sight("as it is"), Sight("no margin, or a computing time that is 5 % too short", MARGIN),
          Sight("blind to what waits", waiting=False),
          Sight("gives back after a miss", missed=False),
          Sight("no margin, and 5 % too short", MARGIN * 0.95),
          Sight("no margin, 5 % too short, blind to what waits", MARGIN * 0.95, waiting=False),
          Sight("all of these", MARGIN * 0.95, waiting=False, missed=False))


class Told:
    """The controllers' library, whose controllers see what `sight` lets them."""

    def __init__(self, controls: Controls, sight: Sight):
        self._controls, self._sight = controls, sight

    def __getattr__(self, name: str):
        return getattr(self._controls, name)

    def controller(self, options: Options, limits: Limits, goals: Goals, now: Setting):
        made = self._controls.controller(options, limits, goals if self._sight.missed else Goals(), now)
        inner, sight = made.step, self._sight

        def step(measured, limits, now):
            told = {**measured, "service": measured["service"] * sight.service,
                    "alternate_service": [one * sight.service for one in measured["alternate_service"]]}
            return inner(told if sight.waiting else {**told, "backlog": 0.0}, limits, now)

        made.step = step
        return made


def runs(subject: Operator, variant: Variant, seeds: int, controls) -> list[Played]:
    return [play((subject,), variant, [make_trace(subject.arrivals, seed * 1000)], controls,
                 subject.limits.workers_most)[subject.name] for seed in range(1, seeds + 1)]


def throughput_reasons(subject: Operator, variants: Sequence[Variant], seeds: int) -> list[str]:
    lines = ["| the controller | " + " | ".join(f"{one.name}: violations, lowest" for one in variants) + " |",
             "| --- |" + " --- |" * len(variants)]
    for sight in SIGHTS:
        told, cells = Told(open_controls(), sight), []
        for variant in variants:
            made = runs(subject, variant, seeds, told)
            missed = mean(saso(one.steps).violations for one in made)
            cells.append(f"{missed:.3g}, {mean(lowest(one) for one in made):.3f}")
        lines.append(f"| {sight.title} | " + " | ".join(cells) + " |")
    return lines


def lowest(played: Played) -> float:
    """Results over triggers in the worst second: what waits more at its end than at its beginning did not come out."""
    waits = np.array([0, *played.backlogs])
    return float(np.min(1 - np.diff(waits) / np.maximum(played.rates, 1)))


# --- violations of latency -----------------------------------------------------------------------------


def latency_reasons(subject: Operator, variants: Sequence[Variant], seeds: int) -> list[str]:
    """Whether violations come from plans that went wrong, or were planned."""
    lines = ["| results | policy | foretold ms | measured ms | steps planned above the goal | steps above it |",
             "| --- | --- | --- | --- | --- | --- |"]
    for queue, ordered in (("in order", True), ("free", False)):
        for variant in variants:
            steps = [step for one in runs(replace(subject, ordered=ordered), variant, seeds, open_controls())
                     for step in one.log.steps if step.foretold is not None]
            told = np.array([step.foretold["latency"] for step in steps])
            seen = np.array([step.measured["latency"] for step in steps])
            above = [np.count_nonzero(one > variant.goals.latency) / seeds for one in (told, seen)]
            lines.append(f"| {queue} | {variant.name} | {np.nanmean(told) * 1e3:.3g} | {np.nanmean(seen) * 1e3:.3g} | "
                         + " | ".join(f"{one:.3g}" for one in above) + " |")
    return lines


# --- power ---------------------------------------------------------------------------------------------

FLAT, STEEP = (1.0, 1.0), (0.7, 1.0)  # volts at the lowest and the highest frequency
CONSTANT = 0.25
# 000 §5.3.2 has 68.25 W at the peak, 30.7 % and 48.6 % below it; 002 §7.2.3 that Th-Power takes 28 % less than Th-Node,
# which makes that 28.6 % below the peak; 002 §7.2.4 has Lat-Node
MEASURED = ("28.6 (from 48.6 and 28)", "48.6", "14", "30.7")


def power_reasons(subject: Operator, variants: Sequence[Variant], seeds: int) -> list[str]:
    """Per cent below twelve workers at the highest frequency."""
    lines = ["| | " + " | ".join(one.name for one in variants) + " |", "| --- |" + " --- |" * len(variants)]

    def row(title: str, savings: Sequence[float]) -> None:
        lines.append(f"| {title} | " + " | ".join(f"{one:.3g}" for one in savings) + " |")

    free, kept = replace(subject, ordered=False), replace(subject, ordered=True)
    savings = {name: saved(one, variants, seeds) for name, one in (
        ("results free", free), ("results in order", kept), ("in order, the voltage does not fall with the frequency",
                                                             at_volts(kept, FLAT)),
        (f"in order, {STEEP[0]:g} V at the lowest frequency", at_volts(kept, STEEP)))}
    for name, found in savings.items():
        row(name, found)
    for name in ("results free", "results in order"):
        row(f"{name}, and {CONSTANT:.0%} of the most power is drawn whatever is set",
            [(1 - CONSTANT) * one for one in savings[name]])
    return [*lines, "| measured in the papers | " + " | ".join(MEASURED) + " |"]


def at_volts(subject: Operator, volts: tuple[float, float]) -> Operator:
    return replace(subject, limits=replace(subject.limits, voltages=tuple(
        np.linspace(*volts, len(subject.limits.frequencies)))))


def saved(subject: Operator, variants: Sequence[Variant], seeds: int) -> list[float]:
    return [100 - mean(saso(one.steps).power for one in runs(subject, variant, seeds, open_controls()))
            for variant in variants]


# --- blocking protocols --------------------------------------------------------------------------------


def few_parcels(weights: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A quarter of what each of the six has goes to one of the two new workers, so that nobody else gets a parcel."""
    def divide(owner: np.ndarray) -> np.ndarray:
        made = owner.copy()
        for worker in range(6):
            heaviest = sorted(np.flatnonzero(owner == worker), key=lambda part: -weights[part])
            made[heaviest[3::4]] = 6 + worker // 3
        return made

    return divide


def blocking_reasons(subject: Operator, seeds: int) -> list[str]:
    controls = open_controls()
    title, before, after, _ = LOADS[0]
    lines = [f"{title[0].upper()}{title[1:]}; mean latency in milliseconds in the first three quarters of a second, "
             "and results in the first:", "", "| keys go | r_blk | s_blk |", "| --- | --- | --- |"]
    ways = (("from each worker to every other, as the balancer has it", by_balancer(BALANCED, subject, controls)),
            ("from each worker to one of the two new ones", few_parcels(subject.arrivals.keys)))
    for name, divide in ways:
        cells = []
        for protocol in (R_BLK, S_BLK):
            seen = watch(subject, before, after, protocol, divide, seeds, controls)
            quarters = ", ".join(f"{one * 1e3:.0f}" for one in seen.latencies[CHANGE * 4:CHANGE * 4 + 3])
            cells.append(f"{quarters}; {seen.results[CHANGE * 4]:.0f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines
