"""The untyped tree as text: the canonical form that `dfc fmt` writes. Reading it gives the same tree."""

from __future__ import annotations

from . import ast
from .diagnostics import Diagnostics
from .layout import Block, Chain, Item, Part, lay_out
from .lexer import Comment
from .literals import quote
from .parser import parse_with_comments
from .print_expressions import SUM, c_function, conjuncts, expression, slack, type_ref, value


def format_text(text: str, file: str, diagnostics: Diagnostics) -> str | None:
    """The text in canonical form, or None when it has syntax errors."""
    found = Diagnostics()
    program, comments = parse_with_comments(text, file, found)
    diagnostics.items += found.items
    return None if found.failed else format_program(program, comments)


def format_program(program: ast.Program, comments: list[Comment]) -> str:
    return lay_out([_declaration(declaration) for declaration in program.declarations], comments)


# --- declarations -----------------------------------------------------------------------------------


def _declaration(node: ast.Decl) -> Item:
    return Item(_PARTS[type(node)](node), node.span)


def _app(node: ast.AppDecl) -> list[Part]:
    return [f"app {node.name}"]


def _use(node: ast.UseDecl) -> list[Part]:
    return [f"use {'.'.join(node.path)}"]


def _import(node: ast.ImportDecl) -> list[Part]:
    return [f"import {quote(node.path.value)}"]


def _param(node: ast.ParamDecl) -> list[Part]:
    return [f"param {node.name}: {type_ref(node.type)} = {expression(node.value)}"]


def _record(node: ast.RecordDecl) -> list[Part]:
    return [f"record {node.name} ", _fields(node.fields)]


def _function(node: ast.FunctionDecl) -> list[Part]:
    body = [c_function(node.body)] if isinstance(node.body, ast.CFunction) else _condition(node.body)
    return [f"fn {node.name}", _fields(node.params, "()"), f" -> {type_ref(node.result)} = ", *body]


def _aggregate(node: ast.AggregateDecl) -> list[Part]:
    properties = "".join(f" {name}" for name in node.properties)
    return [f"aggregate {node.name}", _fields(node.params, "()"), f" -> {type_ref(node.result)}{properties} ",
            *_aggregate_body(node.body)]


def _aggregate_body(body: ast.LiftCombineLower | ast.OpaqueAggregate) -> list[Part]:
    if isinstance(body, ast.OpaqueAggregate):
        size = f" state {expression(body.state_bytes)}" if body.state_bytes else ""
        return [f"= {c_function(body.function)}{size}"]
    return [Block("{", [
        Item(["state ", _fields(body.state)]), Item(["lift ", _construct(body.lift)], body.lift.span),
        Item(["combine ", _construct(body.combine)], body.combine.span),
        Item([f"lower {expression(body.lower)}"], body.lower.span)], "}", separator="")]


def _source(node: ast.SourceDecl) -> list[Part]:
    clauses = [*_clause("event time ", node.event_time), *_flag("processing time", node.processing_time)]
    if node.slack:
        clauses.append(Item([f"slack {slack(node.slack)}"], node.slack.span))
    clauses += [*_clause("late to ", node.late_to), *_flag("retry", node.retry)]
    return [f"source {node.name}: {node.record} = ", *_connector(node.connector), Chain(clauses)]


def _stream(node: ast.StreamDecl) -> list[Part]:
    return [f"stream {node.name} = {_ref(node.pipeline.head)}", _stages(node.pipeline)]


def _split(node: ast.SplitDecl) -> list[Part]:
    outlets = Chain([Item([_outlet(outlet)], outlet.span) for outlet in node.outlets], separator=",")
    head = f"split {_ref(node.input.head)}"
    if not node.input.stages:
        return [f"{head} into", outlets]
    return [head, _stages(node.input, Item(["into", outlets]))]


def _outlet(node: ast.Outlet) -> str:
    return f"{node.name} when {expression(node.predicate)}" if node.predicate else f"{node.name} otherwise"


def _sink(node: ast.SinkDecl) -> list[Part]:
    to = Item(["to ", *_connector(node.connector)], node.connector.span)
    return [f"sink {node.name} = {_ref(node.pipeline.head)}",
            _stages(node.pipeline, to, *_clause("order ", node.order))]


