"""The controllers under the trading workload of the papers, simulated; writes SASO.md.

    python benchmarks/saso.py [--seeds 25] [--data FOLDER] [--output FILE] [--skip-validation]

The workload is that of 000 §5 and 002 §7.2: tuples a second that walk at random for 180 s, 2836 keys of a market's
skew, a trigger every 25 tuples of a key, 12 cores, 9 frequencies. Results come out in the order of their triggers, as
those of generated programs do, and beside that as soon as they are done, as in the papers.

FOLDER holds trading_random_walk.txt and trading_key_probabilities.txt as their authors published them; without it a
walk and keys of the same figures are made up.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from dfc.compiler.select.traffic import key_shares, with_heaviest
from dfc.compiler.simulate.control_library import Goals, Limits, Options, Setting
from dfc.compiler.simulate.experiment import Experiment, Interval, Result, run_experiment, teller
from dfc.compiler.simulate.plant import Costs
from dfc.compiler.simulate.rates import read_keys, read_rates
from dfc.compiler.simulate.saso_table import COLUMNS, cell
from dfc.compiler.simulate.trace import Arrivals
from dfc.compiler.simulate.trial import Operator, Variant
from saso_migration import migration_tables
from saso_reasons import MOST_SEEDS, blocking_reasons, latency_reasons, power_reasons, throughput_reasons
from saso_validation import TITLE as VALIDATION
from saso_validation import validation_tables

HERE = Path(__file__).resolve().parent
OUTPUT = HERE / "SASO.md"
DATA = os.environ.get("DFC_TRADING_DATA")

SLIDE, KEYS, HEAVIEST = 25, 2836, 0.0287
SERVICE, SERVICE_CV = 0.45e-3, 0.1  # of a trigger at 2.0 GHz, assumed
TIGHT_SERVICE = 0.55e-3
FREQUENCIES = tuple(1.2e9 + 0.1e9 * step for step in range(9))
CORES, START, SEEDS = 12, 8, 25
LATENCY, THROUGHPUT = 1.5e-3, 0.95
WALK = {"level": 1.0, "trend": 0.015}  # of the forecaster, as published for this walk
LEAST_VOLTS, MOST_VOLTS = 0.85, 1.0  # at the lowest and the highest frequency, assumed
LIMITS = Limits(CORES, 1, FREQUENCIES, tuple(np.linspace(LEAST_VOLTS, MOST_VOLTS, len(FREQUENCIES))), 3.0)
BY_LATENCY, BY_THROUGHPUT = Goals(latency=LATENCY), Goals(throughput=THROUGHPUT)

STRATEGIES = (("Th-Node", "th_node", 200.0, BY_THROUGHPUT), ("Th-Power", "th_power", 200.0, BY_THROUGHPUT),
              ("Lat-Node", "lat_node", 2.0, BY_LATENCY), ("Lat-Power", "lat_power", 2.0, BY_LATENCY),
              ("exp ρ, nodes", "rho_node", 1.0, BY_THROUGHPUT))
SWITCHING = (("NoSw", 0.0, 1), ("Sw h=1", 0.4, 1), ("Sw h=2", 0.4, 2), ("Sw h=3", 0.4, 3))
# figure ("": workers or power), and 1 where the switching cost is said to raise it
CLAIMS = (("1 stability: the switching cost lowers reconfigurations, a longer horizon raises them again",
           "reconfigurations", -1),
          ("2 accuracy: it lowers violations, a longer horizon raises them again", "violations", -1),
          ("3 overshoot: it raises resources, a longer horizon lowers them again", "", 1),
          ("4 settling: it lowers the amplitude, a longer horizon raises it again", "amplitude", -1),
          ("4, over the steps that changed something alone", "change_amplitude", -1))
ORDERED, FREE = "in order", "free"
OF_A_CHANGE = ("change_amplitude", "of a change", 1.0)


def mpc(name: str, strategy: str, alpha: float, gamma: float, horizon: int, goals: Goals, step: float = 1.0) -> Variant:
    """As published: latency is weighed against resources, and no bound forbids to plan beyond the goal."""
    parameters = {"strategy": strategy, "alpha": alpha, "gamma": gamma, "horizon": horizon, "bound": 0.0}
    return Variant(name, Options("mpc", parameters, **WALK), step, goals)


def strategies() -> tuple[Variant, ...]:
    """002 Tab. 7.2, each without and with the switching cost."""
    return tuple(mpc(f"{name} {sw}", strategy, alpha, gamma, horizon, goals)
                 for name, strategy, alpha, goals in STRATEGIES for sw, gamma, horizon in SWITCHING)


def heavier_switching() -> tuple[Variant, ...]:
    """γ above β: then even one worker is not given back at once."""
    return tuple(mpc(f"{name} γ={gamma:g} h={horizon}", strategy, 200.0, gamma, horizon, BY_THROUGHPUT)
                 for name, strategy in (("Th-Node", "th_node"), ("Th-Power", "th_power"))
                 for gamma in (0.6, 1.2) for horizon in (1, 2, 3))


def tight() -> tuple[Variant, ...]:
    return tuple(mpc(f"Lat-Node {sw}", "lat_node", 2.0, gamma, horizon, BY_LATENCY) for sw, gamma, horizon in SWITCHING)


def by_throughput() -> tuple[Variant, ...]:
    """002 Tab. 7.3: steps of 4 s, violations counted in seconds."""
    rule = {"utilisation_low": 0.8, "utilisation_high": 0.9}
    other = {"utilisation_low": 0.8, "utilisation_high": 0.95}
    return (Variant("Th-Rule 0.8…0.9", Options("rule", rule), 4.0, BY_THROUGHPUT, fixed_frequency=True),
            Variant("Th-Rule 0.8…0.95", Options("rule", other), 4.0, BY_THROUGHPUT, fixed_frequency=True),
            Variant("SPL", Options("spl", {"congestion": 0.1, "sensitivity": 0.9}), 4.0, BY_THROUGHPUT,
                    fixed_frequency=True),
            mpc("Th-Node (4 s)", "th_node", 200.0, 0.4, 2, BY_THROUGHPUT, 4.0),
            mpc("Th-Node (2 s)", "th_node", 200.0, 0.4, 2, BY_THROUGHPUT, 2.0),
            Variant("static", Options("static"), 1.0, BY_THROUGHPUT))


def by_latency() -> tuple[Variant, ...]:
    """002 Tab. 7.4, and the policies that it does not have."""
    rule = Options("rule", {"low": 0.7, "high": 1.1})
    return (Variant("Lat-Rule (4 s)", rule, 4.0, BY_LATENCY, fixed_frequency=True),
            Variant("Lat-Rule (1 s)", rule, 1.0, BY_LATENCY, fixed_frequency=True),
            mpc("Lat-Node (4 s)", "lat_node", 2.0, 0.4, 2, BY_LATENCY, 4.0),
            mpc("Lat-Node (1 s)", "lat_node", 2.0, 0.4, 2, BY_LATENCY),
            mpc("Lat-Power (1 s)", "lat_power", 2.0, 0.4, 2, BY_LATENCY),
            Variant("SPL (4 s)", Options("spl", {"congestion": 0.1, "sensitivity": 0.9}), 4.0, BY_LATENCY,
                    fixed_frequency=True),
            Variant("threshold of 003", Options("threshold"), 1.0, BY_LATENCY, fixed_frequency=True),
            Variant("reinforcement learning", Options("rl", **WALK), 1.0, BY_LATENCY, fixed_frequency=True),
            Variant("Lat-Power, bound 0.6 (1 s)", Options("mpc", {"strategy": "lat_power"}, **WALK), 1.0, BY_LATENCY),
            Variant("auto", Options("auto", **WALK), 1.0, Goals(latency=LATENCY, minimize="power")),
            Variant("static", Options("static"), 1.0, BY_LATENCY))


# --- workload ----------------------------------------------------------------------------------------


def workload(folder: str | None) -> tuple[tuple[float, ...], np.ndarray, str]:
    if folder:
        return (read_rates(os.path.join(folder, "trading_random_walk.txt")),
                np.array(read_keys(os.path.join(folder, "trading_key_probabilities.txt"))), "as published")
    chance, rate, rates = random.Random(1), 300_000.0, []
    for _ in range(180):
        rates.append(rate)
        rate = min(458_000.0, max(135_000.0, rate + chance.gauss(0.0, 16_554.0)))
    return tuple(rates), np.array(key_shares(with_heaviest(KEYS, HEAVIEST))), "made up with the published figures"


def operator(rates: Sequence[float], keys: np.ndarray) -> Operator:
    """One part for each key, as in the papers; results in order, as of generated programs."""
    return Operator("trading", Arrivals(rates, keys, SLIDE, SERVICE_CV), Costs((SERVICE,)), LIMITS, BY_LATENCY,
                    Setting(START, len(FREQUENCIES) - 1), "keys", ordered=True)


# --- what the results say ----------------------------------------------------------------------------


def found(results: Sequence[Result], name: str, figure: str) -> Interval:
    return next(one.figures[figure] for one in results if one.variant == name)


def verdicts(queues: Mapping[str, Sequence[Result]]) -> list[str]:
    """Results 1 to 4 of 002 §7.2.3, for each strategy: whether the figures are ordered as they say."""
    lines = ["| | results | Th-Node | Th-Power | Lat-Node | Lat-Power |", "| --- | --- | --- | --- | --- | --- |"]
    for title, figure, sign in CLAIMS:
        for queue, results in queues.items():
            cells = []
            for name, _, _, _ in STRATEGIES[:4]:
                what = figure or ("workers" if name.endswith("Node") else "power")
                figures = [found(results, f"{name} {sw}", what) for sw, _, _ in SWITCHING]
                cells.append(f"{judged(figures, sign)} ({', '.join(f'{one.mean:.3g}' for one in figures)})")
            lines.append(f"| {title if queue == ORDERED else ''} | {queue} | " + " | ".join(cells) + " |")
    return lines


def judged(figures: Sequence[Interval], sign: int) -> str:
    """Claimed: the second differs from the first in the direction of `sign`, and the last from the second in the other
    one. What lies inside the confidence intervals is no difference."""
    none, one, _, three = figures
    effect = differs(none, one, sign)
    if not effect:
        return "no effect" if not differs(none, one, -sign) else "no"
    return "yes" if differs(one, three, -sign) else "in part"


def differs(first: Interval, second: Interval, sign: int) -> bool:
    halves = sum(one.half for one in (first, second) if one.half == one.half)
    return sign * (second.mean - first.mean) > halves


# --- the page ----------------------------------------------------------------------------------------


Columns = Sequence[tuple[str, str, float]]
SHORT: Columns = tuple(one for one in COLUMNS if one[0] not in ("settling", "latency_p95"))
COMPARED: Columns = tuple(one for column in COLUMNS for one in ((column, OF_A_CHANGE) if column[0] == "amplitude"
                                                                else (column,)))


def table(results: Sequence[Result], columns: Columns = COLUMNS) -> list[str]:
    heads = [heading for _, heading, _ in columns]
    lines = ["| policy | " + " | ".join(heads) + " |", "| --- |" + " --- |" * len(heads)]
    for one in results:
        cells = [cell(one.figures[name], factor) for name, _, factor in columns]
        lines.append(f"| {one.variant} | " + " | ".join(cells) + " |")
    return lines


def simulated(seeds: int, folder: str | None) -> list[str]:
    rates, keys, origin = workload(folder)
    subject = operator(rates, keys)
    free = replace(subject, ordered=False)
    slower = replace(free, costs=replace(free.costs, service=(TIGHT_SERVICE,)))

    def results(one: Operator, variants: tuple[Variant, ...]) -> list[Result]:
        return run_experiment(Experiment((one,), variants, CORES), seeds, tell=teller("saso"))

    queues = {ORDERED: results(subject, strategies()), FREE: results(free, strategies())}
    return ["# Controllers under the papers' trading workload, simulated", "",
            f"`python benchmarks/saso.py --seeds {seeds}`: {len(rates)} s, {seeds} seeds, {CORES} cores, "
            f"{len(FREQUENCIES)} frequencies; the walk and the keys {origin}. Means over the seeds ± half of their "
            "95 % confidence interval. What the columns mean: [CONTROL.md](../docs/CONTROL.md#saso).", "",
            "## Inputs", "", *inputs(rates, keys), "",
            "## MPC by strategy, switching cost and horizon (002 Tab. 7.2)", "",
            "Results in the order of their triggers, as generated programs give them:", "", *table(queues[ORDERED]), "",
            "The same strategies with results free, each as soon as it is done, as in the papers:", "",
            *table(queues[FREE], SHORT), "",
            "Results 1 to 4 of 002 §7.2.3 (without switching cost; with it, h = 1, 2, 3):", "", *verdicts(queues), "",
            "With a switching cost above the cost of a worker, results in order:", "",
            *table(results(subject, heavier_switching()), SHORT), "",
            f"Lat-Node with results free where the goal is tight, a computing time of {TIGHT_SERVICE * 1e3:g} ms:", "",
            *table(results(slower, tight()), SHORT), "",
            "## Against rules and SPL, by throughput (002 Tab. 7.3)", "",
            "Results in order. *Amplitude* is over all seconds, as 002 §7.2.3 defines it; *of a change* over those "
            "that changed something. Tab. 7.3 and 7.4 print the latter: 11 changes of Th-Node in 59 steps of 4 s can't "
            "give the 1 that stands there over all steps.", "", *table(results(subject, by_throughput()), COMPARED), "",
            "## Against rules, SPL and others, by latency (002 Tab. 7.4)", "",
            "Results in order:", "", *table(results(subject, by_latency()), COMPARED), "",
            "Results free:", "", *table(results(free, by_latency()), (*SHORT[:5], OF_A_CHANGE, *SHORT[5:])), "",
            *migration_tables(subject, seeds), "", *reasons(subject, min(seeds, MOST_SEEDS))]


def reasons(subject: Operator, seeds: int) -> list[str]:
    throughput = (mpc("Th-Node Sw h=2", "th_node", 200.0, 0.4, 2, BY_THROUGHPUT),
                  mpc("Th-Power Sw h=2", "th_power", 200.0, 0.4, 2, BY_THROUGHPUT))
    power = tuple(mpc(name, strategy, alpha, 0.0, 1, goals) for name, strategy, alpha, goals in STRATEGIES[:4])
    return ["## Reasons, tried one by one", "",
            f"Means of {seeds} seeds, results in order where nothing else is said. What follows stands below.", "",
            "Violations of throughput, where the controller knows less than it does. *Lowest* is results over triggers "
            "in the worst second:", "", *throughput_reasons(subject, throughput, seeds), "",
            "Violations of latency without switching cost, where latency that was foretold stands beside the measured:",
            "", *latency_reasons(subject, power[2:], seeds), "",
            "Power below that of twelve workers at 2.0 GHz, in per cent, without switching cost:", "",
            *power_reasons(subject, power, seeds), "",
            "R-BLK and S-BLK:", "", *blocking_reasons(subject, seeds)]


def inputs(rates: Sequence[float], keys: np.ndarray) -> list[str]:
    return ["| input | value | from |", "| --- | --- | --- |",
            f"| rate | {min(rates):,.0f} to {max(rates):,.0f} tuples/s, mean {sum(rates) / len(rates):,.0f} "
            "| the walk |",
            f"| keys | {len(keys)}, the heaviest {keys.max():.2%} | the published distribution at one moment |",
            f"| trigger | every {SLIDE} tuples of a key | 000 §5.1 |",
            f"| goals | mean latency {LATENCY * 1e3:g} ms in a second, or results over triggers {THROUGHPUT:g} "
            "| 002 §7.2.3 |",
            "| α, β, γ | 200 (throughput), 2 (latency), 1 (exp ρ); 0.5; 0.4 | 002 Tab. 7.2 |",
            f"| forecast | Holt's, level {WALK['level']:g}, trend {WALK['trend']:g} | the published artifact |",
            f"| computing time | {SERVICE * 1e3:g} ms a trigger at 2.0 GHz, **assumed**: six workers keep up with "
            "300,000/s and eight with 400,000/s | 000 §5.2.2 |",
            f"| its variation | coefficient {SERVICE_CV:g} (Gamma), **assumed** | |",
            "| frequency | time goes with 1/f, **assumed**: nothing of it waits for memory | |",
            f"| voltage | {LEAST_VOLTS:g} V at 1.2 GHz to {MOST_VOLTS:g} V at 2.0 GHz, linear, **assumed**; power is "
            "V²·f·(workers + 3) | the formula: 000 §3.2 |",
            "| moving a key | 1 µs out, 1 µs in, **assumed** | |",
            "| arrivals | tuples by chance (Poisson), keys independent, **assumed** | |",
            "| routes | each key has its own, as in the papers; programs route 1024 slots and each heavy key | |",
            "| results | *in order*: a result is handed on after those of all earlier triggers, as by generated "
            "programs; *free*: as soon as it is done, in order only within a key | programs; 002 §6.4 |",
            f"| start | {START} workers at 2.0 GHz, keys in turn | **assumed** |"]


def kept_validation(page: Path) -> list[str]:
    """That section of a page, as it is."""
    lines = page.read_text().splitlines()
    if VALIDATION not in lines:
        sys.exit(f"{page} has no section '{VALIDATION}' to keep")
    first = lines.index(VALIDATION)
    last = next(at for at in range(first + 1, len(lines)) if lines[at].startswith("## "))
    return lines[first:last - 1]


def write_page(seeds: int, folder: str | None, output: Path, skip_validation: bool) -> None:
    began = time.monotonic()
    validation = kept_validation(OUTPUT) if skip_validation else validation_tables()
    notes = (HERE / "saso_notes.md").read_text().splitlines()
    text = "\n".join([*simulated(seeds, folder), "", *validation, "", *notes, ""])
    output.write_text(text)
    print(f"{output}: {time.monotonic() - began:.0f} s", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--data", default=DATA, help="a folder with the published walk and keys (default: "
                                                     "$DFC_TRADING_DATA, else they are made up)")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--skip-validation", action="store_true",
                        help="keep the queue beside the real program, which wants a quiet machine, as the page has it")
    words = parser.parse_args()
    write_page(words.seeds, words.data, words.output, words.skip_validation)


if __name__ == "__main__":
    main()
