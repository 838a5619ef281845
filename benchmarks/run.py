"""Measures generated programs against the same computations written by hand, side by side, and writes RESULTS.md.

    python benchmarks/run.py [--rows chain,csv,patterns] [--repeats 7] [--scale 0.1] [--output FILE]

The programs of a row take turns, so that what else the machine does meets all of them. Their results are compared
before anything is timed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

import decisions
import elasticity
import migration
import orders
import patterns
import rows
import saso
import spark_traces
from measuring import HERE, all_cores, build_launcher
from peers import PEERS

PATTERNS, ORDER, DECISIONS, SASO, MIGRATION, ELASTICITY = ("patterns", "order", "decisions", "saso", "migration",
                                                           "elasticity")
GROUPS = (*dict.fromkeys(row.group for row in rows.ROWS), PATTERNS, ORDER, DECISIONS, SASO, MIGRATION, ELASTICITY)
TRACES = "traces"  # only when asked for: 4 GB of files, and Spark


def machine() -> list[str]:
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True).stdout
    return [f"CPU: {cpu}, {all_cores()} cores", f"Kernel: {platform.release()}",
            f"Compiler: {compiler.splitlines()[0]}", f"Python: {platform.python_version()}",
            *(f"{peer.title}: {peer.version()}" for peer in PEERS)]


def report(plain: rows.Results, of_patterns: dict[str, patterns.Found], of_orders: orders.Found,
           of_decisions: decisions.Found, of_changes: list[str], words: argparse.Namespace) -> str:
    command = " ".join(["python benchmarks/run.py", *sys.argv[1:]])
    lines = ["# Results", "", f"`{command}` on {datetime.date.today()}; {words.repeats} repeats in turns, medians.",
             "How it is measured: [README.md](README.md). One run of everything: `make bench`.", ""]
    if words.scale != 1:
        lines += [f"**A quick run: {words.scale:g} of the records.** Start-up weighs more than in a full one.", ""]
    lines += [*(f"- {line}" for line in machine()), ""]
    if plain:
        lines += [*rows.table(plain, words.scale), "", *rows.ratios(plain), "", *rows.described(plain, words.scale), ""]
    if of_patterns:
        lines += [*patterns.report(of_patterns, words.scale), ""]
    if of_orders:
        lines += [*orders.report(of_orders), ""]
    if of_decisions:
        lines += [*decisions.report(of_decisions), ""]
    lines += of_changes
    return "\n".join(lines)


def read_words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(GROUPS), help="some of them (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=7, help="of each program (default: 7)")
    parser.add_argument("--tables", default=",".join(table.name for table in patterns.TABLES),
                        help="of patterns some of them (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of records (default: 1)")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md", help="where the table goes")
    words = parser.parse_args()
    unknown = set(words.rows.split(",")) - {*GROUPS, TRACES}
    if unknown:
        parser.error(f"no such rows: {', '.join(sorted(unknown))}; there are {', '.join((*GROUPS, TRACES))}")
    strange = set(words.tables.split(",")) - {table.name for table in patterns.TABLES}
    if strange:
        parser.error(f"no such tables: {', '.join(sorted(strange))}")
    return words


def trace_table(words: argparse.Namespace) -> list[str]:
    count = round(spark_traces.COUNT * words.scale)
    return [*spark_traces.report(count, *spark_traces.run(count, min(words.repeats, 3), "2g")), ""]


def main() -> None:
    words = read_words()
    wanted = words.rows.split(",")
    build_launcher()
    plain = rows.run_rows([row for row in rows.ROWS if row.group in wanted], words.repeats, words.scale)
    tables = words.tables.split(",") if PATTERNS in wanted else []
    of_patterns = patterns.run_tables(tables, words.repeats, words.scale)
    of_orders = orders.run_orders(words.repeats) if ORDER in wanted else {}
    of_decisions = decisions.run_cases(words.repeats) if DECISIONS in wanted else {}
    if SASO in wanted:
        saso.write_page(max(2, round(saso.SEEDS * words.scale)), saso.DATA,
                        saso.OUTPUT if words.scale == 1 else words.output.with_name("SASO.md"))
    of_traces = trace_table(words) if TRACES in wanted else []
    if wanted == [SASO]:
        return
    of_changes = [*migration.report(migration.run_protocols(words.repeats)), ""] if MIGRATION in wanted else []
    of_changes += [*elasticity.report(elasticity.measure_costs(words.scale)), ""] if ELASTICITY in wanted else []
    text = report(plain, of_patterns, of_orders, of_decisions, of_changes + of_traces, words)
    words.output.write_text(text)
    print(f"{words.output}\n{text}")


if __name__ == "__main__":
    main()
