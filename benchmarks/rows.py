"""The rows against hand-written C, with the peers that do the same work."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import data
from compare import difference
from measuring import (
    BY_HAND,
    Contender,
    Measured,
    Row,
    Tell,
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
from peers import PEERS, Peer

Results = dict[str, list[tuple[Contender, Measured]]]

STATS = "i8,f8,f8,f8,f8,f8"
ROWS = (
    Row("chain, mapped file", "map, filter, map over packed 64-byte records", "chain", "chain_file",
        (("quotes", "binary:quotes.bin"),), "csv"),
    Row("chain, generator", "the same over tuples made up on the way", "chain", "chain_generate", (), "csv"),
    Row("windows, 1000 keys", "count 1000 slide 200, five combinable aggregates", "windows", "windows",
        (("quotes", "binary:keys_1k.bin"),), STATS, peers="windows"),
    Row("windows, 1 M keys", "the same, 1 M keys", "windows", "windows", (("quotes", "binary:keys_1m.bin"),), STATS,
        fewer=(("quotes", "binary:keys_1k.bin"),), fetched=800),
    Row("whole windows, 1000 keys", "the same results by a C function over the whole window", "windows",
        "windows_whole", (("quotes", "binary:keys_1k.bin"),), STATS),
    Row("whole windows, 1 M keys", "the same, 1 M keys", "windows", "windows_whole",
        (("quotes", "binary:keys_1m.bin"),), STATS, fewer=(("quotes", "binary:keys_1k.bin"),), fetched=800),
    Row("max of 100,000 slide 1", "a result at every tuple of one group", "windows", "windows_max",
        (("quotes", "binary:keys_1k.bin"),), "f8"),
    Row("csv", "rows in, time window 10 s slide 2 s, rows out", "csv", "csv", (("trades", "csv:trades.csv"),), "csv",
        peers="csv"),
    Row("join", "two streams, within 10 ms", "join", "join", (("bids", "binary:bids.bin"), ("asks", "binary:asks.bin")),
        "i8,i8,i8,f8,f8", 2),
    Row("sessions", "gap 300 ms, 10,000 keys", "sessions", "sessions", (("orders", "binary:orders.bin"),),
        "i8,i8,i8,i8,f8,f8"),
    Row("skyline", "panes of 2000 uniform points in eight dimensions", "skyline", "skyline",
        (("points", "binary:points.bin"),), "i8,f8"),
)
TWO, FEWER = "generated, 2 workers", "generated, on 1000 keys"


# --- who takes part ----------------------------------------------------------------------------------

Entry = tuple[Contender, Path, Path]  # with the file that it writes, and the one that this must be equal to


def entries_of(row: Row, folder: Path, scale: float) -> list[Entry]:
    program, first = build_generated(row.program), folder / "generated"
    made = [(generated(row, program, first, scale, "--workers", "1"), first, first),
            (by_hand(row, build_limit(row.program), folder / "by-hand", scale), folder / "by-hand", first)]
    if row.name == "csv":
        two = generated(row, program, folder / "workers", scale, "--workers", "2", title=TWO, cores=2)
        made.append((two, folder / "workers", first))
    if row.fewer:
        fewer, output = replace(row, inputs=row.fewer), folder / "fewer"
        made.append((generated(fewer, program, output, scale, "--workers", "1", title=FEWER), output, output))
    return made + [entry for peer in PEERS for entry in entries_of_peer(row, peer, program, folder, scale)]


def entries_of_peer(row: Row, peer: Peer, program: Path, folder: Path, scale: float) -> list[Entry]:
    if row.peers not in dict(peer.rows):
        return []
    if not peer.installed():
        print(f"{row.name}: {peer.title} is not installed, so it is left out", file=sys.stderr)
        return []
    source, spec = row.inputs[0]
    kind, _, name = in_folder(spec, scale).partition(":")
    given, output, right = Path(name), folder / peer.file, folder / "generated"
    most = dict(peer.rows)[row.peers]
    tuples = most if most is not None and most < row.tuples(scale) else None
    if tuples is not None:
        given, right = folder / f"{peer.file}.given", folder / f"{peer.file}.right"
        cut(Path(name), tuples, given)
        less = replace(row, inputs=((source, f"{kind}:{given}"),))
        run_once(generated(less, program, right, scale, "--workers", "1"))
    title = peer.title if tuples is None else f"{peer.title}, first {tuples:,}"
    command = peer.command(row.peers, given, output)
    return [(Contender(title, command, all_cores(), tuples, peer.repeats, peer=True), output, right)]


def cut(path: Path, records: int, into: Path) -> None:
    """The first records of a file: rows behind a header, or packed ones."""
    with path.open("rb") as given, into.open("wb") as taken:
        if path.suffix == ".csv":
            taken.writelines(islice(given, records + 1))
        else:
            taken.write(given.read(records * data.QUOTE.itemsize))


# --- measuring ---------------------------------------------------------------------------------------


def run_rows(rows: Iterable[Row], repeats: int, scale: float) -> Results:
    return {row.name: run_row(row, repeats, scale) for row in rows}


def run_row(row: Row, repeats: int, scale: float) -> list[tuple[Contender, Measured]]:
    tell = teller(row.name)
    data.make(row.group, scale)
    with results_folder() as folder:
        made = entries_of(row, folder, scale)
        compare(row, made, tell)
        measured = measure([contender for contender, *_ in made], repeats, tell)
    pairs = [(contender, one) for (contender, *_), one in zip(made, measured, strict=True)]
    tell(", ".join(f"{c.title} {m.median * 1000:.0f} ms" for c, m in pairs) + "\n")
    return pairs


def compare(row: Row, made: list[Entry], tell: Tell) -> None:
    """Runs everybody once, and stops when results differ."""
    for contender, output, right in made:
        tell(f"first run, {contender.title}")
        run_once(contender)
        wrong = "" if output == right else difference(right, output, row.result)
        if wrong:
            raise SystemExit(f"\n{row.name}: generated and {contender.title} differ: {wrong}")


# --- the table ---------------------------------------------------------------------------------------


def cells(row: Row, contender: Contender, measured: Measured, scale: float) -> str:
    low, high = min(measured.seconds), max(measured.seconds)
    rate = (contender.tuples or row.tuples(scale)) / measured.median / 1e6
    return (f"{rate:.3g} | {measured.median * 1000:.0f} | {low * 1000:.0f}–{high * 1000:.0f} | "
            f"{measured.megabytes:.0f}")


def speed(row: Row, contender: Contender, measured: Measured, scale: float) -> float:
    return (contender.tuples or row.tuples(scale)) / measured.median


def table(results: Results, scale: float) -> Iterable[str]:
    yield "| row | program | M tuples/s | median ms | min–max ms | peak MB | speed / by hand |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: |"
    for row in ROWS:
        entries = results.get(row.name, [])
        base = next((speed(row, c, m, scale) for c, m in entries if c.title == BY_HAND), 0.0)
        for contender, measured in entries:
            ratio = "" if contender.title == BY_HAND else f"{speed(row, contender, measured, scale) / base:.3g}"
            yield f"| {row.name} | {contender.title} | {cells(row, contender, measured, scale)} | {ratio} |"


def ratios(results: Results) -> Iterable[str]:
    """Of two runs of one turn each, which the host meets alike: their median, and the least and the highest."""
    def seconds(row: str, title: str) -> tuple[float, ...]:
        return next((m.seconds for c, m in results.get(row, []) if c.title == title), ())

    questions = (("windows, speed on 1 M keys / on 1000 keys", ("windows, 1 M keys", FEWER),
                  ("windows, 1 M keys", "generated")),
                 ("whole windows, speed on 1 M keys / on 1000 keys", ("whole windows, 1 M keys", FEWER),
                  ("whole windows, 1 M keys", "generated")),
                 ("csv, speed of two workers / of one", ("csv", "generated"), ("csv", TWO)),
                 ("csv, speed / DuckDB on all cores", ("csv", "DuckDB"), ("csv", "generated")),
                 ("csv, speed / Polars on all cores", ("csv", "Polars"), ("csv", "generated")))
    for what, slower, faster in questions:
        found = [one / other for one, other in zip(seconds(*slower), seconds(*faster), strict=False)]
        if found:
            yield f"- {what}: **{statistics.median(found):.2f}** ({min(found):.2f}…{max(found):.2f})"


def described(results: Results, scale: float) -> Iterable[str]:
    yield "| row | computes | tuples |"
    yield "| --- | --- | ---: |"
    for row in ROWS:
        if row.name in results:
            yield f"| {row.name} | {row.what} | {row.tuples(scale):,} |"
