"""Compiles generated programs quickly, runs them in many layouts, and compares them with the interpreter.

The runtime is built once a session and small on purpose: tiny rounds and batches, so that a few hundred
tuples pass many round ends. DFC_SANITIZE adds a sanitizer, DFC_TEST_CFLAGS other flags for the C compiler.
"""

from __future__ import annotations

import atexit
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from dfc.compiler import interpret, pipeline
from dfc.compiler.build import toolchain
from dfc.compiler.build.folder import runtime_folder
from dfc.compiler.interpret.binary import read_symbols, unpack_rows
from dfc.compiler.interpret.csv_rows import rows_of
from dfc.compiler.interpret.json_rows import json_rows_of
from dfc.compiler.select.asked import Asked
from dfc.dsl.diagnostics import ProgramError
from dfc.dsl.typed import Sink

LAYOUTS = (("--workers", "1"), ("--workers", "1", "--layout", "staged"), ("--workers", "2"),
           ("--workers", "2", "--layout", "staged"), ("--workers", "3"), ("--workers", "4"), ("--workers", "5"))
TIMEOUT = 60.0


class Different(AssertionError):
    """The program and the interpreter do not agree."""


def flags() -> list[str]:
    chosen = shlex.split(os.environ.get("DFC_TEST_CFLAGS", "-O0"))
    strict = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    return [*toolchain.NEEDED_FLAGS, *strict, *chosen, *toolchain._sanitizer_flags()]


def call(*words: object, folder: Path) -> None:
    command = [*toolchain.find_toolchain().command, *map(str, words)]
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if answer.returncode:
        raise Different(f"the C compiler refused:\n{answer.stderr}")


