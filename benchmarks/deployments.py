"""Deployments of Linear Road and of the diamond, by every algorithm, beside what 004 reports (Tab. 2 and Fig. 7)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from dfc.compiler.deploy.model import worth
from dfc.compiler.deploy.samples import MACHINES, diamond, linear_road, usual_goals
from dfc.compiler.deploy.search import ALGORITHMS, Problem, Search
from dfc.compiler.deploy.text import how_sure

RATES = (2, 5, 10, 20, 50)
LARGE = (500, 2000, 8000)
PAPER = {"sh": (0.45, 0.81), "ce": (0.58, 0.81), "ga": (0.65, 0.79), "exact": (0.67, 0.80)}  # 004 Tab. 2, 50 msg/s
# 004 Fig. 7a
PAPER_SECONDS = {("exact", 50): "> 10,000", ("ga", 8000): "> 1,000", ("ce", 8000): "2.5", ("sh", 8000): "2.5"}


def searched(flow, rate: float, names: tuple[str, ...], seconds: float, restarts: int) -> Search:
    search = Search(Problem(flow(rate), MACHINES, usual_goals(rate)), range(1, 1 + restarts), seconds)
    search.run(names)
    return search


def rows(name: str, flow, rates: tuple[int, ...], seconds: float) -> Iterator[str]:
    yield from ("", f"| {name}, msg/s | algorithm | profit | throughput | value | cost $ | cores | seconds |",
                "| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for rate in rates:
        search = searched(flow, rate, ALGORITHMS, seconds, 4)
        for found in search.found.values():
            w = worth(search.problem.dataflow, found.deployment, search.problem.goals)
            yield (f"| {rate} | {found.algorithm}{how_sure(found)} | {w.profit:.4f} | {w.throughput:.3f} | "
                   f"{w.value:.3f} | {w.cost:.2f} | {w.cores} | {found.seconds:.2f} |")


def beside_paper(seconds: float) -> Iterator[str]:
    yield from ("", "| Linear Road, 50 msg/s | profit | 004 Tab. 2 | below exact | 004 | throughput | 004, Neither |",
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    search = searched(linear_road, 50, ALGORITHMS, seconds, 4)
    costs = {name: worth(search.problem.dataflow, found.deployment, search.problem.goals)
             for name, found in search.found.items()}
    best, paper_best = costs["exact"].profit, PAPER["exact"][0]
    for name, w in costs.items():
        profit, throughput = PAPER[name]
        yield (f"| {name} | {w.profit:.4f} | {profit} | {best - w.profit:.4f} | {paper_best - profit:.2f} | "
               f"{w.throughput:.3f} | {throughput} |")


def scaling(seconds: float) -> Iterator[str]:
    """004 stops GA at 500 msg/s and more; one population is enough to see how it scales here."""
    yield from ("", "| Linear Road, msg/s | algorithm | seconds | 004 Fig. 7a | profit | cores | cost $ |",
                "| ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for rate in (50, *LARGE):
        search = searched(linear_road, rate, ALGORITHMS, seconds, 1)
        for name, found in search.found.items():
            w = worth(search.problem.dataflow, found.deployment, search.problem.goals)
            paper = PAPER_SECONDS.get((name, rate), "")
            yield (f"| {rate} | {name}{how_sure(found)} | {found.seconds:.2f} | {paper} | {w.profit:.4f} | {w.cores} | "
                   f"{w.cost:.2f} |")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=60.0, help="for each exact search")
    options.add_argument("--rates", type=lambda words: tuple(map(int, words.split(","))), default=RATES)
    given = options.parse_args()
    tables = (rows("Linear Road", linear_road, given.rates, given.seconds),
              rows("diamond", diamond, given.rates, given.seconds), beside_paper(given.seconds), scaling(given.seconds))
    for lines in tables:
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
