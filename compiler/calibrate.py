"""`dfc calibrate`: a program's real costs on this machine, as a profile.

The program is built twice and run fused on its own inputs: with every call between steps timed (of one tuple in 64 and
every second watermark, chosen by chance), and as it is. The timed run tells how the time is divided between steps,
tuples and results; the plain run tells the whole, from which the sources' part follows. Operators with windows are then
measured in the parts that patterns give them: in panes (putting tuples away, G, and H) where they are composed from
panes, and with windows computed whole by another thread; and with workers that all get all tuples. Sinks write to a
folder that is thrown away. What threads cost (links, parsing ahead, and work on data that others have written) is
measured by a third run of each, a thread a stage on all cores, and what they gain and lose where they share cores also
by a fourth one, with a worker a core, and by both once more without clocks (calibrate_threads.py). What else the cores
do, and where threads land, differs from run to run: the kinds of runs take turns, and of each kind the middle one
counts. What is too short to be measured is left out, with a warning.
"""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

import dfc
from dfc.compiler.failure import Failure
from dfc.dsl import typed
from dfc.dsl.diagnostics import Diagnostics

from . import pipeline
from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .artifacts.parts import Merge, Part, Windows, divided
from .artifacts.plan import Plan, patterns_of
from .artifacts.profile import Keys, OperatorProfile, Profile, StepCosts, share_of
from .artifacts.step_text import pattern_text
from .calibrate_input import Measured, is_too_short, longer_words, require_input, unknown
from .calibrate_threads import (
    Stages,
    lost,
    machine_costs,
    most_within_reader,
    of_sources,
    on_own_cores,
    parsing,
    scaled,
    scatter,
    sending,
    stages_of,
    usual,
    with_crossings,
    with_fetching,
    within_reader,
)
from .patterns import pane_farming, window_farming
from .patterns.crowding import COPIES, PANES, TUPLES, TURNS, WINDOWS
from .patterns.function import function_of
from .patterns.load import with_workers

# Sources that are not parsed ahead take at least this part of the whole, or this if less.
_LEAST_READING, _LEAST_READING_NS = 0.05, 10.0
_RUNS = 3  # of each kind
_PATIENCE = 20.0  # seconds that a program has to end after SIGTERM


def calibrate(graph: Graph, inputs: Sequence[str], words: Sequence[str], seconds: float, diagnostics: Diagnostics,
              tell: Callable[[str], None] = lambda line: None) -> Profile:
    """`inputs` are the files that the program was read from, `words` go to the program, which is stopped after
    `seconds`. Costs that can't be told from chance are left out, with a warning. `tell` hears what is measured now."""
    from .select.choose import choose

    with tempfile.TemporaryDirectory(prefix="dfc-calibrate-") as folder:
        run = Run(graph, tuple(inputs), tuple(words), seconds, Path(folder), tell)
        undivided = choose(graph)
        whole, parts = _measure(run, undivided), divided(graph, {})
        require_input(graph, whole)
        longer = longer_words(graph, run.words, whole)
        if longer is not None:
            run = replace(run, words=longer)
            whole = _measure(run, undivided)
        if is_too_short(graph, whole, diagnostics):
            return _without_costs(graph, parts, whole)
        own, machine = _costs(parts, whole), machine_costs(graph)
        if whole.staged is not None:
            machine = within_reader(machine, stages_of(undivided, own, whole.staged))
            most = most_within_reader(machine, stages_of(undivided, own, whole.staged))
            own = _costs(parts, whole, undivided.segments[0].steps, most)
            own = with_fetching(own, machine, stages_of(undivided, own, whole.staged))
            alone = machine["emit_ns"]
            machine = with_crossings(machine, stages_of(undivided, own, whole.staged), whole.noise)
            machine |= sending(alone, stages_of(undivided, own, whole.crowded))
        costs, crowded = _of_operators(graph, own), {TUPLES: whole.lost}
        for what, way in ((PANES, _in_panes), (WINDOWS, _in_windows)):
            measured, crowded[what] = way(run, costs, machine)
            costs |= measured
        ring = _in_parts(run, pane_farming, {"merge": "ring"}, costs, machine)
        crowded[TURNS] = ring.lost if ring is not None else {}
        to_all = _in_parts(run, window_farming, {"style": "active"}, costs, machine)
        if to_all is not None:
            crowded[COPIES] = to_all.lost
            machine = sending(alone, to_all.crowded) | machine
    for name in unknown(graph, parts, whole, diagnostics):
        del costs[name]
    operators = {step.name: _profile(parts, step, costs.get(step.name), whole) for step in graph.steps}
    return Profile(graph.program.name, "calibration", machine | {"clock_ns": whole.inside}, _rates(graph), operators,
                   crowded={what: by_workers for what, by_workers in crowded.items() if by_workers})