@lru_cache(maxsize=4)
def runtime(rounds: int) -> Path:
    """The runtime's library, with rounds of so many events (0: as it is delivered)."""
    folder = Path(tempfile.mkdtemp(prefix="dfc-differential-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    sources = sorted(path for part in ("src", "control") for path in runtime_folder().joinpath(part).rglob("*.c"))
    small = [f"-DDFRT_ROUND_EVENTS={rounds}", "-DDFRT_BATCH_MOST=5", "-DDFRT_INPUT_BYTES=64",
             "-DDFRT_CSV_BLOCK_BYTES=100", "-DDFRT_PARCEL_PAUSE_NS=2000000"] if rounds else []
    call(*flags(), *small, f"-I{runtime_folder() / 'include'}", "-c", *sources, folder=folder)
    subprocess.run(["ar", "rcs", "libdfrt.a", *(p.name for p in folder.glob("*.o"))], cwd=folder, check=True)
    return folder / "libdfrt.a"


@dataclass(frozen=True)
class Program:
    """A compiled program beside its typed form. loose: its sinks that get results as they come."""

    typed: object
    path: Path
    loose: frozenset[str] = frozenset()


def loose_sinks(program, asked: Asked | None = None) -> frozenset[str]:
    """Sinks that ask for less than the whole order, where the plan makes use of it."""
    plan = pipeline.plan(pipeline.flow(program), asked)
    return frozenset(step.name for step in program.steps if isinstance(step.body, Sink) and step.body.order != "total"
                     and plan.collects_freely(plan.segment_of(step.name)))


def build(text: str, folder: Path, rounds: int, asked: Asked | None = None, imported: str = "") -> Program:
    """Compiles the program text; the generated C must be without warnings. `imported` is what `parts.dfl` holds."""
    file = str(folder / "program.dfl") if imported else "program.dfl"
    if imported:
        (folder / "parts.dfl").write_text(imported)
    try:
        typed = pipeline.check(text, file, {})
        bundle = pipeline.generate(text, file, {}, asked=asked)
    except ProgramError as wrong:
        raise Different(f"refused: {wrong.diagnostics.items}") from None
    (folder / "program.dfl").write_text(text)
    for name, content in bundle.files:
        (folder / name).write_text(content)
    call(*flags(), *includes(folder), f"{bundle.app}.c", main_object(_symbol(bundle), rounds), runtime(rounds),
         *toolchain.LINK_FLAGS, "-o", "program", folder=folder)
    return Program(typed, folder / "program", loose_sinks(typed, asked))


def includes(folder: Path) -> tuple[str, str]:
    return f"-I{folder}", f"-I{runtime_folder() / 'include'}"


def _symbol(bundle) -> str:
    """The program's table, as its own `main` calls it."""
    return re.search(r"dfrt_main\(&(\w+)", bundle.text("main.c")).group(1)


@lru_cache(maxsize=8)
def main_object(program: str, rounds: int) -> Path:
    """`main` for all programs of one name, without their records."""
    folder = runtime(rounds).parent
    main = folder / f"main_{program}.c"
    main.write_text("#include <dfrt/program.h>\n"
                    f"extern const dfrt_program {program};\n"
                    f"int main(int argc, char **argv) {{ return dfrt_main(&{program}, argc, argv); }}\n")
    call(*flags(), *includes(folder), "-c", main.name, "-o", f"{main.stem}.object", folder=folder)
    return folder / f"{main.stem}.object"


def check_inputs(program: Program, files: dict[str, bytes], chosen=(), layouts=LAYOUTS) -> None:
    """Runs the program with one set of input files in every layout; raises Different."""
    folder = program.path.parent
    for name, data in files.items():
        (folder / name).write_bytes(data)
    expected = interpret.run(program.typed, folder=folder, active=dict(chosen))
    words = [word for name, choice in chosen for word in ("--alternate", f"{name}={choice}")]
    for layout in layouts:
        stats = run(program, [*layout, *words])
        try:
            compare(program, expected, stats)
        except Different as different:
            raise Different(f"{' '.join(layout)}: {different}") from None


def run(program: Program, words: list[str]) -> dict:
    """The program's own summary."""
    folder = program.path.parent
    try:
        answer = subprocess.run([program.path, *words, "--quiet", "--report", "0", "--stats=stats.json"], cwd=folder,
                                capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise Different(f"{' '.join(words)}: it does not end") from None
    if answer.returncode:
        said = answer.stderr.decode(errors="replace")[-4000:]
        raise Different(f"{' '.join(words)}: exit {answer.returncode}\n{said}")
    return json.loads((folder / "stats.json").read_bytes())


# --- comparing --------------------------------------------------------------------------------------


def compare(program: Program, expected: interpret.Results, stats: dict, key: int | None = None) -> None:
    """Exactly, in order; of a loose sink only which rows there are, or, where `key` is a column that has the key, what
    each key gave in order."""
    connectors = {step.name: step.body.connector for step in program.typed.steps if step.name in expected.rows}
    for sink, rows in expected.rows.items():
        kind, path = connectors[sink].kind, program.path.parent / connectors[sink].path
        data = path.read_bytes()
        lines = {"csv": expected.csv_lines, "jsonl": expected.json_lines}.get(kind)
        if lines is None or data != "".join(f"{line}\n" for line in lines(sink)).encode():
            got = _rows_in(path, kind, expected.records[sink])
            if sink in program.loose and key is None:
                _compare_sets(sink, rows, got)
            elif sink in program.loose:
                _compare_rows(sink, *(sorted(each, key=lambda row: row[key]) for each in (rows, got)))
            else:
                _compare_rows(sink, rows, got)
    steps = {step["name"]: step for step in stats["steps"]}
    for name, counters in expected.counters.items():
        for what, value in (("out", counters.given), ("late", counters.late), ("malformed", counters.malformed),
                            ("faults", counters.faults)):
            if steps[name][what] != value:
                raise Different(f"{name}: {what} is {steps[name][what]}, expected {value}")


def _rows_in(path: Path, kind: str, record) -> list:
    data = path.read_bytes()
    if kind == "binary":
        symbols = path.with_name(f"{path.name}.symbols")
        return list(unpack_rows(data, record, read_symbols(symbols.read_bytes()) if symbols.exists() else []))
    return list((json_rows_of if kind == "jsonl" else rows_of)(data, record))


def _compare_rows(sink: str, rows: list[tuple], got: list) -> None:
    for number, (mine, theirs) in enumerate(zip(got, rows, strict=False)):
        if not isinstance(mine, tuple) or not all(map(same, mine, theirs)):
            raise Different(f"{sink}: row {number} is {mine}, expected {theirs}\n"
                            f"got      {got[max(0, number - 3):number + 4]}\n"
                            f"expected {rows[max(0, number - 3):number + 4]}")
    if len(got) != len(rows):
        raise Different(f"{sink}: {len(got)} rows, expected {len(rows)}; the last ones are {got[-2:]} and {rows[-2:]}")


def _compare_sets(sink: str, rows: list[tuple], got: list) -> None:
    """In any order. The last digits of floats may differ: rows that are equal but for those are looked through."""
    left: dict[tuple, list[tuple]] = {}
    for row in rows:
        left.setdefault(_without_floats(row), []).append(row)
    for mine in got:
        rivals = left.get(_without_floats(mine), [])
        found = next((i for i, theirs in enumerate(rivals) if all(map(same, mine, theirs))), None)
        if found is None:
            raise Different(f"{sink}: {mine} is not expected, or not so often")
        del rivals[found]
    missing = [row for rivals in left.values() for row in rivals]
    if missing:
        raise Different(f"{sink}: {len(missing)} rows are missing, the first of them {missing[0]}")


def _without_floats(row: tuple) -> tuple:
    return tuple(repr(value) for value in row if not isinstance(value, float))


def same(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return a == b or math.isnan(a) and math.isnan(b) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return type(a) is type(b) and a == b
