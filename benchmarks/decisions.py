"""How long one decision of the policy `mpc` takes, for each solver, beside what 000 Tab. 5 reports for its search."""

from __future__ import annotations

import os
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path

from measuring import BUILD, HERE

FLAGS = ("-std=c11", "-O2", "-ffp-contract=off")  # those of generated programs
SOLVERS = ("envelope", "dynamic", "branch_and_bound")
# workers, frequencies, horizon; seconds in 000 Tab. 5, and the goal of the default solver
CASES = (((12, 9, 1), 45.77e-6, 20e-6), ((12, 9, 2), 608e-6, 20e-6), ((12, 9, 3), 17e-3, 20e-6),
         ((128, 16, 5), None, 1e-3))

Found = dict[tuple[tuple[int, int, int], str], float]


def build() -> Path:
    runtime, target = HERE.parent / "runtime_c", BUILD / "decisions"
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, f"-I{runtime}", "-o", target, HERE / "decisions.c",
                    *sorted((runtime / "control").glob("*.c")), "-lm"], check=True)
    return target


def run_cases(repeats: int) -> Found:
    """Seconds for a decision, the median of runs that take turns."""
    program = build()
    places = [(case, solver) for case, _, _ in CASES for solver in SOLVERS]
    runs = [{place: _once(program, *place) for place in places} for _ in range(repeats)]
    return {place: statistics.median(run[place] for run in runs) for place in places}


def _once(program: Path, case: tuple[int, int, int], solver: str) -> float:
    answer = subprocess.run([program, *map(str, case), solver], check=True, stdout=subprocess.PIPE, text=True)
    return float(answer.stdout) * 1e-9


def report(found: Found) -> Iterable[str]:
    yield from ("## Decisions", "", "Processor time for one decision of `mpc` (`lat_power`), for each solver; 000 "
                "Tab. 5 searches by branch and bound.", "")
    yield f"| workers × frequencies | horizon | {' | '.join(SOLVERS)} | 000 Tab. 5 | goal | |"
    yield f"| ---: | ---: |{' ---: |' * (len(SOLVERS) + 2)} --- |"
    for case, paper, goal in CASES:
        times = [found[case, solver] for solver in SOLVERS]
        kept = "kept" if times[0] < goal else "missed"
        cells = (f"{case[0]} × {case[1]}", str(case[2]), *map(_time, times), _time(paper), _time(goal), kept)
        yield f"| {' | '.join(cells)} |"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"
