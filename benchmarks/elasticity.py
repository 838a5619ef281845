"""What being ready to change costs while nothing changes: a program with its controller, its measurements and replicas
that sleep, against the same one without.

Instructions are those that callgrind counts, the fewest of some runs: threads that wait spin a little, and how often
depends on the machine. Times are of pairs that take turns, with all threads on one core: they are of all the work, and
not of where threads happen to land. The interval is that of the mean of their ratios, with a confidence of 95 %.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from measuring import Contender, build_generated, results_folder, run_once, teller

PAIRS, COUNTED_RUNS = 20, 3
TUPLES, COUNTED_TUPLES = 50_000_000, 1_000_000
STUDENT = 2.093  # of 19 degrees of freedom, 95 %
PLAIN, READY = "without", "with"
SLEEPING = 4  # replicas that exist and are not needed
PROGRAMS = {"elasticity": "count windows", "elasticity_scan": "running sums, a result for every tuple"}


@dataclass(frozen=True)
class Cost:
    what: str
    instructions: dict[str, int]
    seconds: dict[str, list[float]]

    @property
    def more_instructions(self) -> float:
        return self.instructions[READY] / self.instructions[PLAIN] - 1

    @property
    def more_time(self) -> tuple[float, float]:
        """The mean, and half of the interval."""
        ratios = [math.log(b / a) for a, b in zip(self.seconds[PLAIN], self.seconds[READY], strict=True)]
        half = STUDENT * statistics.stdev(ratios) / math.sqrt(len(ratios))
        return math.exp(statistics.mean(ratios)) - 1, half


def _command(program: Path, name: str, tuples: int) -> tuple[str, ...]:
    workers = 2
    words = (str(program), "--quiet", "--no-socket", "--layout", "staged", "--workers", str(workers),
             "--source", f"ticks=generate:count={tuples},keys=1000")
    return (*words, "--control", "off") if name == PLAIN else (*words, "--max-workers", str(workers + SLEEPING))


def _instructions(program: Path, name: str, tuples: int, folder: Path) -> int:
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind'}",
               *_command(program, name, tuples)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", answer.stderr).group(1))


def measure_costs(scale: float) -> list[Cost]:
    return [_measure_cost(name, what, scale) for name, what in PROGRAMS.items()]


def _measure_cost(app: str, what: str, scale: float) -> Cost:
    program, tell = build_generated(app, app, "--target", "portable"), teller(app)
    seconds: dict[str, list[float]] = {PLAIN: [], READY: []}
    with results_folder() as folder:
        instructions = {}
        for name in (PLAIN, READY):
            tell(f"instructions {name} controller")
            instructions[name] = min(_instructions(program, name, round(COUNTED_TUPLES * scale), folder)
                                     for _ in range(COUNTED_RUNS))
        for pair in range(PAIRS):
            tell(f"pair {pair + 1} of {PAIRS}")
            for name in (PLAIN, READY) if pair % 2 == 0 else (READY, PLAIN):
                command = _command(program, name, round(TUPLES * scale))
                seconds[name].append(run_once(Contender(name, command, cores=1))[0])
    print()
    return Cost(what, instructions, seconds)


def report(costs: list[Cost]) -> list[str]:
    return ["## The cost of elasticity", "",
            f"1000 keys on two workers, with a controller that measures, a control step a second, and {SLEEPING} "
            "replicas asleep, against the same program with `--control off` and without them. "
            "Nothing changes. Pairs run with all threads on one core. 000 reports 3 to 4 %.", "",
            "| program | | without | with | more |", "| --- | --- | --- | --- | --- |",
            *(line for cost in costs for line in _rows(cost))]


def _rows(cost: Cost) -> list[str]:
    mean, half = cost.more_time
    return [f"| {cost.what} | instructions, callgrind | {cost.instructions[PLAIN]:,} | {cost.instructions[READY]:,} | "
            f"{cost.more_instructions:+.2%} |",
            f"| | seconds, {PAIRS} pairs in turns | {statistics.median(cost.seconds[PLAIN]):.3f} | "
            f"{statistics.median(cost.seconds[READY]):.3f} | {mean:+.2%} ± {half:.2%} |"]
