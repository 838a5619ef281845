"""What being ready to change costs while nothing changes: a program with its controller, its measurements and replicas
that sleep, against the same one without.

Instructions are those that callgrind counts, the fewest of some runs: threads that wait spin a little, and how often
depends on the machine. Times are of pairs that run at once, all threads of both on one core, which Linux hands from
one to the other every few milliseconds: what else the machine does meets both alike. What counts is the processor time.
The same program against itself shows how far such a comparison can be trusted.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measuring import Contender, Shared, build_generated, results_folder, run_at_once, teller

PAIRS, COUNTED_RUNS = 20, 3
TUPLES, COUNTED_TUPLES = 50_000_000, 1_000_000
STUDENT = 2.093     # of 19 degrees of freedom, 95 %
SIGN_TEST = 6       # of 20 pairs the sixth from either end encloses the median, 95.9 %, however they are distributed
PLAIN, READY = "without", "with"
SLEEPING = 4        # replicas that exist and are not needed
PROGRAMS = {"elasticity": "count windows", "elasticity_scan": "running sums, a result for every tuple"}


@dataclass(frozen=True)
class Pairs:
    """Runs of two programs at once; each pair begins with the other one."""

    first: list[Shared]
    second: list[Shared]

    @property
    def more(self) -> list[float]:
        """How much more the second of each pair computed, as a logarithm."""
        return sorted(math.log(b.processor / a.processor) for a, b in zip(self.first, self.second, strict=True))

    @property
    def alone(self) -> float:
        """The share of its time for which the later one of a pair had the core to itself, on average."""
        pairs = zip(self.first, self.second, strict=True)
        return statistics.mean(abs(a.seconds - b.seconds) / max(a.seconds, b.seconds) for a, b in pairs)


@dataclass(frozen=True)
class Cost:
    what: str
    instructions: dict[str, int]
    against_itself: Pairs
    against_ready: Pairs

    @property
    def more_instructions(self) -> float:
        return self.instructions[READY] / self.instructions[PLAIN] - 1


def _command(program: Path, name: str, tuples: int) -> tuple[str, ...]:
    workers = 2
    words = (str(program), "--quiet", "--no-socket", "--layout", "staged", "--workers", str(workers),
             "--source", f"ticks=generate:count={tuples},keys=1000")
    return (*words, "--control", "off") if name == PLAIN else (*words, "--max-workers", str(workers + SLEEPING))


def count_instructions(program: Path, name: str, tuples: int, folder: Path) -> int:
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind'}",
               *_command(program, name, tuples)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", answer.stderr).group(1))


def run_pairs(program: Path, second: str, tuples: int) -> Pairs:
    """The program without a controller, and beside it the second one."""
    tell = teller(program.name)
    plain, other = (Contender(name, _command(program, name, tuples)) for name in (PLAIN, second))
    pairs = Pairs([], [])
    for pair in range(PAIRS):
        tell(f"{PLAIN} and {second}, pair {pair + 1} of {PAIRS}")
        if pair % 2 == 0:
            first_run, second_run = run_at_once([plain, other])
        else:
            second_run, first_run = run_at_once([other, plain])
        pairs.first.append(first_run)
        pairs.second.append(second_run)
    return pairs


def measure_costs(scale: float) -> list[Cost]:
    return [_measure_cost(name, what, scale) for name, what in PROGRAMS.items()]


def _measure_cost(app: str, what: str, scale: float) -> Cost:
    program, tell = build_generated(app, app, "--target", "portable"), teller(app)
    instructions = {}
    with results_folder() as folder:
        for name in (PLAIN, READY):
            tell(f"instructions {name} controller")
            instructions[name] = min(count_instructions(program, name, round(COUNTED_TUPLES * scale), folder)
                                     for _ in range(COUNTED_RUNS))
    against = {name: run_pairs(program, name, round(TUPLES * scale)) for name in (PLAIN, READY)}
    print()
    return Cost(what, instructions, against[PLAIN], against[READY])


def report(costs: list[Cost]) -> list[str]:
    alone = max(pairs.alone for cost in costs for pairs in (cost.against_itself, cost.against_ready))
    return ["## The cost of elasticity", "",
            f"1000 keys on two workers, with a controller that measures, a control step a second, and {SLEEPING} "
            "replicas asleep, against the same program with `--control off` and without them. "
            "Nothing changes. The two programs of a pair run at once, all their threads on one core; the later one had "
            f"it to itself for {alone:.1%} of its time on average. Mean and median of {PAIRS} pairs, each with its "
            "interval of 95 % confidence (Student, and the sign test). 000 reports 3 to 4 %.", "",
            "| program | | without | with | more, mean | more, median |", "| --- | --- | --- | --- | --- | --- |",
            *(line for cost in costs for line in _rows(cost))]


def _rows(cost: Cost) -> list[str]:
    return [f"| {cost.what} | instructions, callgrind | {cost.instructions[PLAIN]:,} | {cost.instructions[READY]:,} | "
            f"{cost.more_instructions:+.2%} | |",
            _times("processor seconds, pairs at once", cost.against_ready),
            _times("the same of two without", cost.against_itself)]


def _times(what: str, pairs: Pairs) -> str:
    first, second = (statistics.median(run.processor for run in runs) for runs in (pairs.first, pairs.second))
    half = STUDENT * statistics.stdev(pairs.more) / math.sqrt(len(pairs.more))
    mean, median, low, high = map(math.expm1, (statistics.mean(pairs.more), statistics.median(pairs.more),
                                               pairs.more[SIGN_TEST - 1], pairs.more[-SIGN_TEST]))
    return (f"| | {what} | {first:.3f} | {second:.3f} | {mean:+.2%} ± {half:.2%} | "
            f"{median:+.2%} ({low:+.2%}…{high:+.2%}) |")
