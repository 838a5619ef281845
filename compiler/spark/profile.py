"""A folder of traces becomes a profile: one pass over the events, a second look at keys where there are very many, and
the logs. One file a statistic: rates, keys, disorder, seasons, forecast, operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dfc.compiler.artifacts.graph import Graph
from dfc.compiler.artifacts.profile import Keys, OperatorProfile, Profile, to_json
from dfc.compiler.failure import Failure, Usage

from . import disorder, forecast, keys, operators, rates, seasons
from .inputs import DECISIONS, STATS
from .manifest import Manifest, Piece, read_manifest, require_program
from .measure import Counts, PieceWork, measure
from .schema import SourceColumns, sources_of
from .session import in_partitions
from .shipping import ship_dfc

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SLICES = 24  # of a trace, for what changes over time
MOST_BYTES = 1_000_000
_STEP = 1.0  # seconds of a control step, where the program does not say


@dataclass(frozen=True, slots=True)
class Span:
    """A source in time: first and last event time, and how it is divided. In units of event time."""

    first: int
    last: int
    bin: int
    slice: int
    unit: float  # seconds

    @property
    def every(self) -> float:
        return self.bin * self.unit

    @property
    def seconds(self) -> float:
        return (self.last - self.first) * self.unit


def profile(spark: SparkSession, graph: Graph, folder: Path, costs: Profile | None = None) -> Profile:
    """`costs`: a calibration of this program, whose costs are kept where the logs tell none."""
    manifest = _manifest(graph, folder)
    ship_dfc(spark)
    sources = {name: one for name, one in sources_of(graph.program).items() if manifest.of(name)}
    spans = {name: found for name in sources if (found := _span(sources[name], manifest))}
    keyed = keys.keyed_steps(graph)
    work = _work(folder, manifest, sources, spans, keyed)
    counts = _counts(spark, work)
    seen = {name: _source(graph, counts, name, spans.get(name), manifest) for name in sources}
    found = Profile(graph.program.name, "trace", costs.machine if costs else {},
                    {name: one["rate"] for name, one in seen.items() if one.get("rate")},
                    _operators(spark, graph, folder, manifest, counts, keyed, costs), seen)
    return _small_enough(found)


def _manifest(graph: Graph, folder: Path) -> Manifest:
    if not folder.is_dir():
        raise Usage(f"there is no folder `{folder}`; `dfc ingest FILES -o {folder}` makes it")
    manifest = read_manifest(folder)
    if manifest is None or not manifest.entries:
        raise Usage(f"the folder `{folder}` has no traces; `dfc ingest FILES -o {folder}` puts some there")
    described = {name: one.described() for name, one in sources_of(graph.program).items()}
    require_program(manifest, graph.program.name, described, folder)
    parts = (part for entry in manifest.entries.values() for part in entry.parts)
    missing = next((part for part in parts if not (folder / part).exists()), None)
    if missing:
        raise Failure(f"`{folder / missing}` is gone; remove the folder and ingest again")
    return manifest


# --- the pass ---------------------------------------------------------------------------------------


def _span(source: SourceColumns, manifest: Manifest) -> Span | None:
    timed = [piece for entry in manifest.of(source.name) for piece in entry.pieces if piece.first is not None]
    if not timed:
        return None
    first, last, unit = min(one.first for one in timed), max(one.last for one in timed), source.unit_ns / 1e9
    every = rates.finest((last - first) * unit, unit)
    return Span(first, last, max(1, round(every / unit)), (last - first) // SLICES + 1, unit)


def _work(folder: Path, manifest: Manifest, sources: Mapping[str, SourceColumns], spans: Mapping[str, Span],
          keyed: Mapping[str, keys.Origins]) -> list[PieceWork]:
    """Pieces in the order of arrival: files by name, then by place."""
    named = {key_name(origins): origins for origins in keyed.values()}
    work: list[PieceWork] = []
    for name, source in sources.items():
        wanted = tuple((key, columns) for key, origins in sorted(named.items())
                       for origin, columns in origins if origin == name)
        span, high = spans.get(name), None
        for piece in (piece for entry in manifest.of(name) for piece in entry.pieces):
            work.append(_piece_work(folder, len(work), source, piece, span, high, wanted))
            high = piece.last if high is None else max(high, piece.last)
    return work


def _piece_work(folder: Path, number: int, source: SourceColumns, piece: Piece, span: Span | None, high: int | None,
                wanted: tuple[tuple[str, tuple[str, ...]], ...]) -> PieceWork:
    parts = tuple(str((folder / part).absolute()) for part in piece.parts)
    if span is None:
        return PieceWork(number, source.name, parts, None, 1.0, 0, 1, 1, None, wanted)
    return PieceWork(number, source.name, parts, source.time, span.unit, span.first, span.bin, span.slice, high, wanted)


def key_name(origins: keys.Origins) -> str:
    return " and ".join(f"{source}({', '.join(columns)})" for source, columns in origins)


def _counts(spark: SparkSession, work: Sequence[PieceWork]) -> Counts:
    counts = _measured(spark, work)
    again = keys.candidates(counts)
    if again:
        mine = (one for one in work if any(key in again for key, _ in one.keys))
        exact = _measured(spark, [replace(one, only=again) for one in mine])
        counts.keys |= {name: exact.keys.get(name, {}) for name in again}
    return counts


def _measured(spark: SparkSession, work: Sequence[PieceWork]) -> Counts:
    """Neighbouring pieces share a task, so that what they count is added up there."""
    counts = Counts()
    for one in in_partitions(spark, work, min(len(work), 4 * spark.sparkContext.defaultParallelism), measure):
        counts.add(one)
    return counts


# --- figures ----------------------------------------------------------------------------------------


def _source(graph: Graph, counts: Counts, name: str, span: Span | None, manifest: Manifest) -> dict[str, object]:
    rows = counts.rows.get(name, 0)
    found: dict[str, object] = {"rows": rows, "rejected": sum(entry.rejected for entry in manifest.of(name))}
    if span is None or not rows:
        return found
    bins = rates.counts_of(counts.bins[name])
    start = span.first * span.unit
    found |= {"rate": rates.short(rows / span.seconds) if span.seconds else None, "start": start,
              "seconds": rates.short(span.seconds), "arrivals": rates.arrivals(bins, span.every, counts.gaps[name]),
              "disorder": disorder.disorder(counts.delays[name], counts.longest[name], rows, span.unit),
              "seasons": seasons.seasons(bins, span.every, start), "forecast": _forecast(graph, bins, span)}
    return found


def _forecast(graph: Graph, bins, span: Span) -> dict[str, object] | None:
    """At the program's control step, or the resolution of the trace where that is coarser."""
    wanted = min((dict(one.settings)["step"] / 1e9 for one in graph.program.controls if "step" in dict(one.settings)),
                 default=_STEP)
    times = max(1, round(wanted / span.every))
    step = times * span.every
    return forecast.fitted(rates.coarser(bins, times) / step, step)


