"""Parse tree to `ast`: one method a rule of the grammar, called bottom-up with the values of its children.

Here: the walk and the declarations; their parts are in build_stages.py and build_expressions.py.
"""

from __future__ import annotations

from typing import Any

from . import ast
from .build_stages import Clause, StageBuilder
from .span import Span

# The checker, the printer and the code generator recurse over expressions; deeper ones are refused here.
MAX_DEPTH = 200


class TreeBuilder(StageBuilder):
    """Builds one declaration. What the grammar can't say is checked here: clauses given twice or not at
    all, clauses of the wrong window, values of literals, depth."""

    def build(self, tree: Any) -> ast.Decl | None:
        """The declaration, or None when what was found leaves it without a meaning."""
        # Not recursive: the depth of the input must not become the depth of the Python stack.
        pending, post_order = [tree], []
        while pending:
            node = pending.pop()
            post_order.append(node)
            pending += getattr(node, "children", ())
        values: list[tuple[Any, int]] = []
        for node in reversed(post_order):
            if not hasattr(node, "children"):
                values.append((node if node is None else self._token(node), 0))
                continue
            start = len(values) - len(node.children)
            children = values[start:]
            depth = 1 + max((depth for _, depth in children), default=0)
            span = self._span(node)
            if depth > MAX_DEPTH:
                self._error("E0023", span, f"this is nested deeper than {MAX_DEPTH} levels")
                return None
            values[start:] = [(getattr(self, f"on_{node.data}")(span, *(value for value, _ in children)), depth)]
        return None if self.broken else values[0][0]

    def _span(self, node: Any) -> Span:
        meta = node.meta
        if meta.empty:  # an empty list of settings, say: nobody asks where it stands
            return Span(self.file, 1, 1, 1, 1)
        return Span(self.file, meta.line, meta.column, meta.end_line, meta.end_column)

    def _token(self, token: Any) -> ast.Ident:
        return ast.Ident(str(token), Span(self.file, token.line, token.column, token.end_line, token.end_column))

    # --- declarations ---

    def on_app(self, span: Span, name: ast.Ident) -> ast.AppDecl:
        return ast.AppDecl(name, span)

    def on_use(self, span: Span, *path: ast.Ident) -> ast.UseDecl:
        return ast.UseDecl(tuple(part.text for part in path), span)

    def on_import_file(self, span: Span, path: ast.Ident) -> ast.ImportDecl:
        return ast.ImportDecl(self.on_string(path.span, path), span)

    def on_param(self, span: Span, name: ast.Ident, type_: ast.TypeRef, value: ast.Expr) -> ast.ParamDecl:
        return ast.ParamDecl(name, type_, value, span)

    def on_record(self, span: Span, name: ast.Ident, fields: tuple[ast.Field, ...]) -> ast.RecordDecl:
        return ast.RecordDecl(name, fields, span)

    def on_function(self, span: Span, name: ast.Ident, params: tuple[ast.Field, ...], result: ast.TypeRef,
                    body: ast.Expr) -> ast.FunctionDecl:
        return ast.FunctionDecl(name, params, result, self._c_function(body) or body, span)

    def on_aggregate_def(self, span: Span, name: ast.Ident, params: tuple[ast.Field, ...], result: ast.TypeRef,
                         properties: tuple[ast.Ident, ...], body: Any) -> ast.AggregateDecl:
        self._arrange(f"aggregate `{name}`", tuple(Clause(p.text, None, p.span) for p in properties))
        return ast.AggregateDecl(name, params, result, properties, body, span)

    def on_aggregate_body(self, span: Span, *parts: Clause) -> ast.LiftCombineLower:
        found = self._arrange("the aggregate", parts)
        form = {"state": "state { … }", "lift": "lift { … }", "combine": "combine { … }", "lower": "lower …"}
        values = (self._required(found, word, "the aggregate", span, form[word]) for word in form)
        return ast.LiftCombineLower(*values, span)

    def on_opaque_aggregate(self, span: Span, body: ast.Expr, size: ast.Expr | None) -> ast.OpaqueAggregate:
        return ast.OpaqueAggregate(self._must_be_c(body), size, span)

    def on_source(self, span: Span, name: ast.Ident, record: ast.Ident, connector: ast.Connector,
                  *clauses: Clause) -> ast.SourceDecl:
        found = self._arrange(f"source `{name}`", clauses)
        value = {word: clause.value for word, clause in found.items()}
        return ast.SourceDecl(name, record, connector, value.get("event"), "processing" in found,
                              value.get("slack"), value.get("late"), "retry" in found, span)

    def on_stream(self, span: Span, name: ast.Ident, pipeline: ast.Pipeline) -> ast.StreamDecl:
        return ast.StreamDecl(name, pipeline, span)

    def on_split(self, span: Span, source: ast.Pipeline, *outlets: ast.Outlet) -> ast.SplitDecl:
        return ast.SplitDecl(source, outlets, span)

    def on_outlet(self, span: Span, name: ast.Ident, predicate: ast.Expr | None = None) -> ast.Outlet:
        return ast.Outlet(name, predicate, span)

    def on_sink(self, span: Span, name: ast.Ident, pipeline: ast.Pipeline, *clauses: Clause) -> ast.SinkDecl:
        found = self._arrange(f"sink `{name}`", clauses)
        connector = self._required(found, "to", f"sink `{name}`", name.span, "to csv(…)")
        return ast.SinkDecl(name, pipeline, connector, found["order"].value if "order" in found else None, span)

    def on_operator(self, span: Span, name: ast.Ident, inputs: tuple[ast.StreamRef, ...],
                    *rest: Clause | ast.Alternate) -> ast.OperatorDecl:
        alternates = tuple(part for part in rest if isinstance(part, ast.Alternate))
        found = self._arrange(f"operator `{name}`", tuple(part for part in rest if isinstance(part, Clause)))
        value = {word: clause.value for word, clause in found.items()}
        return ast.OperatorDecl(name, inputs, value.get("by", ()), value.get("window"), value.get("order"),
                                value.get("pattern"), value.get("expire"), value.get("->"), alternates, span)

    def on_alternate(self, span: Span, name: ast.Ident, *rest: Any) -> ast.Alternate:
        *clauses, body = rest
        found = self._arrange(f"alternate `{name}`", tuple(clauses))
        value = {word: clause.value for word, clause in found.items()}
        return ast.Alternate(name, value.get("value"), value.get("cost"), value.get("selectivity"),
                             value.get("columns", ()), self._construct_or_c(body), span)

    def on_pattern(self, span: Span, name: ast.Ident, settings: tuple[ast.Setting, ...] | None) -> ast.Pattern:
        return ast.Pattern(name, settings or (), span)

    def on_goal(self, span: Span, metric: ast.Ident, statistic: ast.Ident | None, op: ast.Ident,
                bound: ast.Expr, weight: ast.Expr | None) -> ast.GoalDecl:
        return ast.GoalDecl(metric, statistic, op.text, bound, weight, span)

    def on_minimize(self, span: Span, targets: tuple[ast.Ident, ...]) -> ast.MinimizeDecl:
        return ast.MinimizeDecl(targets, span)

    def on_control(self, span: Span, operator: ast.Ident | None, policy: ast.Ident,
                   settings: tuple[ast.Setting, ...] | None) -> ast.ControlDecl:
        return ast.ControlDecl(policy, operator, settings or (), span)

    def on_resources(self, span: Span, settings: tuple[ast.Setting, ...]) -> ast.ResourcesDecl:
        return ast.ResourcesDecl(settings, span)

    def on_cloud(self, span: Span, *entries: ast.CloudEntry | ast.CloudLatency) -> ast.CloudDecl:
        return ast.CloudDecl(entries, span)

    def on_cloud_entry(self, span: Span, kind: ast.Ident, name: ast.Ident,
                       settings: tuple[ast.Setting, ...]) -> ast.CloudEntry:
        return ast.CloudEntry(kind.text, name, settings, span)

    def on_cloud_latency(self, span: Span, origin: ast.Ident, target: ast.Ident,
                         value: ast.Expr) -> ast.CloudLatency:
        return ast.CloudLatency(origin, target, value, span)
