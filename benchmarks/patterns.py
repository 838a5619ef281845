"""Each pattern on one and two workers, beside the hand-written program and the fused one; and the latency of results.

The patterns are forced (`dfc compile --pattern`) and run with a thread a stage, also with one worker. Each has what dfc
predicts beside what was measured at full speed: over all of the data without a first part, which fills the windows.
What threads cost that share cores, and how fast a core is beside one that works, differs from minute to minute:
programs are calibrated in every turn, and the medians of what is predicted and of what is measured stand side by side.
So does what the cores themselves give: the program by hand, twice at once.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import data
from measuring import (
    BY_HAND,
    Contender,
    Measured,
    Row,
    all_cores,
    build_generated,
    build_limit,
    by_hand,
    generated,
    in_folder,
    measure,
    results_folder,
    run_once,
    teller,
)
from predictions import SEQUENTIAL, Predicted, calibrate, off, planned_word, predict, profile_of
from rows import STATS, Entry, cells, compare, cut

FUSED, PLANNED, TWICE = "fused", "planned for 2 cores", "by hand, twice at once"
WORKERS = (1, 2)
WHOLE = ("key_partitioning", "window_farming, agnostic", "window_farming, active")
COMBINED = (*WHOLE, "pane_farming", "pane_farming, ring", "window_partitioning", "nesting")
# What `--pattern` takes for so many workers. Nesting: all of them outside, since throughput is what is asked for.
PATTERNS = {
    "farm": "farm:{}",
    "key_partitioning": "key_partitioning:{}",
    "window_farming, agnostic": "window_farming:{},style=agnostic",
    "window_farming, active": "window_farming:{},style=active",
    "pane_farming": "pane_farming:{}",
    "pane_farming, ring": "pane_farming:{},merge=ring",
    "window_partitioning": "window_partitioning:{}",
    "nesting": "nesting:{},1",
}


@dataclass(frozen=True)
class Table:
    row: Row
    operator: str
    patterns: tuple[str, ...]
    filled: int                 # records until most keys have a window, or its time has passed
    expensive: bool = False     # two workers are to give 1.8 times one, where the pattern claims throughput
    goal: float | None = None   # of the default plan: speed / by hand

    @property
    def name(self) -> str:
        return self.row.name


KEYS_1K, KEYS_200 = (("quotes", "binary:keys_1k.bin"),), (("quotes", "binary:keys_200.bin"),)
TABLES = (
    Table(Row("expensive steps", "a C function of a few µs on each tuple", "expensive", "expensive_step", KEYS_200,
              "i8,f8"), "yields", ("farm",), 100_000, expensive=True),
    Table(Row("windows", "count 1000 slide 200, 1000 keys, five combinable aggregates", "windows", "windows", KEYS_1K,
              STATS), "stats", COMBINED, 1_200_000, goal=0.7),
    Table(Row("whole windows", "the same results by a C function over the whole window", "windows", "windows_whole",
              KEYS_1K, STATS), "stats", WHOLE, 1_200_000, goal=0.6),
    Table(Row("expensive windows", "count 1000 slide 200, 200 keys, a C function of 1 ms over the whole window",
              "expensive", "expensive_whole", KEYS_200, "i8,f8"), "modes", WHOLE, 250_000, expensive=True),
    Table(Row("expensive panes", "the same windows, an aggregate in C: 0.8 µs a tuple, 0.15 ms a pane, 0.8 ms a window",
              "expensive", "expensive_panes", KEYS_200, "i8,f8"), "peaks", COMBINED, 250_000, expensive=True),
    Table(Row("csv", "rows in, time window 10 s slide 2 s, rows out", "csv", "csv", (("trades", "csv:trades.csv"),),
              "csv"), "stats", ("key_partitioning",), 200_000),
)


@dataclass(frozen=True)
class Latency:
    """Of a window result, in microseconds, as `--stats` says."""

    results: int
    mean: float
    p50: float
    p99: float
    most: float


@dataclass(frozen=True)
class Found:
    """By title."""

    speeds: dict[str, tuple[Contender, Measured]]
    firsts: dict[str, Measured]       # over the part that fills the windows
    predicted: dict[str, list[Predicted]]  # turn by turn
    tuples: int                       # of the input
    rate: int                         # of tuples, at which latencies were measured
    latencies: dict[str, Latency]

    def ratio(self, faster: str, slower: str) -> float | None:
        """Of runs in the same turn, which had the same machine: the median."""
        if faster not in self.speeds or slower not in self.speeds:
            return None
        return statistics.median(a / b for a, b in zip(self.rates(faster), self.rates(slower), strict=True))

    def rates(self, title: str) -> list[float]:
        """Tuples a second, turn by turn."""
        contender, measured = self.speeds[title]
        return [(contender.tuples or self.tuples) / seconds for seconds in measured.seconds]

    def scaling(self, pattern: str) -> tuple[float, float]:
        """Two workers in times one: measured, predicted."""
        one, two = title_of(pattern, 1), title_of(pattern, 2)
        pairs = zip(self.predicted[two], self.predicted[one], strict=True)
        return self.ratio(two, one), statistics.median(more.model / less.model for more, less in pairs)

    def full_speed(self, table: Table, title: str, scale: float) -> list[float]:
        """Tuples a second when windows are full, turn by turn."""
        pairs = zip(self.speeds[title][1].seconds, self.firsts[title].seconds, strict=True)
        return [(table.row.tuples(scale) - table.filled) / max(whole - first, 1e-9) for whole, first in pairs]


# --- who takes part ----------------------------------------------------------------------------------


def title_of(pattern: str, workers: int) -> str:
    return f"{pattern}: {workers}"


def word_of(table: Table, pattern: str, workers: int) -> str:
    return f"{table.operator}={PATTERNS[pattern].format(workers)}"


def entries_of(table: Table, profile: Path, folder: Path, scale: float) -> list[Entry]:
    row, first = table.row, folder / "fused"
    made = [(generated(row, build_generated(row.program), first, scale, title=FUSED), first, first),
            (by_hand(row, build_limit(row.program), folder / "by-hand", scale), folder / "by-hand", first)]
    planned = build_generated(row.program, f"{row.program}-planned", "--cores", "2", "--profile", str(profile))
    made.append((generated(row, planned, folder / "planned", scale, title=PLANNED, cores=2), folder / "planned", first))
    for pattern in table.patterns:
        for workers in WORKERS:
            made.append((forced(table, pattern, workers, folder / f"{pattern}-{workers}", scale),
                         folder / f"{pattern}-{workers}", first))
    if table.expensive:
        made.append((twice(made[1][0], folder / "twice", row.tuples(scale)), folder / "twice", first))
    return made


def twice(contender: Contender, output: Path, tuples: int) -> Contender:
    """Two of the same at once, on all cores: what two workers could give that share nothing."""
    script = '"$0" "$1" "$2" & "$0" "$1" "$3" && wait $!'
    program, given, first = contender.command
    return Contender(TWICE, ("/bin/sh", "-c", script, program, given, first, str(output)), all_cores(), 2 * tuples)


def forced(table: Table, pattern: str, workers: int, output: Path, scale: float) -> Contender:
    name = f"{table.row.program}-{pattern.replace(', ', '-')}-{workers}"
    program = build_generated(table.row.program, name, "--pattern", word_of(table, pattern, workers))
    return generated(table.row, program, output, scale, "--layout", "staged", title=title_of(pattern, workers),
                     cores=all_cores())


# --- measuring ---------------------------------------------------------------------------------------


def run_tables(names: Iterable[str], repeats: int, scale: float) -> dict[str, Found]:
    return {table.name: run_table(table, repeats, scale) for table in TABLES if table.name in names}


def run_table(table: Table, repeats: int, scale: float) -> Found:
    tell = teller(f"patterns, {table.name}")
    data.make(table.row.group, scale)
    with results_folder() as folder:
        tell("calibrating")
        profile = calibrate(table.row, scale)
        tell("compiling")
        made = entries_of(table, profile, folder, scale)
        compare(table.row, made, tell)
        speeds, firsts, predicted = measure_all(table, [contender for contender, *_ in made], folder, repeats, scale)
        tell(", ".join(f"{title} {m.median * 1000:.0f} ms" for title, (_, m) in speeds.items()) + "\n")
        rate = quiet_rate(table, speeds, scale)
        latencies = measure_latencies(table, folder, rate, speeds, scale)
    return Found(speeds, firsts, predicted, table.row.tuples(scale), rate, latencies)


def predict_all(table: Table, profile: Path, planned: str | None) -> dict[str, Predicted]:
    words = {FUSED: SEQUENTIAL, PLANNED: planned} | {title_of(pattern, workers): PATTERNS[pattern].format(workers)
                                                     for pattern in table.patterns for workers in WORKERS}
    return {title: predict(table.row, table.operator, profile, word) for title, word in words.items()}


def measure_all(table: Table, contenders: list[Contender], folder: Path, repeats: int, scale: float) -> tuple[
        dict[str, tuple[Contender, Measured]], dict[str, Measured], dict[str, list[Predicted]]]:
    """Over all of the data, and over the first part at once before it; and what is predicted."""
    whole = in_folder(table.row.inputs[0][1], scale)
    part = first_of(whole, table.filled, folder / "part")
    both = [one for contender in contenders for one in (with_input(contender, whole, part), contender)]
    tell, profile = teller(f"patterns, {table.name}"), profile_of(table.row)
    planned, turns = planned_word(table.row, table.operator, profile), []

    def predict_turn(turn: int) -> None:
        if turn > 0:
            tell(f"repeat {turn + 1} of {repeats}, calibrating")
            calibrate(table.row, scale)
        turns.append(predict_all(table, profile, planned))

    measured = measure(both, repeats, tell, predict_turn)
    speeds = {c.title: (c, m) for c, m in zip(contenders, measured[1::2], strict=True)}
    firsts = {c.title: m for c, m in zip(contenders, measured[::2], strict=True)}
    return speeds, firsts, {title: [turn[title] for turn in turns] for title in turns[0]}


def first_of(whole: str, records: int, into: Path) -> str:
    """The first records of an input, as an input of its own."""
    kind, _, name = whole.partition(":")
    part = into.with_suffix(Path(name).suffix)
    cut(Path(name), records, part)
    return f"{kind}:{part}"


def with_input(contender: Contender, whole: str, part: str) -> Contender:
    """By hand files have no format before their name."""
    plain = [one.partition(":")[2] for one in (whole, part)]
    return replace(contender, command=tuple(word.replace(whole, part).replace(*plain) for word in contender.command))


def slow_ones(table: Table) -> list[str]:
    """Whose latency is measured."""
    return [FUSED, *(title_of(pattern, WORKERS[-1]) for pattern in table.patterns)]


def quiet_rate(table: Table, speeds: dict[str, tuple[Contender, Measured]], scale: float) -> int:
    """A third of what the slowest of them takes, the same for all; two digits are enough."""
    slowest = max(speeds[title][1].median for title in slow_ones(table))
    rate = table.row.tuples(scale) / slowest / 3
    return int(float(f"{rate:.1e}"))


def measure_latencies(table: Table, folder: Path, rate: int, speeds: dict[str, tuple[Contender, Measured]],
                      scale: float) -> dict[str, Latency]:
    """Over three seconds, or as long again as it takes until there are windows."""
    tell = teller(f"latency, {table.name}")
    stats, found = folder / "stats.json", {}
    whole = in_folder(table.row.inputs[0][1], scale)
    given = first_of(whole, max(3 * rate, 2 * table.filled), folder / "given")
    for title in slow_ones(table):
        tell(f"{rate:,} tuples/s, {title}")
        contender = speeds[title][0]
        command = with_input(contender, whole, given).command
        run_once(Contender(title, (*command, "--rate", f"{rate}/s", f"--stats={stats}"), contender.cores))
        said = json.loads(stats.read_text())["latency_us"]
        found[title] = Latency(said["count"], said["mean"], said["p50"], said["p99"], said["max"])
    tell(", ".join(f"{title} {one.mean:.0f} µs" for title, one in found.items()) + "\n")
    return found


# --- the tables --------------------------------------------------------------------------------------


def report(results: dict[str, Found], scale: float) -> Iterable[str]:
    yield from ("## Patterns", "", "Number of workers behind the colon; beside them run the threads that read, keep "
                "tuples and write, on all cores.", "")
    yield from speed_table(results, scale)
    yield ""
    yield from goals(results)
    yield from ("", "Predicted by model and simulation from profiles, and measured at full speed, in M tuples/s:", "")
    yield from prediction_table(results, scale)
    yield from ("", "Latency of a result at a fixed rate, two workers:", "")
    yield from latency_table(results)
    yield from ("", "| row | computes | tuples |", "| --- | --- | ---: |")
    for table in tables_of(results):
        yield f"| {table.name} | {table.row.what} | {table.row.tuples(scale):,} |"


def tables_of(results: dict[str, Found]) -> list[Table]:
    return [table for table in TABLES if table.name in results]


def speed_table(results: dict[str, Found], scale: float) -> Iterable[str]:
    yield "| row | program | M tuples/s | median ms | min–max ms | peak MB | speed / by hand | / fused | / 1 worker |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for table in tables_of(results):
        found = results[table.name]
        for title, (contender, measured) in found.speeds.items():
            ratios = compared(found, title)
            shown = " | ".join("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
            yield f"| {table.name} | {title} | {cells(table.row, contender, measured, scale)} | {shown} |"


def compared(found: Found, title: str) -> Iterable[float | None]:
    """With the program by hand, the fused one, and one worker."""
    for other in (BY_HAND, FUSED):
        yield found.ratio(title, other) if title != other else None
    pattern, _, workers = title.partition(": ")
    yield found.ratio(title, title_of(pattern, 1)) if workers not in ("", "1") else None


def prediction_table(results: dict[str, Found], scale: float) -> Iterable[str]:
    yield "| row | program | model | simulation | measured | model off | simulation off |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for table in tables_of(results):
        found = results[table.name]
        for title, turns in found.predicted.items():
            rates = found.full_speed(table, title, scale)
            models, played = [one.model for one in turns], [one.simulated for one in turns]
            shown = " | ".join(f"{statistics.median(some) / 1e6:.3g}" for some in (models, played, rates))
            yield f"| {table.name} | {title} | {shown} | {off(models, rates)} | {off(played, rates)} |"


def goals(results: dict[str, Found]) -> Iterable[str]:
    for table in tables_of(results):
        found = results[table.name]
        if table.goal is not None:
            for title in (FUSED, PLANNED):
                reached = found.ratio(title, BY_HAND)
                yield f"- {table.name}, speed of {title} / by hand: **{reached:.2f}** (goal {table.goal})"
        if table.expensive:
            at_once = found.ratio(TWICE, BY_HAND)
            yield f"- {table.name}, speed of two programs by hand at once / of one: **{at_once:.2f}**"
        for pattern in table.patterns if table.expensive else ():
            measured, predicted = found.scaling(pattern)
            goal = "goal 1.8" if predicted > 1.5 else "no goal: it claims no throughput here"
            yield (f"- {table.name}, {pattern}, speed of two workers / of one: **{measured:.2f}** (predicted "
                   f"{predicted:.2f}; {goal})")


def latency_table(results: dict[str, Found]) -> Iterable[str]:
    yield "| row | program | tuples/s | results | mean µs | median µs | p99 µs | max µs |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for table in tables_of(results):
        found = results[table.name]
        for title, one in found.latencies.items():
            yield (f"| {table.name} | {title} | {found.rate:,} | {one.results:,} | {one.mean:.0f} | {one.p50:.0f} | "
                   f"{one.p99:.0f} | {one.most:.0f} |")
