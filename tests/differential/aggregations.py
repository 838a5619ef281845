"""Random bodies of windows and scans: every aggregate, keys, bounds, and arithmetic on what is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tests.differential.expressions import EXACT, NARROW, ROUGH, Column

if TYPE_CHECKING:
    from tests.differential.programs import Builder, Stream


class Aggregations:
    """`running` for a scan, which may also name fields of the tuple at hand; `bounds` for windows over time;
    `combined` for what can be combined from panes that others share."""

    def __init__(self, builder: Builder, stream: Stream, keys: list[str], running: bool = False, bounds: bool = False,
                 combined: bool = False):
        self.builder, self.stream, self.keys, self.running, self.bounds = builder, stream, keys, running, bounds
        self.combined = combined
        self.values = builder.expressions(stream.columns, faulty=not combined)

    def body(self) -> tuple[str, list[Column]]:
        """`{ … }` and the columns it makes: some keys, then aggregates."""
        kept = [c for c in self.stream.columns
                if (c.name in self.keys or self.running) and self.builder.chance(70 if c.name in self.keys else 30)]
        names = [n for n in self.builder.some_names(self.builder.draw(st.integers(1, 4)))
                 if n not in {c.name for c in kept}] or ["total"]
        made = [self.entry(name) for name in names]
        entries = [c.name for c in kept] + [f"{column.name}: {text}" for column, text in made]
        return f"{{ {', '.join(entries)} }}", [*kept, *(column for column, _ in made)]

    def body_for(self, columns: list[Column]) -> str:
        """Another body for the same record: conversions by storing make most values fit."""
        return f"{{ {', '.join(f'{c.name}: {self.value_for(c)}' for c in columns)} }}"

    def value_for(self, column: Column) -> str:
        if column.name in self.keys and column in self.stream.columns:
            return column.name
        if column.type in ("f32", "f64") and column.level == ROUGH:
            return self.rough()
        if column.type in (*NARROW, "u64"):
            return self.integer()
        return f"{self.values.pick('first', 'last')}({self.like(column)})"

    def like(self, column: Column) -> str:
        """A value of the tuple that can be stored into the column."""
        same = [c for c in self.stream.columns if c.type == column.type and c.level in (EXACT, column.level)]
        kind = column.type.split("<")[0]
        if same:
            return self.values.pick(*same).name
        return {"bool": self.values.truth, "symbol": self.values.string, "text": self.values.string,
                "f32": self.values.real, "f64": self.values.real}.get(kind, self.values.integer)(1)

    # --- entries ------------------------------------------------------------------------------------

    def entry(self, name: str) -> tuple[Column, str]:
        bounds = ["bound"] * 2 * self.bounds
        kind = self.values.pick("integer", "integer", "rough", "rough", "edge", "edge", "unsigned", *bounds)
        if kind == "integer":
            return Column(name, "i64"), f"0 + {self.integer()}"
        if kind == "unsigned":
            function = self.values.pick("sum", "min", "max", "first")
            return Column(name, "u64"), f"u64(0) + {function}({self.plain_unsigned()})"
        if kind == "rough":
            return Column(name, "f64", ROUGH), f"0.0 + {self.rough()}"
        if kind == "bound":
            return Column(name, f"timestamp<{self.stream.unit}>"), self.values.pick("window_start", "window_end")
        return self.edge(name)

    def edge(self, name: str) -> tuple[Column, str]:
        """first or last of any field, min or max of what has an order."""
        column = self.values.pick(*self.stream.columns)
        ordered = column.type not in ("bool", "symbol") and not column.type.startswith(("text", "f"))
        function = self.values.pick("first", "last", *(("min", "max") if ordered else ()))
        return Column(name, column.type, column.level), f"{function}({column.name})"

    def compared(self) -> str:
        """Each tuple with an aggregate of the whole window."""
        inner = self.values.pick("count()", self.whole("min"), self.whole("max"), self.whole("last"))
        return f"sum(if {self.values.integer(1)} {self.values.pick('>', '<=', '==')} {inner} then 1 else 0)"

    def integer(self) -> str:
        if not self.running and not self.combined and self.values.pick(*[False] * 9, True):
            return self.compared()
        one = self.values.pick("count()", self.whole("sum"), self.whole("min"), self.whole("max"), self.whole("last"))
        if self.values.pick(False, False, True):
            other = self.values.pick("count()", self.whole("first"))
            return f"({one} {self.values.pick('+', '-', '*', '/', '%')} {other})"
        return one

    def whole(self, function: str) -> str:
        """Signed: the sum of what is unsigned would be u64, which does not mix."""
        return f"{function}({'0 + ' if function == 'sum' else ''}{self.values.integer(1)})"

    def plain_unsigned(self) -> str:
        narrow = self.values.of("u8", "u16", "u32")
        return self.values.pick(self.values.unsigned(1), *(c.name for c in narrow))

    def rough(self) -> str:
        value = self.values.moderate()
        functions = ["avg", "sum", "min", "max", "stddev", "stddev_pop", "first"]
        function = self.values.pick(*functions, *([] if self.combined else ["median", "quantile", "ewma"]))
        setting = {"quantile": f", {self.values.pick('0.5', '0.0', '1.0', '0.9', '0.25')}",
                   "ewma": f", {self.values.pick('0.5', '1.0', '0.1')}"}.get(function, "")
        one = f"f64({function}({value}{setting}))"
        if "statistics" in self.values.functions and self.values.pick(False, False, True):
            one = self.values.pick(f"covariance({value}, {self.values.moderate(0)})", f"geometric_mean({value})")
        other = self.values.pick("avg", "max", "sum" if self.combined else "median")
        return f"({one} - {other}({self.values.moderate(0)}))" \
            if self.values.pick(False, False, True) else one