@dataclass(frozen=True, slots=True)
class Run:
    """What is run: the program, its words, for how long, and who hears of it."""

    graph: Graph
    inputs: tuple[str, ...]
    words: tuple[str, ...]
    seconds: float
    folder: Path
    tell: Callable[[str], None]


def _plan(graph: Graph, patterns: Mapping[str, typed.Pattern]) -> Plan:
    from .select.choose import choose
    from .select.search import Request, choose_patterns

    return choose(graph, choose_patterns(graph, Request(forced=patterns)))


def _measure(run: Run, plan: Plan) -> Measured:
    from .build.program import compile_program
    from .codegen.program import generate_files

    graph, folder, seconds = run.graph, run.folder, run.seconds

    def program(timed: bool) -> Path:
        files = generate_files(graph, plan, dfc.__version__, timed)
        return compile_program(Bundle(graph.program.name, files, pipeline.user_sources(graph), run.inputs), "native")

    title = f"{graph.program.name} {_title(plan)}"
    run.tell(f"{title}: building")
    timers, said = program(True), folder / "steps.json"
    plainly, always = program(False), [*_redirected(graph, folder), "--stats", *run.words]
    timed, plain, cores = [], [], len(os.sched_getaffinity(0))
    starting = _starting(plainly)
    degrees = sorted({1, cores}) if plan.edges else ()
    staged: dict[int, list[Mapping]] = {workers: [] for workers in degrees}
    untold: dict[int, list[Mapping]] = {workers: [] for workers in degrees}
    for turn in range(_RUNS):
        run.tell(f"{title}: turn {turn + 1} of {_RUNS}, {2 + 2 * len(degrees)} runs each")
        summary = _run(timers, ["--layout", "fused", *always], seconds, starting, {"DFC_CALIBRATE": str(said)})
        timed.append(summary | {"timers": json.loads(said.read_text())})
        plain.append(_run(plainly, ["--layout", "fused", *always], seconds, starting))
        for workers in degrees:
            in_stages = ["--layout", "staged", "--workers", str(workers), *always]
            staged[workers].append(_run(plainly, [*in_stages, "--thread-times"], seconds, starting))
            untold[workers].append(_run(plainly, in_stages, seconds, starting))
    data = usual(timed)["timers"]
    found = {workers: [lost(graph, plan, usual(plain), told, other, cores)
                       for told, other in zip(staged[workers], untold[workers], strict=True)] for workers in degrees}
    lost_by = {workers: statistics.median(each) for workers, each in found.items() if None not in each}
    return Measured(data["steps"], data["inside_ns"], data["outside_ns"], usual(timed), usual(plain),
                    usual(staged.get(1, ())), usual(staged.get(cores, ())),
                    scatter(plain) + scatter(staged.get(1, ())), lost_by, starting)


def _title(plan: Plan) -> str:
    """What the program is measured with."""
    divided_by = {pattern_text(pattern) for pattern in patterns_of(plan.decisions, plan.layout).values()}
    return f"with {', '.join(sorted(divided_by))}" if divided_by else "as it is"


def _redirected(graph: Graph, folder: Path) -> list[str]:
    """Sinks that write files write elsewhere, in the same format; those that send somewhere send nothing."""
    words = []
    for step in graph.steps:
        if isinstance(step.body, typed.Sink):
            kind = step.body.connector.kind
            to = f"{kind}:{folder / step.name}" if kind in ("csv", "jsonl", "binary") else "discard:"
            words += ["--sink", f"{step.name}={to}"]
    return words