def _operator(node: ast.OperatorDecl) -> list[Part]:
    clauses = [*_keys(node.keys), *_window_clause(node.window), *_clause("order ", node.order)]
    if node.pattern:
        settings = [" ", _settings(node.pattern.settings, "{}")] if node.pattern.settings else []
        clauses.append(Item([f"pattern {node.pattern.name}", *settings], node.pattern.span))
    if node.expire_after:
        clauses.append(Item([f"expire after {expression(node.expire_after)}"], node.expire_after.span))
    if isinstance(node.result, ast.Ident):
        clauses.append(Item([f"-> {node.result}"], node.result.span))
    elif node.result:
        clauses.append(Item(["-> ", _fields(node.result)]))
    alternates = [Item(_alternate(alternate), alternate.span) for alternate in node.alternates]
    return [f"operator {node.name} on {', '.join(map(_ref, node.inputs))}", Chain(clauses), " ",
            Block("{", alternates, "}", separator="")]


def _keys(keys: tuple[ast.Ident, ...]) -> list[Item]:
    return [Item([f"by {', '.join(map(str, keys))}"], keys[0].span.to(keys[-1].span))] if keys else []


def _window_clause(window: ast.Window | None) -> list[Item]:
    return [Item([f"window {_window(window)}"], window.span)] if window else []


def _alternate(node: ast.Alternate) -> list[Part]:
    clauses = (("value", node.value), ("cost", node.cost), ("selectivity", node.selectivity))
    head = "".join(f" {word} {expression(amount)}" for word, amount in clauses if amount)
    head += f" columns {', '.join(map(str, node.columns))}" if node.columns else ""
    return [f"alternate {node.name}{head} = ", _body(node.body)]


def _goal(node: ast.GoalDecl) -> list[Part]:
    statistic = f" {node.statistic}" if node.statistic else ""
    weight = f" weight {expression(node.weight)}" if node.weight else ""
    return [f"goal {node.metric}{statistic} {node.op} {expression(node.bound, SUM)}{weight}"]


def _minimize(node: ast.MinimizeDecl) -> list[Part]:
    return [f"minimize {', '.join(map(str, node.targets))}"]


def _control(node: ast.ControlDecl) -> list[Part]:
    operator = f"for {node.operator} " if node.operator else ""
    settings = [" ", _settings(node.settings)] if node.settings else []
    return [f"control {operator}{node.policy}", *settings]


def _resources(node: ast.ResourcesDecl) -> list[Part]:
    return ["resources ", _settings(node.settings)]


def _cloud(node: ast.CloudDecl) -> list[Part]:
    return ["cloud ", Block("{", [Item(_cloud_entry(entry), entry.span) for entry in node.entries], "}", separator="")]


def _cloud_entry(node: ast.CloudEntry | ast.CloudLatency) -> list[Part]:
    if isinstance(node, ast.CloudEntry):
        return [f"{node.kind} {node.name} ", _settings(node.settings)]
    return [f"latency {node.origin} {node.target} {expression(node.value)}"]


_PARTS = {ast.AppDecl: _app, ast.UseDecl: _use, ast.ImportDecl: _import, ast.ParamDecl: _param,
          ast.RecordDecl: _record, ast.FunctionDecl: _function, ast.AggregateDecl: _aggregate,
          ast.SourceDecl: _source, ast.StreamDecl: _stream, ast.SplitDecl: _split, ast.OperatorDecl: _operator,
          ast.SinkDecl: _sink, ast.GoalDecl: _goal, ast.MinimizeDecl: _minimize, ast.ControlDecl: _control,
          ast.ResourcesDecl: _resources, ast.CloudDecl: _cloud}

# --- pipelines --------------------------------------------------------------------------------------


def _stages(pipeline: ast.Pipeline, *rest: Item) -> Chain:
    stages = [Item(["|> ", *_stage(stage)], stage.span, hang="   ") for stage in pipeline.stages]
    return Chain([*stages, *rest], broken=len(stages) > 1)


