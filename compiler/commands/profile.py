"""`dfc profile`: what the traces of a program say about its load, as a small file and as a page of plots."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from dfc.compiler.failure import GOOD, Failure, Usage

from .checked import checked_graph


def run(args: Namespace) -> int:
    from dfc.compiler.spark.local_cluster import own_processes
    from dfc.compiler.spark.session import require_spark, spark_session

    require_spark()
    from dfc.compiler.artifacts.profile import to_json
    from dfc.compiler.spark.page import page
    from dfc.compiler.spark.profile import profile

    graph = checked_graph(args)
    costs = _costs(args.costs, graph.program.name) if args.costs else None
    with own_processes(args.master, args.memory) as memory, spark_session(args.master, memory) as spark:
        found = profile(spark, graph, Path(args.traces), costs)
    target = Path(args.output or f"{graph.program.name}.profile.json")
    shown = Path(args.page) if args.page else target.with_suffix(".html")
    _write(target, to_json(found))
    _write(shown, page(found))
    if args.picture:
        _write(Path(args.picture), _picture(found))
    sys.stdout.write("".join(f"{line}\n" for line in [*_summary(found), str(target), str(shown)]))
    return GOOD


def _picture(found) -> str:
    from dfc.compiler.report.chart import PICTURE
    from dfc.compiler.spark.page import rate_sheet

    for name, seen in found.seen.items():
        if seen.get("arrivals"):
            return rate_sheet(name, seen, PICTURE)
    raise Usage("there is nothing to draw: no source has event times")


def _costs(path: str, app: str):
    from dfc.compiler.artifacts.profile import ProfileError, from_json

    try:
        return from_json(Path(path).read_text(encoding="utf-8"), app)
    except OSError as error:
        raise Usage(f"can't read `{path}`: {error.strerror}") from None
    except (ProfileError, UnicodeDecodeError) as error:
        raise Usage(f"the profile `{path}` can't be used: {error}") from None


def _summary(found) -> list[str]:
    """A line a source, and a line for each step with keys."""
    from dfc.compiler.report.units import count_text, rate_text, time_text

    lines = []
    for name, one in found.seen.items():
        arrivals, disorder = one.get("arrivals") or {}, one.get("disorder") or {}
        words = [f"{one['rows']:,} tuples", rate_text(one.get("rate"))]
        words += [f"{title} {count_text(arrivals[part]['value'])}" for part, title in
                  (("dispersion", "index of dispersion"), ("hurst", "Hurst exponent")) if arrivals.get(part)]
        words += [f"K {time_text(disorder['k'])}"] if disorder else []
        lines.append(f"{name}: {', '.join(words)}")
    lines += [f"{name}: {one.keys.count:,} keys, the heaviest {one.keys.p_max:.2%}"
              for name, one in found.operators.items() if one.keys]
    return lines


def _write(target: Path, text: str) -> None:
    from dfc.compiler.build.write import write_file

    try:
        write_file(target, text.encode())
    except OSError as error:
        raise Failure(f"can't write `{target}`: {error.strerror}") from None
