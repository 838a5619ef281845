"""Parse tree to `ast`: clauses, windows and the stages of a pipeline."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import ast
from .build_expressions import ExpressionBuilder
from .diagnostics import Note
from .span import Span


class Clause(NamedTuple):
    """A clause before it found its place. `word` opens it; `value` is None for a bare word."""

    word: str
    value: Any
    span: Span


class StageBuilder(ExpressionBuilder):
    # --- clauses ---

    def on_clause(self, span: Span, word: ast.Ident, value: Any = None) -> Clause:
        return Clause(word.text, value, span)

    def _arrange(self, owner: str, clauses: tuple[Clause, ...]) -> dict[str, Clause]:
        """Clauses by their first word. A second one of a kind is a mistake, and the first is kept."""
        found: dict[str, Clause] = {}
        for clause in clauses:
            first = found.setdefault(clause.word, clause)
            if first is not clause:
                self.diagnostics.add("E0020", clause.span, f"`{clause.word}` is given twice for {owner}",
                                     expected=f"`{clause.word}` at most once",
                                     notes=(Note("first given here", first.span),))
        return found

    def _required(self, found: dict[str, Clause], word: str, owner: str, span: Span, form: str) -> Any:
        if word in found:
            return found[word].value
        self._error("E0021", span, f"{owner} needs `{form}`", expected=f"`{form}`")
        return None

    # --- windows ---

    def _window_options(self, kind: str, allowed: tuple[str, ...], options: tuple[Clause, ...]) -> dict[str, Clause]:
        found = self._arrange(f"the {kind} window", options)
        for word, clause in found.items():
            if word not in allowed:
                takes = " and ".join(f"`{word}`" for word in allowed) or "no options"
                self._error("E0022", clause.span, f"a {kind} window takes no `{word}`",
                            expected=f"a {kind} window takes {takes}")
        return found

    def on_count_window(self, span: Span, size: ast.Expr, *options: Clause) -> ast.CountWindow:
        found = self._window_options("count", ("slide", "partial", "every"), options)
        return ast.CountWindow(size, self._slide(found), "partial" in found, "every" in found, span)

    def on_time_window(self, span: Span, size: ast.Expr, *options: Clause) -> ast.TimeWindow:
        found = self._window_options("time", ("slide", "every", "processing"), options)
        return ast.TimeWindow(size, self._slide(found), "every" in found, "processing" in found, span)

    def on_session_window(self, span: Span, gap: ast.Expr, *options: Clause) -> ast.SessionWindow:
        found = self._window_options("session", ("processing",), options)
        return ast.SessionWindow(gap, "processing" in found, span)

    def on_delta_window(self, span: Span, threshold: ast.Expr, value: ast.Expr, *options: Clause) -> ast.DeltaWindow:
        self._window_options("delta", (), options)
        return ast.DeltaWindow(threshold, value, span)

    def _slide(self, found: dict[str, Clause]) -> ast.Expr | None:
        if "slide" in found and "every" in found:
            self._error("E0022", found["every"].span, "a window can't have both `slide` and `every tuple`",
                        expected="one of them", notes=(Note("`slide` is given here", found["slide"].span),))
        return found["slide"].value if "slide" in found else None

    # --- pipelines ---

    def on_pipeline(self, span: Span, head: ast.StreamRef, *stages: ast.Stage) -> ast.Pipeline:
        return ast.Pipeline(head, stages, span)

    def on_stream_ref(self, span: Span, name: ast.Ident, port: ast.Ident | None) -> ast.StreamRef:
        return ast.StreamRef(name, port, span)

    def on_stream_refs(self, span: Span, *refs: ast.StreamRef) -> tuple[ast.StreamRef, ...]:
        return refs

    def on_filter_stage(self, span: Span, predicate: ast.Expr) -> ast.FilterStage:
        return ast.FilterStage(predicate, span)

    def on_map_stage(self, span: Span, construct: ast.Construct, result: ast.Ident | None) -> ast.MapStage:
        return ast.MapStage(construct, result, span)

    def on_flatmap_stage(self, span: Span, sequence: ast.Expr, result: ast.Ident) -> ast.FlatMapStage:
        return ast.FlatMapStage(sequence, result, span)

    def on_union_stage(self, span: Span, others: tuple[ast.StreamRef, ...]) -> ast.UnionStage:
        return ast.UnionStage(others, span)

    def on_join_stage(self, span: Span, other: ast.StreamRef, *rest: Any) -> ast.JoinStage:
        *clauses, construct, result = rest
        found = self._arrange("the join", tuple(clauses))
        keys = self._required(found, "by", "the join", other.span, "by key")
        within = self._required(found, "within", "the join", other.span, "within 500ms")
        return ast.JoinStage(other, keys, within, construct, result, span)

    def on_join_keys(self, span: Span, *keys: ast.JoinKey) -> tuple[ast.JoinKey, ...]:
        return keys

    def on_join_key(self, span: Span, left: ast.Ident, right: ast.Ident | None) -> ast.JoinKey:
        return ast.JoinKey(left, right or left, span)

    def on_broadcast_stage(self, span: Span, other: ast.StreamRef, construct: ast.Construct,
                           result: ast.Ident | None) -> ast.BroadcastStage:
        return ast.BroadcastStage(other, construct, result, span)

    def on_by_stage(self, span: Span, keys: tuple[ast.Ident, ...]) -> ast.ByStage:
        return ast.ByStage(keys, span)

    def on_window_stage(self, span: Span, window: ast.Window) -> ast.WindowStage:
        return ast.WindowStage(window, span)

    def on_aggregate_stage(self, span: Span, construct: ast.Construct,
                           result: ast.Ident | None) -> ast.AggregateStage:
        return ast.AggregateStage(construct, result, span)

    def on_scan_stage(self, span: Span, construct: ast.Construct, result: ast.Ident | None) -> ast.ScanStage:
        return ast.ScanStage(construct, result, span)

    def on_state(self, span: Span, *fields: ast.StateField) -> tuple[ast.StateField, ...]:
        return fields

    def on_state_field(self, span: Span, name: ast.Ident, type_: ast.TypeRef, initial: ast.Expr) -> ast.StateField:
        return ast.StateField(name, type_, initial, span)

    def on_emitted(self, span: Span, construct: ast.Construct,
                   result: ast.Ident | None) -> tuple[ast.Construct, ast.Ident | None]:
        return construct, result

    def on_update_stage(self, span: Span, state: tuple[ast.StateField, ...], *clauses: Clause) -> ast.UpdateStage:
        found = self._arrange("the update", clauses)
        after = self._required(found, "with", "the update", span, "with { … }")
        construct, result = self._required(found, "emit", "the update", span, "emit { … }") or (None, None)
        expire = found["expire"].value if "expire" in found else None
        return ast.UpdateStage(state, after and self._construct_or_c(after), construct, result, expire, span)
