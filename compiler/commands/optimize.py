"""`dfc optimize`: searches for the plan and the controller that do best under the recorded load, on Spark or not."""

from __future__ import annotations

import hashlib
import json
import logging
import signal
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from dfc.compiler.failure import GOOD, INTERRUPTED, Missing, Usage

from .asked import asked
from .program_text import read_program
from .report import report

HERE = "none"  # instead of a master


def run(args: Namespace) -> int:
    text, file = read_program(args)
    from dfc.compiler import pipeline
    from dfc.dsl.diagnostics import Diagnostics

    diagnostics = Diagnostics()
    graph = pipeline.flow(pipeline.check(text, file, dict(args.defines), diagnostics))
    report(diagnostics, args)
    try:
        from dfc.compiler.optimize.outcome import conclude
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "cffi"):
            raise
        raise Missing(f"dfc optimize needs {error.name}: install it with `pip install 'dfc[simulate]'`") from None
    ready = prepared(graph, args)
    target = Path(args.output or f"{graph.program.name}.plan.json")
    runs = _runs(ready, target, args)
    interrupted = _searched(ready, runs, args)
    found = conclude(graph.program.name, ready.space.scene, runs, ready.standing, ready.resource,
                     args.budget if interrupted else len(runs), ready.assumed)
    if found is None:
        print(f"dfc: interrupted before anything could be compared; --resume goes on from {len(runs)} runs",
              file=sys.stderr)
        return INTERRUPTED
    _deliver(found, args, target)
    runs.close(finished=not interrupted)
    if interrupted:
        print("dfc: interrupted; what was found until then is written, and --resume goes on", file=sys.stderr)
    return INTERRUPTED if interrupted else GOOD


# --- what is searched -------------------------------------------------------------------------------


def prepared(graph, args: Namespace):
    """Space, standing plan, points to try in any case, and what was assumed."""
    from dfc.compiler.codegen.control import control_configuration
    from dfc.compiler.optimize.judge import resource_of
    from dfc.compiler.optimize.recorded import recorded_rates
    from dfc.compiler.optimize.scene import make_scene, standing_plan
    from dfc.compiler.optimize.space import make_space
    from dfc.compiler.select.asked import request_of
    from dfc.compiler.select.choose import choose
    from dfc.compiler.select.learned import choose_learned
    from dfc.compiler.simulate.control_library import open_controls
    from dfc.compiler.simulate.scenario import SERVICE_CV, Workload

    request = replace(request_of(graph.program, asked(args)), elastic=False)  # limits of degrees are searched, too
    rates, said = recorded_rates(request.profile, int(args.seconds))
    choice, alternates = choose_learned(graph, request)
    plan = choose(graph, choice, request.profile, begun=alternates)
    configuration = json.loads(control_configuration(graph, plan))
    service_cv = SERVICE_CV if args.service_cv is None else args.service_cv
    workload = Workload("", None, dict(args.service), service_cv, args.overhead or 0.0)
    scene, assumed = make_scene(graph, request, rates, workload, configuration)
    standing = standing_plan(scene, plan, configuration)
    controls = open_controls()
    space = make_space(scene, standing, _policies(args.policy, scene, controls))
    standards = {policy: {one.name: one.standard for one in controls.policy(policy).parameters}
                 for policy in space.policies}
    points = space.standards(lambda policy, name: standards[policy][name])
    return Namespace(space=space, standing=standing, known_points=points, assumed=[*said, *assumed],
                     resource=resource_of(configuration["minimize"]), seconds=len(rates))


def _policies(words: str | None, scene, controls) -> tuple[str, ...]:
    from dfc.compiler.optimize.space import PARAMETERS, POLICIES

    if words is None:
        several = any(len(one["alternates"]) > 1 for one in scene["operators"])
        return tuple(name for name in POLICIES if name != "alternates" or several)
    named = tuple(dict.fromkeys(name for name in words.split(",") if name))
    unknown = next((name for name in named if name not in PARAMETERS), None)
    if unknown is not None or not named:
        raise Usage(f"--policy {unknown or words}: there is {', '.join(PARAMETERS)}")
    return named