def _stage(node: ast.Stage) -> list[Part]:
    match node:
        case ast.FilterStage():
            return ["filter ", *_condition(node.predicate)]
        case ast.MapStage() | ast.AggregateStage() | ast.ScanStage():
            word = {ast.MapStage: "map", ast.AggregateStage: "aggregate", ast.ScanStage: "scan"}[type(node)]
            return [f"{word} ", _construct(node.construct), _result(node.result)]
        case ast.FlatMapStage():
            return [f"flatmap {expression(node.sequence)}{_result(node.result)}"]
        case ast.UnionStage():
            return [f"union {', '.join(map(_ref, node.others))}"]
        case ast.JoinStage():
            keys = ", ".join(_join_key(key) for key in node.keys)
            return [f"join {_ref(node.other)} by {keys} within {expression(node.within)} ",
                    _construct(node.construct), _result(node.result)]
        case ast.BroadcastStage():
            return [f"broadcast {_ref(node.other)} ", _construct(node.construct), _result(node.result)]
        case ast.ByStage():
            return [f"by {', '.join(map(str, node.keys))}"]
        case ast.WindowStage():
            return [f"window {_window(node.window)}"]
        case ast.UpdateStage():
            return _update(node)
    raise TypeError(f"no stage: {node!r}")


def _update(node: ast.UpdateStage) -> list[Part]:
    state = [Item([f"{part.name}: {type_ref(part.type)} = {expression(part.initial)}"], part.span)
             for part in node.state]
    clauses = [Item(["with ", _body(node.next)], node.next.span),
               Item(["emit ", _construct(node.construct), _result(node.result)], node.construct.span)]
    if node.expire_after:
        clauses.append(Item([f"expire after {expression(node.expire_after)}"], node.expire_after.span))
    return ["update ", Block("{", state, "}"), Chain(clauses)]


def _window(node: ast.Window) -> str:
    match node:
        case ast.CountWindow():
            flags = " partial" * node.partial + " every tuple" * node.every_tuple
            return f"count {expression(node.size)}{_slide(node.slide)}{flags}"
        case ast.TimeWindow():
            flags = " every tuple" * node.every_tuple + " processing" * node.processing
            return f"time {expression(node.size)}{_slide(node.slide)}{flags}"
        case ast.SessionWindow():
            return f"session gap {expression(node.gap)}" + " processing" * node.processing
        case ast.DeltaWindow():
            return f"delta {expression(node.threshold)} of {expression(node.value)}"
    raise TypeError(f"no window: {node!r}")


def _slide(node: ast.Expr | None) -> str:
    return f" slide {expression(node)}" if node else ""


def _ref(node: ast.StreamRef) -> str:
    return f"{node.name}.{node.port}" if node.port else node.name.text


def _join_key(node: ast.JoinKey) -> str:
    return node.left.text if node.left == node.right else f"{node.left} = {node.right}"


def _result(node: ast.Ident | None) -> str:
    return f" -> {node}" if node else ""


# --- bodies, fields, settings -----------------------------------------------------------------------


def _body(node: ast.Construct | ast.CFunction) -> Part:
    return _construct(node) if isinstance(node, ast.Construct) else c_function(node)


def _construct(node: ast.Construct) -> Block:
    return Block("{", [Item([_entry(entry)], entry.span) for entry in node.entries], "}")


def _entry(node: ast.Entry) -> str:
    return node.name.text if node.shorthand else f"{node.name}: {expression(node.value)}"


def _condition(node: ast.Expr) -> list[Part]:
    (first, _), *others = conjuncts(node)
    return [first, Chain([Item([text], operand.span) for text, operand in others])]


def _fields(fields: tuple[ast.Field, ...], brackets: str = "{}") -> Block:
    return Block(brackets[0], [Item([f"{f.name}: {type_ref(f.type)}"], f.span) for f in fields], brackets[1])


def _settings(settings: tuple[ast.Setting, ...], brackets: str = "{}") -> Block:
    return Block(brackets[0], [Item([f"{s.name}: {value(s.value)}"], s.span) for s in settings], brackets[1])


def _connector(node: ast.Connector) -> list[Part]:
    arguments = _settings(node.settings, "()")
    if node.path:
        arguments.items.insert(0, Item([expression(node.path)], node.path.span))
    return [node.kind.text, arguments]


def _clause(words: str, name: ast.Ident | None) -> list[Item]:
    return [Item([f"{words}{name}"], name.span)] if name else []


def _flag(words: str, given: bool) -> list[Item]:
    return [Item([words])] if given else []
