"""`dfc calibrate`: a program's real costs on this machine, as a profile.

The program is built twice and run fused on its own inputs: once with every call between steps timed (one event in 64,
chosen by chance), once as it is. The timed run tells how the time is divided between steps, tuples and results; the
plain run tells the whole, from which the sources' part follows. Operators that are composed from panes are then
measured once more, in the parts that pane farming has: putting tuples away, G, and H. Sinks write to a folder that is
thrown away. What passing elements between threads costs is measured with the runtime's own channels, from core to core,
and with the program itself: a thread a stage, all on one core, takes more CPU time than one thread does, by what
links, switching between threads and the loss of work by the block cost together.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import dfc
from dfc.compiler.failure import Failure
from dfc.dsl import typed

from . import pipeline
from .artifacts.bundle import Bundle
from .artifacts.graph import Graph
from .artifacts.parts import Merge, Windows, divided
from .artifacts.plan import Plan, patterns_of
from .artifacts.profile import Keys, OperatorProfile, Profile, StepCosts

_LEAST_READING, _LEAST_READING_NS = 0.05, 10.0  # sources take at least this part of the whole, or this if less
_PATIENCE = 20.0  # seconds that a program has to end after SIGTERM


@dataclass(frozen=True, slots=True)
class Measured:
    """What the runs said: the timed steps, the summary of the timed run, of the plain one, and of that in stages."""

    steps: Sequence[Mapping]
    inside: float
    outside: float
    timed: Mapping
    plain: Mapping
    staged: Mapping | None = None


def calibrate(graph: Graph, inputs: Sequence[str], words: Sequence[str], seconds: float) -> Profile:
    """`inputs` are the files that the program was read from, `words` go to the program, which is stopped after
    `seconds`."""
    from .select.choose import choose

    patterns = _paned(graph)
    with tempfile.TemporaryDirectory(prefix="dfc-calibrate-") as folder:
        run = Run(graph, tuple(inputs), tuple(words), seconds, Path(folder))
        undivided = choose(graph)
        whole = _measure(run, undivided, staged=bool(undivided.edges))
        parts = divided(graph, {})
        costs = _of_operators(graph, _costs(parts, whole))
        if patterns:
            plan = _plan(graph, patterns)
            in_parts = divided(graph, patterns_of(plan.decisions, plan.layout))
            costs |= _with_parts(costs, patterns, in_parts, _measure(run, plan))
    operators = {step.name: _profile(parts, step, costs[step.name], whole) for step in graph.steps}
    machine = _with_crossings(channel_costs(_largest_element(graph)), undivided, whole) | {"clock_ns": whole.inside}
    return Profile(graph.program.name, "calibration", machine, _rates(graph), operators)


@dataclass(frozen=True, slots=True)
class Run:
    """What is run: the program, its words, and for how long."""

    graph: Graph
    inputs: tuple[str, ...]
    words: tuple[str, ...]
    seconds: float
    folder: Path


def _paned(graph: Graph) -> dict[str, typed.Pattern]:
    """Pane farming for all operators that it applies to."""
    from .patterns.function import function_of
    from .patterns.load import with_workers
    from .patterns.pane_farming import NAME, applies

    return {step.name: with_workers(NAME, 1, merge="collector", schedule="round_robin") for step in graph.steps
            if isinstance(step.body, typed.Operator) and applies(function_of(graph.program, step)) is None}


def _plan(graph: Graph, patterns: Mapping[str, typed.Pattern]) -> Plan:
    from .select.choose import choose
    from .select.search import Request, choose_patterns

    return choose(graph, choose_patterns(graph, Request(forced=patterns)))


def _measure(run: Run, plan: Plan, staged: bool = False) -> Measured:
    from .build.program import compile_program
    from .codegen.program import generate_files

    graph, folder, seconds = run.graph, run.folder, run.seconds

    def program(timed: bool) -> Path:
        files = generate_files(graph, plan, dfc.__version__, timed)
        return compile_program(Bundle(graph.program.name, files, pipeline.user_sources(graph), run.inputs), "native")

    said = folder / "steps.json"
    always = [*_redirected(graph, folder), "--stats", *run.words]
    timed = _run(program(True), ["--layout", "fused", *always], seconds, {"DFC_CALIBRATE": str(said)})
    plain = _run(program(False), ["--layout", "fused", *always], seconds, {})
    stages = _run(program(False), ["--layout", "staged", "--workers", "1", *always], seconds, {}, together=True) \
        if staged else None
    data = json.loads(said.read_text())
    return Measured(data["steps"], data["inside_ns"], data["outside_ns"], timed, plain, stages)


def _redirected(graph: Graph, folder: Path) -> list[str]:
    """Sinks that write files write elsewhere, in the same format; those that send somewhere send nothing."""
    words = []
    for step in graph.steps:
        if isinstance(step.body, typed.Sink):
            kind = step.body.connector.kind
            to = f"{kind}:{folder / step.name}" if kind in ("csv", "jsonl", "binary") else "discard:"
            words += ["--sink", f"{step.name}={to}"]
    return words


def _run(program: Path, words: Sequence[str], seconds: float, environment: Mapping[str, str],
         together: bool = False) -> Mapping:
    """The summary that the program prints, with the CPU time that it took: others may use the machine too. It is asked
    to end when its time is over. `together`: all its threads share a core, so that none spins while another works."""
    before = _children()
    process = subprocess.Popen([str(program), *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, **environment}, text=True, errors="replace",
                               preexec_fn=_on_one_core if together else None)
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
    return json.loads(lines[-1]) | {"cpu_seconds": _children() - before}


def _on_one_core() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- from measurements to a profile -----------------------------------------------------------------


def _costs(graph: Graph, measured: Measured) -> dict[str, StepCosts]:
    """The timed run divides the time, the plain run has the whole: it may be less than the steps' parts together, since
    timers keep calls apart that are otherwise one. Then all parts shrink alike. When their time was over the two runs
    had come to different places, so that the parts are counted as in the run that tells the whole."""
    counts = {one["name"]: one for one in measured.plain["steps"]}
    costs = {step.name: _step_costs(graph, step, measured) for step in graph.steps if step.inputs}
    sources = [step.name for step in graph.steps if not step.inputs]
    whole = measured.plain["cpu_seconds"] * 1e9 / max(1, sum(
        one["in"] for one in measured.plain["steps"] if one["name"] in sources))
    parts = sum((cost.tuple or 0.0) * counts[name]["in"] + (cost.window or 0.0) * counts[name]["out"]
                for name, cost in costs.items()) / max(1, sum(counts[name]["in"] for name in sources))
    reading = min(_LEAST_READING * whole, _LEAST_READING_NS)
    scale = min(1.0, (whole - reading) / parts) if parts else 1.0
    costs = {name: _scaled(cost, scale) for name, cost in costs.items()}
    return costs | {name: StepCosts(tuple=max(0.0, whole - scale * parts)) for name in sources}


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


def _scaled(cost: StepCosts, scale: float) -> StepCosts:
    parts = (cost.tuple, cost.pane, cost.window, cost.merge)
    return StepCosts(*(None if part is None else part * scale for part in parts))


def _with_parts(costs: Mapping[str, StepCosts], names: Iterable[str], parts: Graph,
                measured: Measured) -> dict[str, StepCosts]:
    """What a tuple, a pane and a merge cost in an operator in parts. H takes a slide's panes and gives a result."""
    own = _costs(parts, measured)
    counts = {one["name"]: one for one in measured.timed["steps"]}
    found = {}
    for name in names:
        panes = counts[name]["in"] / counts[name]["out"] if counts[name]["out"] else 1.0
        merge = (own[name].window or 0.0) + panes * (own[name].tuple or 0.0)
        found[name] = replace(costs[name], keep=own[f"{name}.windows"].tuple, pane=own[f"{name}.work"].tuple,
                              merge=merge)
    return found


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
    """Nanoseconds without those of the timers."""
    return max(0.0, part["ns"] - part["calls"] * measured.inside - part["results"] * measured.outside)


