"""What threads cost on this machine: links between them, and the same work on cores of their own.

Whoever computes on another core fetches from its cache what others have written, and whoever writes there again must
take the lines back. So a program runs once with a thread a stage on all cores, and each thread tells its CPU time
without what it spent waiting. What the steps of a stage cost in one thread is known; the rest is the links', or that of
the parts of an operator, which share its tuples. Such runs also tell what threads that share cores gain and lose: with
one worker and with as many as there are cores, what sending takes, and what a run takes longer than the work of its
threads. Threads that tell their times look at a clock whenever they wait: so the runs that are longer are others, which
tell nothing.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dfc.compiler.failure import Failure
from dfc.dsl import typed

from .artifacts.graph import Graph
from .artifacts.parts import Part
from .artifacts.plan import Plan
from .artifacts.profile import StepCosts
from .patterns.crowding import beyond_one
from .select.reading import in_blocks


@dataclass(frozen=True, slots=True)
class Stages:
    """A run with a thread a stage, for each tuple that was read: nanoseconds of CPU time of each segment, what its
    steps cost in one thread, and how many elements it sends and takes. What is parsed ahead is no part of it, whoever
    did that."""

    plan: Plan
    own: Mapping[str, StepCosts]
    counts: Mapping[str, Mapping]
    busy: Mapping[int, float]
    read: int

    def work(self, step: str) -> float:
        cost, count = self.own[step], self.counts[step]
        a_tuple = cost.fetch if cost.fetch is not None else (cost.tuple or 0.0) - (cost.parse or 0.0)
        return (a_tuple * count["in"] + (cost.window or 0.0) * count["out"]) / self.read

    def beyond(self, segment: int) -> float:
        """What the thread took more than its steps in one thread."""
        return self.busy[segment] - sum(map(self.work, self.plan.segments[segment].steps))

    def sent(self, segment: int) -> float:
        return sum(self.counts[edge.producer]["out"] for edge in self.plan.edges if edge.source == segment) / self.read

    def taken(self, segment: int) -> float:
        return sum(self.counts[edge.producer]["out"] for edge in self.plan.edges if edge.target == segment) / self.read


def usual(summaries: Sequence[Mapping]) -> Mapping | None:
    """Of several runs the one that took neither most nor least CPU time; None of none."""
    by_time = sorted(summaries, key=_a_tuple)
    return by_time[len(by_time) // 2] if by_time else None


def scatter(summaries: Sequence[Mapping]) -> float:
    """By how many nanoseconds for a tuple the runs differ."""
    times = [_a_tuple(one) for one in summaries]
    return max(times) - min(times) if times else 0.0


def _a_tuple(summary: Mapping) -> float:
    """Nanoseconds of CPU time for each tuple that was read, without waiting where threads tell theirs."""
    threads = (*summary.get("stages", ()), *summary.get("parsers", ()))
    taken = sum(one["cpu_seconds"] for one in threads) or summary["cpu_seconds"]
    return taken * 1e9 / max(1, summary["in"])


def parsing(summary: Mapping | None) -> dict[str, float]:
    """Nanoseconds for a tuple of each source that is parsed ahead, whoever did that; of a run with `--thread-times`."""
    if summary is None:
        return {}
    read = {one["name"]: max(1, one["in"]) for one in summary["steps"]}
    return {one["source"]: (one["cpu_seconds"] + one["by_reader"]) * 1e9 / read[one["source"]]
            for one in summary["parsers"]}


def stages_of(plan: Plan, own: Mapping[str, StepCosts], summary: Mapping) -> Stages:
    """`own`: what each step costs in one thread; `summary`: of a run with `--stats --thread-times`."""
    read, busy = max(1, summary["in"]), {segment.number: 0.0 for segment in plan.segments}
    for stage in summary["stages"]:
        busy[stage["segment"]] += stage["cpu_seconds"] * 1e9 / read
    busy[0] -= sum(one["by_reader"] for one in summary["parsers"]) * 1e9 / read
    return Stages(plan, own, {one["name"]: one for one in summary["steps"]}, busy, read)


def lost(graph: Graph, plan: Plan, plain: Mapping, summary: Mapping, untold: Mapping, cores: int) -> float | None:
    """Nanoseconds for each element that was handed over by which a run (`untold`) took longer than the work of its
    threads on the cores, which another one told (`summary`), if cores have two threads: None where each thread had one
    of its own. What one thread (`plain`) took longer than its work is not theirs."""
    read = max(1, summary["in"])
    taken = untold["seconds"] / max(1, untold["in"]) * read
    threads = [one["cpu_seconds"] for one in summary["stages"]]
    for one in summary["parsers"]:
        threads += [one["cpu_seconds"] / one["threads"]] * one["threads"]
    crowded = beyond_one(len(threads), cores)
    if crowded == 0:
        return None
    working = max(*threads, sum(threads) / cores)
    beside = max(0.0, plain["seconds"] - plain["cpu_seconds"]) / max(1, plain["in"]) * read
    counts = {one["name"]: one for one in summary["steps"]}
    parsed = (one["source"] for one in summary["parsers"] if not in_blocks(graph.step(one["source"])))
    handed = sum(counts[edge.producer]["out"] for edge in plan.edges) + sum(counts[name]["in"] for name in parsed)
    return max(0.0, taken - beside - working) * 1e9 / handed / crowded if handed else 0.0


def within_reader(costs: Mapping[str, float], stages: Stages) -> dict[str, float]:
    """Sending takes no more than all that the thread took which reads and sends, whatever the channels cost alone."""
    most = stages.busy[0] / stages.sent(0) if stages.sent(0) else costs["emit_ns"]
    return {**costs, "emit_ns": min(costs["emit_ns"], most)}


def most_within_reader(costs: Mapping[str, float], stages: Stages) -> float:
    """What the steps of the thread that reads can take, without parsing: it also sends. Timers may say more of one
    thread, where what comes from memory is paid by whoever looks first."""
    return stages.busy[0] - costs["emit_ns"] * stages.sent(0)


def with_fetching(own: Mapping[str, StepCosts], costs: Mapping[str, float], stages: Stages) -> dict[str, StepCosts]:
    """What another core has parsed comes line by line from its cache: where something is parsed ahead, the thread that
    reads takes that much more than its steps and sending."""
    parsed = [name for name, cost in own.items() if cost.parse is not None]
    share = sum(stages.counts[name]["in"] for name in parsed) / stages.read
    more = max(0.0, stages.beyond(0) - costs["emit_ns"] * stages.sent(0)) / share if share else 0.0
    return {**own, **{name: replace(own[name], fetch=own[name].tuple - own[name].parse + more) for name in parsed}}


def with_crossings(costs: Mapping[str, float], stages: Stages, noise: float) -> dict[str, float]:
    """What an element costs who sends it and who takes it. The reader only sends: so its part is known, and that of the
    others follows. It is never less than what the channels cost alone; and that is what taking costs when the threads
    took more than their steps by no more than the runs differ by (`noise`): then links can't be told from chance."""
    others = [segment.number for segment in stages.plan.segments[1:]]
    sent, taken = sum(map(stages.sent, others)), sum(map(stages.taken, others))
    emit = max(costs["emit_ns"], stages.beyond(0) / stages.sent(0) if stages.sent(0) else 0.0)
    beyond = sum(map(stages.beyond, others)) - emit * sent
    take = beyond / taken if taken and beyond > noise else 0.0
    return {**costs, "emit_ns": emit, "take_ns": max(costs["take_ns"], take)}


