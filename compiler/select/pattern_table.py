"""The choice of patterns as decisions of a plan, as data for JSON, and as the table that `dfc explain` prints."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...dsl import typed
from ..artifacts.plan import Decision, Estimate, Layout
from ..artifacts.step_text import pattern_text
from ..patterns.load import Prediction
from .compose import Whole
from .search import Choice, Request, Row, rate_text, time_text, violation


def decided(choice: Choice) -> tuple[Layout, tuple[Decision, ...]]:
    """What a plan keeps of a choice."""
    best = choice.best
    decisions = tuple(Decision(name, one.pattern, _unit_estimate(one), _reason(choice, name), name in choice.forced)
                      for name, one in best.patterns.items())
    return Layout(best.layout, choice.model.machine.cores, _estimate(best), choice.why), decisions


def _estimate(whole: Whole) -> Estimate:
    return Estimate(whole.rate, whole.latency, whole.memory, whole.threads)


def _unit_estimate(one: Prediction) -> Estimate:
    return Estimate(one.rate, one.latency, one.memory, one.threads, one.replication)


def _reason(choice: Choice, name: str) -> str:
    if choice.best.patterns[name].pattern.name == "sequential":
        return choice.why
    others = [row for row in choice.rows[name] if not row.chosen and row.whole is not None]
    against = max(others, key=lambda row: row.whole.rate, default=None)
    if against is None:
        return choice.why
    return f"{rate_text(choice.best.rate)} for the program; {against.pattern.name}: {against.why}"


# --- data -------------------------------------------------------------------------------------------


def as_data(choice: Choice) -> dict:
    """For `--json`; times in nanoseconds, rates in tuples a second. What has no bound is null."""
    best, goals = choice.best, choice.goals
    return {
        "cores": choice.model.machine.cores,
        "taken": choice.request.taken,
        "controller_has_degrees": choice.request.elastic,
        "goals": {"rate": goals.wanted, "latency_ns": goals.latency, "met": violation(best, goals) < 1e-3,
                  "notes": list(goals.notes)},
        "layout": best.layout,
        "why": choice.why,
        "needed": choice.needed,
        "predicted": _whole_data(best),
        "threads": [{"name": s.name, "threads": s.threads, "ns_a_tuple": round(s.peak, 2),
                     "busy_at_full_speed": round(s.peak * best.rate / 1e9, 3)} for s in best.stages],
        "operators": [_operator_data(choice, name) for name in choice.rows],
        "assumed": list(_assumed(choice)),
    }


def _whole_data(whole: Whole) -> dict:
    return {"rate": _finite(whole.rate), "latency_ns": _finite(whole.latency), "memory_bytes": round(whole.memory),
            "threads": whole.threads, "limit": whole.limit}


def _finite(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None


def _operator_data(choice: Choice, name: str) -> dict:
    load = choice.model.loads[name]
    costs = load.load.costs
    return {"name": name, "costs_from": load.cost.origin,
            "costs_ns": {"tuple": costs.tuple, "pane": load.load.pane, "window": costs.window, "merge": costs.merge},
            "window_tuples": load.load.window, "slide_tuples": load.load.slide, "keys": load.load.keys,
            "p_max": load.load.p_max, "patterns": [_row_data(row, name) for row in choice.rows[name]]}


def _row_data(row: Row, name: str) -> dict:
    found = {"pattern": row.pattern.name, "settings": _settings(row.pattern), "applies": row.applies,
             "chosen": row.chosen, "why_not": row.why}
    if row.whole is not None:
        one = row.whole.patterns[name]
        found["predicted"] = _whole_data(row.whole) | {
            "operator_rate": _finite(one.rate), "operator_latency_ns": _finite(one.latency),
            "operator_memory_bytes": round(one.memory), "replication": round(one.replication, 2)}
    return found


def _settings(pattern: typed.Pattern) -> dict:
    names = (name for name in pattern.__dataclass_fields__ if name not in ("name", "span"))
    return {name: value for name in names if (value := getattr(pattern, name)) is not None}


def _assumed(choice: Choice) -> Iterator[str]:
    """Everything that was neither declared nor measured."""
    for load in choice.model.loads.values():
        for what in load.assumed:
            yield f"`{load.step.name}`: {what}"


# --- text -------------------------------------------------------------------------------------------


def to_lines(choice: Choice) -> list[str]:
    best = choice.best
    lines = ["", f"patterns for {_cores_text(choice)}"]
    for name in choice.rows:
        lines += _table(choice, name)
    lines += ["", f"{'chosen' if choice.request.taken else 'best'}: {_layout_text(choice)}", f"  {choice.why}",
              f"  predicted: {rate_text(best.rate)} from the sources, {_latency_text(best)}, {bytes_text(best.memory)}"]
    lines += [f"  goals are not met. {choice.needed}"] if choice.needed else []
    lines += [f"  {note}" for note in (*_taken_notes(choice.request), *choice.goals.notes)]
    lines += ["", "assumed, because it is neither declared nor in a profile (`dfc calibrate` measures it)",
              *_short_assumptions(choice)] if any(load.assumed for load in choice.model.loads.values()) else []
    return lines


def _cores_text(choice: Choice) -> str:
    cores = choice.request.cores
    return f"{cores} core{'s' * (cores > 1)}{', those of this machine' if choice.request.this_machine else ''}"


def _taken_notes(request: Request) -> Iterator[str]:
    """Whether the program is built so."""
    if not request.taken:
        yield ("the program is not built so, since nobody said for how many cores: it begins in one thread. "
               f"`dfc compile` and `dfc run` take this plan with `--cores {request.cores}`")
    elif request.elastic:
        yield ("the number of workers is the controller's: the program begins with one for each operator; "
               f"with `--cores {request.cores}` it is built as planned")


def _latency_text(whole: Whole) -> str:
    if math.isinf(whole.latency):
        return "results ever later, since more comes than is taken"
    return f"a result after {time_text(whole.latency)}"


def _layout_text(choice: Choice) -> str:
    best = choice.best
    if best.layout == "fused":
        return "everything in one thread"
    patterns = [f"{name} {pattern_text(one.pattern)}" for name, one in best.patterns.items()]
    threads = f"{'up to ' * choice.request.elastic}{best.threads} threads"
    return f"{threads}; {'; '.join(patterns)}" if patterns else threads


def _table(choice: Choice, name: str) -> list[str]:
    load = choice.model.loads[name]
    costs, keys = load.load.costs, load.load.keys
    said = f"{time_text(costs.tuple)} a tuple"
    if load.function.windowed:
        said += f", {time_text(costs.window)} a window of {load.load.window:.4g} tuples, slide {load.load.slide:.4g}"
    said += f", {keys} keys, the heaviest {load.load.p_max:.2%}" if load.function.keyed else ""
    cells = [("pattern", "tuples/s", "latency", "memory", "threads", "")]
    cells += [_cells(row, name, choice.request.taken) for row in choice.rows[name]]
    widths = [max(len(line[i]) for line in cells) for i in range(5)]
    return ["", f"  {name}: {said} (from: {load.cost.origin})",
            *("    " + "  ".join([*(f"{line[i]:{'<' if i == 0 else '>'}{widths[i]}}" for i in range(5)),
                                  line[5]]).rstrip() for line in cells)]


def _cells(row: Row, name: str, taken: bool) -> tuple[str, ...]:
    title = ("* " if row.chosen else "  ") + _name_text(row.pattern)
    if row.whole is None:
        return (title, "-", "-", "-", "-", row.why)
    one = row.whole.patterns[name]
    latency = time_text(one.latency)
    return (title, rate_text(row.whole.rate), latency, bytes_text(one.memory), str(row.whole.threads),
            row.why if not row.chosen else "chosen" if taken else "best")


def _name_text(pattern: typed.Pattern) -> str:
    """Degrees and ways, without the names of the settings."""
    degrees = [str(n) for n in (pattern.workers, pattern.merge_workers, pattern.inner_workers) if n is not None]
    ways = [way for way in (pattern.outer, pattern.merge, pattern.style, pattern.partition) if way]
    ways += [f"batch {pattern.batch}"] if pattern.batch and pattern.batch > 1 else []
    text = pattern.name + (" " + ",".join(degrees) if degrees else "")
    return text + (f" ({', '.join(ways)})" if ways else "")


def _short_assumptions(choice: Choice) -> list[str]:
    """Steps with the same assumption share a line."""
    steps: dict[str, list[str]] = {}
    for load in choice.model.loads.values():
        for what in load.assumed:
            steps.setdefault(what, []).append(load.step.name)
    return [f"  {what}: {', '.join(names)}" for what, names in steps.items()]


def bytes_text(size: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} B"
