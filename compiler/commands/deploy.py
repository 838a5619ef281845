"""`dfc deploy`: which alternates on which machines of the program's `cloud`, found by several algorithms."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from contextlib import contextmanager
from pathlib import Path

from dfc.compiler.failure import GOOD, INTERRUPTED, Failure, Missing, Usage

from .checked import checked_graph


def run(args: Namespace) -> int:
    problem, names = _problem(args), _asked(args)
    from dfc.compiler.deploy.exact import NotInstalled
    from dfc.compiler.deploy.search import Search
    from dfc.compiler.deploy.text import table

    search = Search(problem, range(args.seed, args.seed + args.restarts), args.seconds, told=_told)
    search.found.update(_known(problem, names, args))
    search.kept = lambda: _write(problem, search, args)
    try:
        with _populations(args) as search.populations:
            search.run(names)
    except NotInstalled:
        raise Missing("the exact search needs OR-Tools: pip install 'dfc[search]'") from None
    except KeyboardInterrupt:
        return _interrupted(problem, search, args)
    finally:
        _told("")
    found = [search.found[name] for name in names]
    sys.stdout.write(_text(problem, found) if args.json else table(problem, found))
    return GOOD


def _problem(args: Namespace):
    graph = checked_graph(args)
    from dfc.compiler.deploy.program import dataflow_of, goals_of, machines_of
    from dfc.compiler.deploy.search import Problem
    from dfc.compiler.select.asked import Asked, request_of

    profile = request_of(graph.program, Asked(profile=args.profile)).profile
    machines = machines_of(graph.program)
    dataflow = dataflow_of(graph, profile, dict(args.rates))
    return Problem(dataflow, machines, goals_of(graph, dataflow, machines, args.hours, args.break_even))


def _asked(args: Namespace) -> list[str]:
    from dfc.compiler.deploy.search import ALGORITHMS

    names = list(dict.fromkeys(args.algorithms.split(",")))
    for name in names:
        if name not in ALGORITHMS:
            raise Usage(f"`{name}` is not an algorithm; there are {', '.join(ALGORITHMS)}")
    if args.resume and not args.output:
        raise Usage("--resume goes on from a file: name it with -o")
    return names


def _known(problem, names: list[str], args: Namespace) -> dict:
    """What an earlier search has found, with --resume."""
    if not args.resume or not Path(args.output).exists():
        return {}
    from dfc.compiler.deploy.text import from_data

    try:
        found = from_data(problem, json.loads(Path(args.output).read_text(encoding="utf-8")))
    except OSError as error:
        raise Failure(f"can't read {args.output}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, IndexError):
        raise Usage(f"{args.output} is not of this program with these rates, machines and goals: without --resume the "
                    "search begins anew") from None
    return {one.algorithm: one for one in found if one.algorithm in names}


@contextmanager
def _populations(args: Namespace):
    """Where the genetic searches run: here, or with --master on Spark."""
    if args.master is None:
        yield None
        return
    from dfc.compiler.spark.local_cluster import own_processes
    from dfc.compiler.spark.populations import on_spark
    from dfc.compiler.spark.session import spark_session

    with own_processes(args.master) as memory, spark_session(args.master, memory) as spark:
        yield on_spark(spark)


def _told(words: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{words}")
        sys.stderr.flush()


def _interrupted(problem, search, args: Namespace) -> int:
    from dfc.compiler.deploy.text import table

    if search.found:
        _write(problem, search, args)
        sys.stdout.write(_text(problem, list(search.found.values())) if args.json
                         else table(problem, list(search.found.values())))
        sys.stderr.write(f"dfc: interrupted; {args.output} has what was found, and --resume goes on from it\n"
                         if args.output else "dfc: interrupted; this was found\n")
    return INTERRUPTED


def _text(problem, found: list) -> str:
    from dfc.compiler.deploy.text import as_data

    return json.dumps(as_data(problem, found), indent=2, ensure_ascii=False) + "\n"


def _write(problem, search, args: Namespace) -> None:
    if args.output:
        from dfc.compiler.build.write import write_file

        write_file(Path(args.output), _text(problem, list(search.found.values())).encode())