def _operators(spark: SparkSession, graph: Graph, folder: Path, manifest: Manifest, counts: Counts,
               keyed: Mapping[str, keys.Origins], costs: Profile | None) -> dict[str, OperatorProfile]:
    def parts(kind: str) -> list[str]:
        return [str((folder / part).absolute()) for entry in manifest.of(kind) for part in entry.parts]

    measured = operators.alternate_figures(spark, parts(DECISIONS), graph)
    selectivity = operators.selectivities(spark, parts(STATS), graph)
    calibrated = dict(costs.operators) if costs else {}
    found = {}
    for step in graph.steps:
        name = step.name
        known = calibrated.get(name, OperatorProfile({}))
        figures = _keys(counts, keyed[name]) if name in keyed else None
        logged = operators.step_costs(graph, name, measured.get(name, {}))
        one = OperatorProfile(
            {**logged, **known.costs}, selectivity.get(name, known.selectivity),
            Keys(figures.count, figures.top[0], figures.top) if figures and figures.top else known.keys,
            figures.data() if figures else {}, {key: value.data() for key, value in measured.get(name, {}).items()})
        if one != OperatorProfile({}):
            found[name] = one
    return found


def _keys(counts: Counts, origins: keys.Origins) -> keys.KeyFigures | None:
    rows = sum(counts.rows.get(source, 0) for source, _ in origins)
    return keys.figures(key_name(origins), counts, rows, SLICES) if rows else None


def _small_enough(found: Profile) -> Profile:
    """Lists are shortened until the file is below its limit: first those of keys, then the series of rates."""
    most = keys.MOST_SHARES
    while len(to_json(found).encode()) > MOST_BYTES and most > 1:
        most //= 2
        found = replace(found, operators={name: _fewer(one, most) for name, one in found.operators.items()},
                        seen={name: _thinner(one, most) for name, one in found.seen.items()})
    return found


def _fewer(one: OperatorProfile, most: int) -> OperatorProfile:
    kept = one.keys and replace(one.keys, top=one.keys.top[:most])
    return replace(one, keys=kept, key_figures={**one.key_figures, "heavy": one.key_figures.get("heavy", [])[:most]})


def _thinner(one: Mapping[str, object], most: int) -> dict[str, object]:
    arrivals = one.get("arrivals")
    if not isinstance(arrivals, dict):
        return dict(one)
    series = [part for part in arrivals["series"] if len(part["rates"]) <= most]
    return {**one, "arrivals": {**arrivals, "series": series}}
