"""`dfc deploy`: which alternates on which machines of the program's `cloud`, found by several algorithms."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace

from dfc.compiler.failure import GOOD, Missing, Usage

from .checked import checked_graph

ALGORITHMS = ("sh", "ce", "ga", "exact")


def run(args: Namespace) -> int:
    graph = checked_graph(args)
    from dfc.compiler.deploy.program import dataflow_of, goals_of, machines_of
    from dfc.compiler.deploy.text import as_data, table
    from dfc.compiler.select.asked import Asked, request_of

    profile = request_of(graph.program, Asked(profile=args.profile)).profile
    machines = machines_of(graph.program)
    dataflow = dataflow_of(graph, profile, dict(args.rates))
    goals = goals_of(graph, dataflow, machines, args.hours, args.break_even)
    found = [(name, *_timed(name, dataflow, machines, goals, args)) for name in _asked(args.algorithms)]
    if args.json or args.output:
        text = json.dumps(as_data(dataflow, goals, found), indent=2, ensure_ascii=False) + "\n"
        _write(text, args.output)
    if not args.json:
        sys.stdout.write(table(dataflow, goals, found))
    return GOOD


def _asked(words: str) -> list[str]:
    names = words.split(",")
    for name in names:
        if name not in ALGORITHMS:
            raise Usage(f"`{name}` is not an algorithm; there are {', '.join(ALGORITHMS)}")
    return names


def _timed(name: str, dataflow, machines, goals, args: Namespace) -> tuple:
    """The deployment, the seconds it took, and whether the search was cut short."""
    start = time.monotonic()
    deployment, cut = _search(name, dataflow, machines, goals, args)
    return deployment, time.monotonic() - start, cut


def _search(name: str, dataflow, machines, goals, args: Namespace) -> tuple:
    from dfc.compiler.deploy.greedy import centralised, sharded

    if name in ("sh", "ce"):
        return (sharded if name == "sh" else centralised)(dataflow, machines, goals), False
    if name == "ga":
        from dfc.compiler.deploy.genetic import restarted

        return restarted(dataflow, machines, goals, range(args.seed, args.seed + args.restarts), _told), False
    from dfc.compiler.deploy.exact import NotInstalled, Unfinished, exact

    try:
        return exact(dataflow, machines, goals, args.seconds, _progress("exact")), False
    except Unfinished as unfinished:
        return unfinished.best, True
    except NotInstalled:
        raise Missing("the exact search needs OR-Tools: pip install 'dfc[search]'") from None


def _told(function, seeds: list[int]):
    progress = _progress("ga")
    for done, seed in enumerate(seeds):
        progress(done, len(seeds))
        yield function(seed)
    progress(len(seeds), len(seeds))


def _progress(name: str):
    def told(done: int, of: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K" if done == of else f"\r{name}: {done} of {of} ")
            sys.stderr.flush()
    return told


def _write(text: str, path: str | None) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    from pathlib import Path

    from dfc.compiler.build.write import write_file

    write_file(Path(path), text.encode())
