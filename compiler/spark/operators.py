"""What operators cost and give, from the logs of runs: service time, selectivity and value of each alternate.

Service times are those of triggers (docs/CONTROL.md): tuples that complete a window, or all where there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.artifacts.profile import StepCosts
from dfc.dsl import typed

from .rates import short

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, slots=True)
class AlternateFigures:
    """Seconds; `results` are those of a trigger."""

    steps: int
    service: float
    quantiles: tuple[float, ...]
    results: float | None
    value: float | None

    def data(self) -> dict[str, object]:
        return {"control_steps": self.steps, "service": self.service, "results": self.results, "value": self.value,
                **{f"p{round(100 * one)}": found for one, found in zip(_QUANTILES, self.quantiles, strict=True)}}


def alternate_figures(spark: SparkSession, parts: Sequence[str],
                      graph: Graph) -> dict[str, dict[str, AlternateFigures]]:
    """By operator and alternate; what the program does not have any more is left out."""
    if not parts:
        return {}
    from pyspark.sql import functions as f

    steps = spark.read.parquet(*parts).where(f.col("service").isNotNull() & (f.col("rate") > 0))
    weight = f.col("rate")
    rows = steps.groupBy("operator", "alternate").agg(
        f.count("*"), f.sum(f.col("service") * weight) / f.sum(weight),
        f.percentile("service", f.array(*map(f.lit, _QUANTILES))), f.sum(f.col("throughput") * weight) / f.sum(weight)
    ).collect()
    found: dict[str, dict[str, AlternateFigures]] = {}
    for operator, alternate, count, service, quantiles, results in sorted(rows, key=lambda row: (row[0], row[1] or "")):
        values = _values(graph, operator)
        if values is not None and (alternate is None or alternate in values):
            name = alternate or (next(iter(values)) if len(values) == 1 else operator)  # logs name one of several only
            found.setdefault(operator, {})[name] = AlternateFigures(
                count, short(service), tuple(map(short, quantiles)), None if results is None else short(results),
                values.get(name))
    return found


def _values(graph: Graph, name: str) -> dict[str, float] | None:
    """Of the alternates of a step of this program; None when it has no such step."""
    step = next((one for one in graph.steps if one.name == name), None)
    if step is None:
        return None
    return {one.name: one.value for one in step.body.alternates} if isinstance(step.body, typed.Operator) else {}


def step_costs(graph: Graph, name: str, figures: Mapping[str, AlternateFigures]) -> dict[str, StepCosts]:
    """A trigger is a window's result, or a tuple where there is no window."""
    windowed = getattr(graph.step(name).body, "window", None) is not None
    return {alternate: StepCosts(**{"window" if windowed else "tuple": one.service * 1e9})
            for alternate, one in figures.items()}


def selectivities(spark: SparkSession, parts: Sequence[str], graph: Graph) -> dict[str, float]:
    """Results for each tuple that came in, of steps that are no ends of the program."""
    if not parts:
        return {}
    from pyspark.sql import functions as f

    rows = spark.read.parquet(*parts).groupBy("step").agg(f.sum("taken"), f.sum("given")).collect()
    inner = {one.name for one in graph.steps if not isinstance(one.body, typed.Source | typed.Sink)}
    return {step: short(given / taken) for step, taken, given in sorted(rows) if taken and step in inner}