def _profile(parts: Graph, step: typed.Step, costs: StepCosts, measured: Measured) -> OperatorProfile:
    """Tuples come in at the first part of an operator, and out at the last."""
    alternate, counts = step.name, {one["name"]: one for one in measured.timed["steps"]}
    first = f"{step.name}.windows" if f"{step.name}.windows" in counts else step.name
    given, out = counts[first]["in"], counts[step.name]["out"]
    if isinstance(step.body, typed.Operator):
        alternate = max(step.body.alternates, key=lambda one: one.value).name
    selectivity = out / given if given and step.inputs else None
    return OperatorProfile({alternate: costs}, selectivity, _keys(measured.steps[parts.steps.index(parts.step(first))]))


def _keys(data: Mapping) -> Keys | None:
    if not data["keys"]:
        return None
    shares = tuple(round(count / data["key_tuples"], 6) for count in data["top"])
    return Keys(data["keys"], max(shares[0], 1e-6), tuple(share for share in shares if share > 0))


def _rates(graph: Graph) -> dict[str, float]:
    """Only a paced generator says how fast its tuples come; a file does not."""
    found = {}
    for step in graph.steps:
        settings = dict(step.body.connector.settings) if isinstance(step.body, typed.Source) else {}
        if settings.get("paced") and settings.get("rate"):
            found[step.name] = float(settings["rate"])
    return found


