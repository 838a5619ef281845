"""Goals, what to minimise, control policies, resources and clouds."""

from __future__ import annotations

from . import ast, typed
from .check_bodies import constant_number
from .check_settings import check_settings, setting_value
from .context import Context, unknown
from .diagnostics import Note
from .mistake import Mistake
from .settings import BLOCKS, METRICS, MINIMIZE, POLICIES, Metric, Setting
from .streams import Streams


def check_goal(context: Context, decl: ast.GoalDecl) -> typed.Goal | None:
    """A bound on latency, throughput or value; None after a mistake that was reported."""
    with context.reporting():
        metric = METRICS.get(decl.metric.text)
        if metric is None:
            raise unknown("E0406", decl.metric.span, "metric", decl.metric.text, list(METRICS))
        statistic = _statistic(decl, metric)
        if decl.op.rstrip("=") != metric.op.rstrip("=") or decl.op in ("==", "!="):
            raise Mistake("E0407", decl.span, f"a goal for {decl.metric} is a bound with `{metric.op}`",
                          expected=f"`{metric.example}`")
        bound = setting_value(context, decl.bound, metric.bound, f"the goal for {decl.metric}")
        weight = constant_number(context, decl.weight, "a weight") if decl.weight else 1.0
        if bound is not None and weight is not None:
            return typed.Goal(decl.metric.text, statistic, decl.op, float(bound), weight, decl.span)
    return None


def _statistic(decl: ast.GoalDecl, metric: Metric) -> str:
    """Latency without a statistic means its mean."""
    if decl.statistic is None:
        return "mean" if "mean" in metric.statistics else ""
    if decl.statistic.text in metric.statistics:
        return decl.statistic.text
    choices = [word for word in metric.statistics if word]
    if not choices:
        raise Mistake("E0406", decl.statistic.span, f"{decl.metric} has no statistics", expected=f"`{metric.example}`")
    raise unknown("E0406", decl.statistic.span, "statistic", decl.statistic.text, choices, where=decl.metric.text)


def check_minimize(context: Context, decls: list[ast.MinimizeDecl]) -> tuple[str, ...]:
    targets: dict[str, None] = {}
    for target in (target for decl in decls for target in decl.targets):
        if target.text not in MINIMIZE:
            context.report(unknown("E0408", target.span, "quantity to minimise", target.text, list(MINIMIZE)))
        targets[target.text] = None
    return tuple(targets)


# --- control ----------------------------------------------------------------------------------------


def check_controls(context: Context, decls: list[ast.ControlDecl], streams: Streams) -> tuple[typed.Control, ...]:
    """The policies; each operator, and the program as a whole, has at most one."""
    first: dict[str | None, ast.ControlDecl] = {}
    result = []
    for decl in decls:
        operator = decl.operator and decl.operator.text
        with context.reporting():
            before = first.setdefault(operator, decl)
            if before is not decl:
                whose = f"`{operator}`" if operator else "the program"
                raise Mistake("E0401", decl.span, f"the control of {whose} is set twice",
                              notes=(Note("first here", before.span),))
            result.append(_control(context, decl, streams))
    return tuple(result)


def _control(context: Context, decl: ast.ControlDecl, streams: Streams) -> typed.Control:
    if decl.operator:
        _controllable(context, decl.operator, streams)
    policy = decl.policy.text
    if policy not in POLICIES:
        raise unknown("E0405", decl.policy.span, "control policy", policy, list(POLICIES))
    settings = check_settings(context, decl.settings, POLICIES[policy], f"the policy {policy}")
    if policy == "rule":
        _thresholds_in_order(decl, dict(settings))
    return typed.Control(policy, decl.operator and decl.operator.text, settings, decl.span)


def _thresholds_in_order(decl: ast.ControlDecl, settings: dict[str, object]) -> None:
    """Of `rule`; the `low` of `threshold` is a share of its `high`."""
    if "low" in settings and "high" in settings and settings["low"] > settings["high"]:
        place = next(setting.value.span for setting in decl.settings if setting.name.text == "low")
        raise Mistake("E0409", place, f"`low` is {settings['low']}, above `high`, which is {settings['high']}",
                      expected="at most `high`")


def _controllable(context: Context, name: ast.Ident, streams: Streams) -> None:
    kind = streams.declared.get(name.text, ("", None))[0]
    if kind not in ("operator", "stream"):
        operators = [n for n, (k, _) in streams.declared.items() if k in ("operator", "stream")]
        if not kind:
            raise unknown("E0410", name.span, "operator", name.text, operators)
        raise Mistake("E0410", name.span, f"`{name}` is a {kind}, which is not controlled", expected="an operator",
                      notes=context.declared_at("stream", name.text))


# --- resources and cloud ----------------------------------------------------------------------------


def check_blocks(context: Context, resources: list[ast.ResourcesDecl],
                 clouds: list[ast.CloudDecl]) -> tuple[typed.Block, ...]:
    """The resources of the machine, then the entries of the cloud."""
    for extra in resources[1:]:
        context.report(Mistake("E0401", extra.span, "the resources are given twice",
                               notes=(Note("first here", resources[0].span),)))
    blocks = []
    for decl in resources[:1]:
        settings = check_settings(context, decl.settings, BLOCKS["resources"], "resources")
        if any(name == "memory" for name, _ in settings):
            context.warn("W0105", decl.span, "nothing keeps the program within `memory`",
                         expected="a limit of the system, such as `systemd-run -p MemoryMax=4G`")
        blocks.append(typed.Block("resources", (), settings, decl.span))
    entries = [entry for cloud in clouds for entry in cloud.entries]
    named = _once(context, [entry for entry in entries if isinstance(entry, ast.CloudEntry)])
    regions = [name for kind, name in named if kind == "region"]
    for entry in entries:
        if isinstance(entry, ast.CloudEntry):
            settings = check_settings(context, entry.settings, BLOCKS[entry.kind], f"the {entry.kind} {entry.name}")
            blocks.append(typed.Block(entry.kind, (entry.name.text,), settings, entry.span))
        else:
            blocks += _latency(context, entry, regions)
    return tuple(blocks)


def _once(context: Context, entries: list[ast.CloudEntry]) -> dict[tuple[str, str], ast.CloudEntry]:
    first: dict[tuple[str, str], ast.CloudEntry] = {}
    for entry in entries:
        before = first.setdefault((entry.kind, entry.name.text), entry)
        if before is not entry:
            context.report(Mistake("E0104", entry.name.span, f"there already is a {entry.kind} `{entry.name}`",
                                   notes=(Note("declared here", before.name.span),)))
    return first


def _latency(context: Context, entry: ast.CloudLatency, regions: list[str]) -> list[typed.Block]:
    for region in (entry.origin, entry.target):
        if region.text not in regions:
            context.report(unknown("E0410", region.span, "region", region.text, regions))
    with context.reporting():
        value = setting_value(context, entry.value, Setting("duration"), "the latency between regions")
        if value is not None:
            return [typed.Block("latency", (entry.origin.text, entry.target.text), (("latency", value),), entry.span)]
    return []