def sending(alone: float, crowded: Stages) -> dict[str, float]:
    """What sending costs where there is a worker a core, beside the sender, to one of them or to all: no less than what
    it does `alone`. Nothing is known of that where no part of the program has several workers, and where the reader
    sends both ways."""
    to_all = {edge.routing == "all" for edge in crowded.plan.edges if edge.source == 0}
    if not crowded.sent(0) or len(to_all) > 1 or not any(segment.replicated for segment in crowded.plan.segments):
        return {}
    return {"emit_all_ns" if to_all == {True} else "emit_shared_ns": max(alone, crowded.beyond(0) / crowded.sent(0))}


def on_own_cores(parts: Graph, stages: Stages, machine: Mapping[str, float]) -> dict[str, StepCosts]:
    """The costs of all parts of operators, such that with links and other steps each thread takes as long as it did."""
    found = dict(stages.own)
    for segment in stages.plan.segments:
        divided = [name for name in segment.steps if isinstance(parts.step(name).body, Part)]
        work = sum(map(stages.work, divided))
        links = machine["emit_ns"] * stages.sent(segment.number) + machine["take_ns"] * stages.taken(segment.number)
        if work > 0:
            scale = max(0.0, (work + stages.beyond(segment.number) - links) / work)
            found |= {name: scaled(stages.own[name], scale) for name in divided}
    return found


def scaled(cost: StepCosts, scale: float) -> StepCosts:
    parts = (cost.tuple, cost.pane, cost.window, cost.merge)
    return StepCosts(*(None if part is None else part * scale for part in parts))


def of_sources(reading: float, parsed: Mapping[str, float], shares: Mapping[str, float]) -> dict[str, StepCosts]:
    """`reading`: what a tuple costs of any source; `parsed`: what parsing takes of it, where it is done ahead;
    `shares`: the part of all tuples that each source brings. What parsing leaves over is the same for all."""
    known = sum(parsed.get(name, 0.0) * share for name, share in shares.items())
    fits = min(1.0, reading / known) if known else 1.0
    rest = max(0.0, reading - known)
    return {name: StepCosts(tuple=fits * parsed.get(name, 0.0) + rest,
                            parse=fits * parsed[name] if name in parsed else None) for name in shares}


# --- channels ---------------------------------------------------------------------------------------


def machine_costs(graph: Graph) -> dict[str, float]:
    return channel_costs(_largest_element(graph))


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