# --- the machine ------------------------------------------------------------------------------------


def _with_crossings(costs: Mapping[str, float], plan: Plan, measured: Measured) -> dict[str, float]:
    """What an element costs on its way between threads beyond taking it. It is the sender's: that is where tuples
    are touched for the first time, copied, and others woken."""
    if measured.staged is None:
        return dict(costs)
    counts = {one["name"]: one for one in measured.staged["steps"]}
    elements = sum(counts[edge.producer]["out"] for edge in plan.edges) / max(1, _read(measured.staged))
    more = (_a_tuple(measured.staged) - _a_tuple(measured.plain)) / elements if elements else 0.0
    return {**costs, "emit_ns": max(costs["emit_ns"], more - costs["take_ns"])}


def _a_tuple(summary: Mapping) -> float:
    """CPU time for a tuple from any source."""
    return summary["cpu_seconds"] * 1e9 / max(1, _read(summary))


def _read(summary: Mapping) -> int:
    return summary["in"]


def _largest_element(graph: Graph) -> int:
    """Of the records that steps pass on, in bytes."""
    from .select.traffic import record_bytes

    return max(int(record_bytes(step.record)) for step in graph.steps if not isinstance(step.body, typed.Sink))


def channel_costs(element_bytes: int) -> dict[str, float]:
    """What it costs to put an element into a link, to take it, to merge two links in order, and to reach a thread."""
    from .build.folder import runtime_tree
    from .build.program import CompilerFailed, Job, runtime_library
    from .build.toolchain import INCLUDES, LINK_FLAGS, find_toolchain, flags
    from .codegen.templating import render

    with tempfile.TemporaryDirectory(prefix="dfc-channels-") as name:
        folder, tree = Path(name), runtime_tree()
        for path, data in tree.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        (folder / "channel_cost.c").write_text(render("channel_cost.c.j2", size=max(8, element_bytes - 8)))
        job = Job(find_toolchain(), flags("native", sanitize=False), folder)
        try:
            job.call(*INCLUDES, "channel_cost.c", str(runtime_library(tree, job)), "-o", "channel_cost", *LINK_FLAGS)
            said = subprocess.run([folder / "channel_cost"], capture_output=True, text=True, check=True, timeout=60)
        except (CompilerFailed, subprocess.SubprocessError) as error:
            raise Failure(f"the channels could not be measured: {error}") from None
    return {name: value for name, value in json.loads(said.stdout).items() if name != "sum"}
