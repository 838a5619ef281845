"""The populations of a genetic search for deployments, each in a task. What they find does not depend on where they
run or in which order they end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dfc.compiler.deploy import classes, genetic, greedy, model, packing
from dfc.compiler.deploy.model import Deployment, Placed
from dfc.compiler.deploy.search import Populations, Problem

from .session import in_partitions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TRAVELLING = (model, classes, packing, greedy, genetic)


def on_spark(spark: SparkSession) -> Populations:
    def populations(problem: Problem, seeds: Sequence[int]) -> Iterator[tuple[int, Deployment]]:
        """A job for each, so that the best so far is known as soon as one ends."""
        context = spark.sparkContext
        pool = ThreadPoolExecutor(max(1, min(len(seeds), context.defaultParallelism)))
        try:
            with _by_value():
                for job in as_completed([pool.submit(_population, spark, problem, seed) for seed in seeds]):
                    yield job.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            context.cancelAllJobs()
            pool.shutdown(wait=True)
    return populations


def _population(spark: SparkSession, problem: Problem, seed: int) -> tuple[int, Deployment]:
    """Executors have no dfc: the search travels with its modules, and what it finds comes back as plain numbers."""
    dataflow, machines, goals, search = problem.dataflow, problem.machines, problem.goals, genetic.genetic

    def bred(seeds):
        for one in seeds:
            found = search(dataflow, machines, goals, one)
            yield found.chosen, [(machines.index(place.machine), place.cores) for place in found.placed]

    (chosen, placed), = in_partitions(spark, [seed], 1, bred)
    return seed, Deployment(tuple(chosen), tuple(Placed(machines[at], tuple(cores)) for at, cores in placed))


@contextmanager
def _by_value() -> Iterator[None]:
    from pyspark import cloudpickle

    for module in _TRAVELLING:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in _TRAVELLING:
            cloudpickle.unregister_pickle_by_value(module)