def _starting(program: Path) -> float:
    """Seconds of CPU time until the program has begun: the system loads it, and it ends at once."""
    taken = []
    for _ in range(_RUNS):
        before = _children()
        subprocess.run([str(program), "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        taken.append(_children() - before)
    return statistics.median(taken)


def _run(program: Path, words: Sequence[str], seconds: float, starting: float,
         environment: Mapping[str, str] | None = None) -> Mapping:
    """The summary that the program prints, with the CPU time that it took since it had started: others may use the
    machine too. It is asked to end when its time is over."""
    before = _children()
    process = subprocess.Popen([str(program), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **(environment or {})}, text=True, errors="replace")
    try:
        try:
            _, said = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failure("the program did not end when it was asked to; nothing was measured") from None
    lines = said.strip().splitlines()
    if process.returncode != 0 or not lines or not lines[-1].startswith("{"):
        raise Failure(f"the program could not be run for calibration: {lines[-1] if lines else 'it said nothing'}")
    return json.loads(lines[-1]) | {"cpu_seconds": max(0.0, _children() - before - starting)}


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- from measurements to a profile -----------------------------------------------------------------


def _costs(graph: Graph, measured: Measured, reader: Collection[str] = (),
           at_most: float = math.inf) -> dict[str, StepCosts]:
    """The timed run divides the time, the plain run has the whole. `reader`: the steps of the thread that reads in a
    run with a thread a stage, `at_most`: what they took there beside parsing. When their time was over the two runs had
    come to different places, so that the parts are counted as in the run that tells the whole."""
    counts = {one["name"]: one for one in measured.plain["steps"]}
    costs = {step.name: _step_costs(graph, step, measured) for step in graph.steps if step.inputs}
    sources = [step.name for step in graph.steps if not step.inputs]
    read = max(1, sum(counts[name]["in"] for name in sources))
    shares, parsed = {name: counts[name]["in"] / read for name in sources}, parsing(measured.staged)
    parts = {name: ((cost.tuple or 0.0) * counts[name]["in"] + (cost.window or 0.0) * counts[name]["out"]) / read
             for name, cost in costs.items()}
    ahead = sum(parsed.get(name, 0.0) * share for name, share in shares.items())
    reading, scales = _fitted(measured.plain["cpu_seconds"] * 1e9 / read, ahead, parts, reader, at_most)
    return {name: scaled(cost, scales[name]) for name, cost in costs.items()} | of_sources(reading, parsed, shares)


def _fitted(whole: float, ahead: float, parts: Mapping[str, float], reader: Collection[str],
            at_most: float) -> tuple[float, dict[str, float]]:
    """What sources take of the whole, of which `ahead` is parsing, and what each of the timed parts is to be scaled by.
    Parts may be more than the whole, since timers keep calls apart that are otherwise one: then all shrink alike, so
    that sources have at least what parsing alone took. What the steps of the reader have beyond `at_most` is shared by
    the others, as they share their part."""
    timed, within = sum(parts.values()), sum(parts[name] for name in parts if name in reader)
    least = min(whole, max(ahead, min(_LEAST_READING * whole, _LEAST_READING_NS)))
    reading = max(least, whole - timed)
    scale = (whole - reading) / timed if timed else 1.0
    taken, most = reading + scale * within, max(least, ahead + at_most)
    if timed <= within or taken <= most:
        return reading, dict.fromkeys(parts, scale)
    fits, others = (most - ahead) / (taken - ahead), (whole - most) / (timed - within)
    return ahead + fits * (reading - ahead), {name: fits * scale if name in reader else others for name in parts}


def _of_operators(graph: Graph, own: Mapping[str, StepCosts]) -> dict[str, StepCosts]:
    """An operator whose function takes panes was measured in parts: a window whole is taken to cost as much as its
    panes and their merge."""
    found = {step.name: own[step.name] for step in graph.steps}
    for step in (step for step in graph.steps if f"{step.name}.work" in own):
        window, pane = step.body.window, own[f"{step.name}.work"].tuple or 0.0
        rest = window.size % window.slide
        panes = window.size // window.slide * (2 if rest else 1) + bool(rest)
        found[step.name] = replace(own[f"{step.name}.windows"], window=panes * pane + (own[step.name].window or 0.0))
    return found


def _in_panes(run: Run, costs: Mapping[str, StepCosts],
              machine: Mapping[str, float]) -> tuple[dict[str, StepCosts], Mapping[int, float]]:
    """What a tuple, a pane and a merge cost in an operator in panes, and what panes that are handed over lose. H takes
    a slide's panes and gives a result."""
    parts = _in_parts(run, pane_farming, {"merge": "collector"}, costs, machine)
    if parts is None:
        return {}, {}
    found, own, counts = {}, parts.own, parts.counts
    for name in parts.names:
        panes = counts[name]["in"] / counts[name]["out"] if counts[name]["out"] else 1.0
        merge = (own[name].window or 0.0) + panes * (own[name].tuple or 0.0)
        found[name] = replace(costs[name], keep=_keeping(own, counts, name), pane=own[f"{name}.work"].tuple,
                              merge=merge)
    return found, parts.lost


def _in_windows(run: Run, costs: Mapping[str, StepCosts],
                machine: Mapping[str, float]) -> tuple[dict[str, StepCosts], Mapping[int, float]]:
    """What a tuple and a window cost where one thread keeps the tuples of whole windows, and another one computes; and
    what windows that are handed over lose."""
    parts = _in_parts(run, window_farming, {"batch": 1, "style": "agnostic"}, costs, machine)
    if parts is None:
        return {}, {}
    return {name: replace(costs[name], keep_whole=_keeping(parts.own, parts.counts, name), whole=parts.own[name].tuple)
            for name in parts.names}, parts.lost


def _keeping(own: Mapping[str, StepCosts], counts: Mapping[str, Mapping], name: str) -> float:
    """Of a tuple, with its part of handing out what is complete."""
    keeps, count = own[f"{name}.windows"], counts[f"{name}.windows"]
    return (keeps.tuple or 0.0) + (keeps.window or 0.0) * count["out"] / max(1, count["in"])


@dataclass(frozen=True, slots=True)
class _InParts:
    """Operators divided as a pattern divides them: their names, what each part costs on a core of its own, what each
    took in and gave, what is lost by the number of workers, and the threads of a run with a worker a core."""

    names: Sequence[str]
    own: Mapping[str, StepCosts]
    counts: Mapping[str, Mapping]
    lost: Mapping[int, float]
    crowded: Stages


def _in_parts(run: Run, pattern: ModuleType, settings: Mapping, costs: Mapping[str, StepCosts],
              machine: Mapping[str, float]) -> _InParts | None:
    """All operators that a pattern applies to; None if there is none. They are built for a worker a core, since that
    decides whose work arguments of aggregates are."""
    patterns = {step.name: with_workers(pattern.NAME, len(os.sched_getaffinity(0)), schedule="round_robin", **settings)
                for step in run.graph.steps if isinstance(step.body, typed.Operator)
                and pattern.applies(function_of(run.graph.program, step)) is None}
    if not patterns:
        return None
    plan = _plan(run.graph, patterns)
    parts, measured = divided(run.graph, patterns_of(plan.decisions, plan.layout)), _measure(run, plan)
    # What is no part costs as much as elsewhere: the models put the costs of all of them together.
    own = {name: costs.get(name, cost) if not isinstance(parts.step(name).body, Part) else cost
           for name, cost in _costs(parts, measured).items()}
    counts = {one["name"]: one for one in measured.timed["steps"]}
    return _InParts(list(patterns), on_own_cores(parts, stages_of(plan, own, measured.staged), machine), counts,
                    measured.lost, stages_of(plan, own, measured.crowded))


def _step_costs(graph: Graph, step: typed.Step, measured: Measured) -> StepCosts:
    """Calls without results tell what a tuple costs; those with results cost more, and that is the results' part."""
    data = measured.steps[graph.steps.index(step)]
    push, full = _own(data["push"], measured), _own(data["push_with_results"], measured)
    marks, released = _own(data["watermark"], measured), _own(data["watermark_with_results"], measured)
    windowed = (isinstance(step.body, Windows | Merge)
                or isinstance(step.body, typed.Operator) and step.body.window is not None)
    if not windowed:
        calls = data["push"]["calls"] + data["push_with_results"]["calls"]
        return StepCosts(tuple=(push + full + marks + released) / calls if calls else None)
    readers = max(1, sum(list(one.inputs).count(step.name) for one in graph.steps))
    results = (data["push_with_results"]["results"] + data["watermark_with_results"]["results"]) / readers
    a_tuple = push / data["push"]["calls"] if data["push"]["calls"] else 0.0
    beyond = max(0.0, full - a_tuple * data["push_with_results"]["calls"]) + released + marks
    return StepCosts(tuple=a_tuple, window=beyond / results if results else None)


def _own(part: Mapping, measured: Measured) -> float:
    """Nanoseconds without those of the timers: its own, and of the calls that it made those that it sees."""
    made = part["results"] + part["watermarks"]
    return max(0.0, part["ns"] - part["calls"] * measured.inside - made * measured.outside)


def _profile(parts: Graph, step: typed.Step, costs: StepCosts | None, measured: Measured) -> OperatorProfile:
    """Tuples come in at the first part of an operator, and out at the last. No costs: they are not known."""
    alternate, counts = step.name, {one["name"]: one for one in measured.timed["steps"]}
    first = f"{step.name}.windows" if f"{step.name}.windows" in counts else step.name
    given, out = counts[first]["in"], counts[step.name]["out"]
    if isinstance(step.body, typed.Operator):
        alternate = max(step.body.alternates, key=lambda one: one.value).name
    selectivity = out / given if given and step.inputs else None
    keys = measured_keys(measured.steps[parts.steps.index(parts.step(first))])
    return OperatorProfile({} if costs is None else {alternate: costs}, selectivity, keys)


def _without_costs(graph: Graph, parts: Graph, measured: Measured) -> Profile:
    """What was counted, and what links cost, which the input does not tell."""
    operators = {step.name: _profile(parts, step, None, measured) for step in graph.steps}
    return Profile(graph.program.name, "calibration", machine_costs(graph) | {"clock_ns": measured.inside},
                   _rates(graph), operators)


def measured_keys(data: Mapping) -> Keys | None:
    if not data["keys"]:
        return None
    shares = tuple(share_of(count, data["key_tuples"]) for count in data["top"])
    return Keys(data["keys"], shares[0], shares)


def _rates(graph: Graph) -> dict[str, float]:
    """Only a paced generator says how fast its tuples come; a file does not."""
    found = {}
    for step in graph.steps:
        settings = dict(step.body.connector.settings) if isinstance(step.body, typed.Source) else {}
        if settings.get("paced") and settings.get("rate"):
            found[step.name] = float(settings["rate"])
    return found
