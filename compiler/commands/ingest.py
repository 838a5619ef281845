"""`dfc ingest`: event files and logs of a program become typed, partitioned Parquet."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD

from .checked import checked_program


def run(args: Namespace) -> int:
    from dfc.compiler.spark.local_cluster import own_processes
    from dfc.compiler.spark.session import require_spark, spark_session

    require_spark()
    from dfc.compiler.spark.ingest import ingest

    program = checked_program(args)
    with own_processes(args.master, args.memory) as memory, spark_session(args.master, memory) as spark:
        # Absolute: who executes tasks may have been started in another folder.
        done = ingest(spark, program, args.files, Path(args.output).absolute(), args.sources,
                      Path(args.quarantine).absolute() if args.quarantine else None)
    for entry in done.entries:
        bad = f", {entry.rejected:,} rejected ({done.reasons.get(entry.path, '')})" if entry.rejected else ""
        sys.stdout.write(f"{entry.path}: {entry.rows:,} rows of {entry.kind}{bad}\n")
    known = f"; {done.known} files were known" if done.known else ""
    kept = f"; {done.rejected:,} rejected" if done.rejected else ""
    sys.stdout.write(f"{args.output}: {len(done.entries)} new files, {done.rows:,} rows{kept}{known}\n")
    return GOOD
