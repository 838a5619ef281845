"""Deployments of Linear Road and of the diamond, by every algorithm, beside what 004 reports (Tab. 2 and Fig. 7)."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from dfc.compiler.deploy.exact import Unfinished, exact
from dfc.compiler.deploy.genetic import restarted
from dfc.compiler.deploy.greedy import centralised, sharded
from dfc.compiler.deploy.model import Dataflow, worth
from dfc.compiler.deploy.samples import MACHINES, diamond, linear_road, usual_goals

RATES = (2, 5, 10, 20, 50)
PAPER = {"SH": (0.45, 0.81), "CE": (0.58, 0.81), "GA": (0.65, 0.79), "exact": (0.67, 0.80)}  # 004 Tab. 2, 50 msg/s


def algorithms(seconds: float):
    yield "SH", sharded
    yield "CE", centralised
    yield "GA", lambda *problem: restarted(*problem, seeds=range(1, 5))
    yield "exact", lambda *problem: exact(*problem, seconds)


def rows(name: str, flow, rates: tuple[int, ...], seconds: float) -> Iterator[str]:
    yield from ("", f"| {name} msg/s | algorithm | profit | throughput | value | cost $ | cores | seconds |",
                "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for rate in rates:
        for algorithm, search in algorithms(seconds):
            yield row(rate, algorithm, search, flow(rate))


def row(rate: float, name: str, search, dataflow: Dataflow) -> str:
    goals, start, cut = usual_goals(rate), time.perf_counter(), ""
    try:
        found = search(dataflow, MACHINES, goals)
    except Unfinished as unfinished:
        found, cut = unfinished.best, " (time was up)"
    taken, w = time.perf_counter() - start, worth(dataflow, found, goals)
    return (f"| {rate} | {name}{cut} | {w.profit:.4f} | {w.throughput:.3f} | {w.value:.3f} | {w.cost:.2f} | "
            f"{w.cores} | {taken:.2f} |")


def large(rate: int = 8000) -> Iterator[str]:
    yield from ("", f"| {rate} msg/s | seconds | 004 Fig. 7 | cores |", "| --- | ---: | ---: | ---: |")
    dataflow, goals = linear_road(rate), usual_goals(rate)
    for name, search in (("SH", sharded), ("CE", centralised)):
        start = time.perf_counter()
        found = search(dataflow, MACHINES, goals)
        yield f"| {name} | {time.perf_counter() - start:.2f} | 2.5 | {worth(dataflow, found, goals).cores} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60.0, help="for each exact search")
    options.add_argument("--rates", type=lambda words: tuple(map(int, words.split(","))), default=RATES)
    given = options.parse_args()
    for name, flow in (("Linear Road,", linear_road), ("diamond,", diamond)):
        for line in rows(name, flow, given.rates, given.seconds):
            print(line, flush=True)
    for line in large():
        print(line)
    told = ", ".join(f"{name} {profit}, {throughput}" for name, (profit, throughput) in PAPER.items())
    print(f"\n004 Tab. 2, Linear Road at 50 msg/s without variability (profit, throughput): {told}")


if __name__ == "__main__":
    main()