def _digest(space, args: Namespace) -> str:
    """Of everything that the questions of a search depend on."""
    told = [space.scene["digest"], space.standing, space.policies, args.budget, args.seeds, args.seed]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def _runs(ready, target: Path, args: Namespace):
    """With the journal opened, before Spark is started."""
    from dfc.compiler.optimize.runs import Runs

    runs = Runs(target.with_suffix(".search.jsonl"), _digest(ready.space, args),
                _teller(ready.space.scene, ready.standing, ready.resource, args.budget))
    runs.go_on() if args.resume else runs.begin()
    return runs


def _searched(ready, runs, args: Namespace) -> bool:
    """Whether it was interrupted. Tidying up goes wrong, too, once the connection to Spark is cut."""
    from dfc.compiler.optimize.search import Budget, search

    budget, interrupted = Budget(args.budget, args.seeds, args.seed), False
    try:
        with _players(args.master, ready.space.scene) as (play, batch):
            runs.play_by(play, batch)
            try:
                search(ready.space, runs, budget, ready.known_points, ready.resource, ready.seconds)
            except BaseException as error:
                interrupted = _was_interrupted(error)
                raise
    except BaseException:
        if not interrupted:
            raise
    return interrupted


# --- where it is played -----------------------------------------------------------------------------


@contextmanager
def _players(master: str | None, scene) -> Iterator[tuple]:
    """What plays runs, and how many it is best given at a time."""
    if master != HERE:
        from dfc.compiler.spark.session import require_spark

        try:
            require_spark()
        except Missing as missing:
            if master is not None:
                raise
            print(f"dfc: without Spark ({missing}); playing on this machine, with the same result", file=sys.stderr)
        else:
            with _on_spark(master, scene) as executors:
                yield executors.play, 8 * executors.parallel
            return
    from dfc.compiler.optimize.workers import Workers

    with Workers(scene) as workers:
        yield workers.play, 8 * workers.processes


@contextmanager
def _on_spark(master: str | None, scene) -> Iterator:
    from dfc.compiler.spark.local_cluster import own_processes
    from dfc.compiler.spark.optimize import Executors
    from dfc.compiler.spark.session import STANDARD_MASTER, spark_session

    logging.disable(logging.CRITICAL)  # what py4j has to say about an interruption
    try:
        with own_processes(master or STANDARD_MASTER) as memory, \
                spark_session(master or STANDARD_MASTER, memory) as spark, Executors(spark, scene) as executors:
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                yield executors
            finally:
                signal.signal(signal.SIGINT, before)
    finally:
        logging.disable(logging.NOTSET)


def _was_interrupted(error: BaseException | None) -> bool:
    """Also where a library turned Ctrl-C into an error of its own."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _was_interrupted(error.__context__))


# --- what is said -----------------------------------------------------------------------------------


def _teller(scene, standing, resource: str, budget: int):
    """A line after every batch: on a terminal in place of the one before."""
    from dfc.compiler.optimize.outcome import conclude, control_text

    def tell(runs) -> None:
        found = conclude("", scene, runs, standing, resource, budget, ())
        best = ""
        if found is not None:
            figures = found.figures[found.best]
            best = f"; best so far: {figures['violations']:.1f} s missed, {figures['cores']:.2f} cores " \
                   f"({control_text(found.candidates[found.best])})"
        line = f"dfc: {len(runs)} of about {budget} runs{best}"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{line[:150]}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    return tell


def _deliver(found, args: Namespace, target: Path) -> None:
    from dfc.compiler.artifacts.plan_file import to_json
    from dfc.compiler.build.write import write_file
    from dfc.compiler.optimize.outcome import plan_file, summary
    from dfc.compiler.optimize.page import front_picture, page
    from dfc.compiler.report.chart import PICTURE
    from dfc.compiler.simulate.control_library import open_controls
    from dfc.compiler.simulate.task import play_whole

    before, after = (play_whole(found.scene, found.candidates[key], 1, open_controls())
                     for key in (found.standing, found.best))
    shown = Path(args.page) if args.page else target.with_suffix(".html")
    profile = hashlib.sha256(Path(args.profile).read_bytes()).hexdigest()[:16]
    files = {target: to_json(plan_file(found, {"profile": profile, "seed": args.seed, "complete": found.complete})),
             shown: page(found, before, after)}
    if args.picture:
        files[Path(args.picture)] = front_picture(found, PICTURE)
    for path, text in files.items():
        write_file(path, text.encode())
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    sys.stdout.write("".join(f"{line}\n" for line in [*summary(found), "", *map(str, files)]))
