"""The latency of results that are put in order, beside that of results which are taken as they come.

A farm of two workers, whose function takes 250 times as long for one tuple in 128: in order, all that was read behind
such a tuple waits for it. The two programs are one text, with and without `order free`.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from collections.abc import Iterable
from pathlib import Path

import data
import numpy
from measuring import BUILD, DFC, HERE, Contender, all_cores, results_folder, run_alone, run_once, teller
from rows import cut

RATE, SECONDS, WORKERS = 60_000, 3, 2
ORDERS = ("order total", "order free")
FIGURES = ("mean", "p50", "p99", "max")

Found = dict[str, list[dict[str, float]]]  # by order, a run each


def build(order: str) -> Path:
    text = HERE / "programs" / "uneven.dfl"
    folder = BUILD / f"uneven-{order.split()[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / "uneven.dfl"
    written.write_text(text.read_text().replace("order free", order).replace(
        '"quote.dfl"', f'"{text.with_name("quote.dfl")}"').replace('"uneven.c"', f'"{text.with_suffix(".c")}"'))
    subprocess.run([DFC, "compile", written, "-o", folder / "made", "--target", "native", "--pattern",
                    f"yields=farm:{WORKERS}"], check=True)
    return folder / "made" / "uneven"


def run_orders(repeats: int) -> Found:
    tell = teller("order")
    data.make("expensive", 1.0)
    tell("compiling")
    programs = {order: build(order) for order in ORDERS}
    with results_folder() as folder:
        given = folder / "given.bin"
        cut(data.folder(1.0) / "keys_200.bin", RATE * SECONDS, given)
        made = {order: contender(order, program, given, folder) for order, program in programs.items()}
        for one in made.values():
            run_once(one)
        compare([folder / f"{order}.out" for order in ORDERS])
        found = {order: [] for order in ORDERS}
        for turn in range(repeats):
            for order in ORDERS[::-1 if turn % 2 else 1]:
                tell(f"repeat {turn + 1} of {repeats}, {order}")
                run_alone(made[order])
                found[order].append(json.loads((folder / f"{order}.json").read_text())["latency_us"])
    tell("done\n")
    return found


def compare(outputs: list[Path]) -> None:
    """To the last bit: both compute the same, in another order."""
    one, other = (numpy.sort(numpy.fromfile(path, "<i8,<f8")) for path in outputs)
    if not numpy.array_equal(one, other):
        raise SystemExit("\norder: the results differ")


def contender(order: str, program: Path, given: Path, folder: Path) -> Contender:
    return Contender(order, (str(program), "--quiet", "--layout", "staged", "--source", f"quotes=binary:{given}",
                             "--sink", f"out=binary:{folder / order}.out", "--rate", f"{RATE}/s",
                             f"--stats={folder / order}.json"), all_cores())


def report(found: Found) -> Iterable[str]:
    yield from ("## Order", "", f"Latency of a result in µs, median of runs in turns (least…most): a farm of {WORKERS} "
                f"workers, {RATE:,} tuples/s for {SECONDS} s, one tuple in 128 takes half a millisecond and the others "
                "two microseconds.", "")
    yield f"| | {' | '.join(FIGURES)} |"
    yield f"| --- |{' ---: |' * len(FIGURES)}"
    for order, runs in found.items():
        cells = (f"{statistics.median(v):.0f} ({min(v):.0f}…{max(v):.0f})"
                 for v in ([run[figure] for run in runs] for figure in FIGURES))
        yield f"| `{order}` | {' | '.join(cells)} |"
