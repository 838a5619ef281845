"""Random programs over the rest of the language: the strategy `more_cases()`.

Windows at tuples, aggregates of the program, update and expiry, broadcast, ports, arrays, functions in C, mixed with
what `programs.py` knows. The C they call grows with the program.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.differential.aggregations import Aggregations
from tests.differential.expressions import EXACT, MODERATE, NARROW, ROUGH, Column
from tests.differential.inputs import Shape, csv_bytes, lines_bytes, shapes
from tests.differential.own_code import APP, DEFINITIONS, OWN_C
from tests.differential.programs import CHOICES, FUNCTIONS, UNITS, Builder, Case, Source, Stream


@dataclass(frozen=True, repr=False)
class MoreCase(Case):
    c: str = OWN_C


class MoreAggregations(Aggregations):
    """Also with aggregates of the program."""

    def entry(self, name: str) -> tuple[Column, str]:
        if "sketches" in self.values.functions and self.values.pick(False, False, True):
            return self.sketch(name)
        if self.values.pick(True, False, False):
            return super().entry(name)
        kind = self.values.pick("digits", "woven", "mixed", "spread", "weighted", "longest")
        match kind:
            case "spread":
                return Column(name, "f64", ROUGH), f"0.0 + spread({self.values.moderate()})"
            case "weighted":
                args = f"{self.values.moderate()}, 0 + {self.values.small_integer()}"
                return Column(name, "f64", ROUGH), f"0.0 + weighted({args})"
            case "longest":
                return Column(name, "text<12>"), f"longest({self.values.string(1)})"
            case "woven":
                return Column(name, "i64"), f"0 + woven(0 + {self.values.integer(1)}, {self.values.string(0)})"
        return Column(name, "i64"), f"0 + {kind}(0 + {self.values.integer(1)})"


    def sketch(self, name: str) -> tuple[Column, str]:
        """They hash, count and keep the greatest: the same bits however panes are combined."""
        values, place = self.values, self.values.pick(1, 2, 5)
        match values.pick("distinct", "frequency", "approx_quantile", "top", "top_count"):
            case "distinct":
                return Column(name, "i64"), f"0 + distinct(hash({values.string(0)}))"
            case "frequency":
                return Column(name, "i64"), f"0 + frequency({values.unsigned(1)}, {values.pick(0, 1, 2)})"
            case "approx_quantile":
                return Column(name, "f64", ROUGH), f"0.0 + approx_quantile({values.moderate()}, 0.9)"
            case "top":
                return Column(name, "symbol"), f"top(symbol({values.string(0)}), {place})"
        return Column(name, "i64"), f"0 + top_count(symbol({values.string(0)}), {place})"


@dataclass
class MoreBuilder(Builder):
    c: list[str] = field(default_factory=list)

    def aggregations(self, stream: Stream, keys: list[str], **how) -> MoreAggregations:
        return MoreAggregations(self, stream, keys, **how)

    # --- sources ------------------------------------------------------------------------------------

    def arriving_source(self) -> None:
        name = self.fresh("in")
        fields = [Column(n, self.pick("i64", "i8", "f64", "symbol", "bool"), MODERATE) for n in self.some_names(3)]
        self.sources.append(Source(name, tuple(fields), None, "csv"))
        self.add(name, f'source {name}: {self.record(fields)} = csv("{name}.csv") processing time', fields, "ns", 1.0)

    def array_source(self) -> None:
        """Its elements become plain fields at once; one index may be outside."""
        name, taken, timed = self.fresh("in"), self.fresh("s"), self.chance(70)
        types = [self.pick("f64", "i32", "u8", "symbol", "text<4>", "bool") for _ in range(2)]
        arrays = [("v", types[0], (3,)), ("m", types[1], (2, 2))]
        flat = [Column(f"v[{i}]", types[0], MODERATE) for i in range(3)]
        flat += [Column(f"m[{i}][{j}]", types[1], MODERATE) for i in range(2) for j in range(2)]
        flat += [Column("at", "i8"), *([Column("ts", f"timestamp<{self.unit}>")] if timed else [])]
        self.records.append(f"record A{name} {{ " + ", ".join(
            [f"{n}: {t}{''.join(f'[{s}]' for s in sizes)}" for n, t, sizes in arrays]
            + [f"{c.name}: {c.type}" for c in flat[7:]]) + " }")
        self.sources.append(Source(name, tuple(flat), "ts" if timed else None, "csv"))
        time = f" event time ts{self.slack(self.unit)}" if timed else ""
        self.lines.append(f'source {name}: A{name} = csv("{name}.csv"){time}')
        self.lines.append(f'sink all_{name} = {name} to csv("all_{name}.csv")')
        index = self.pick("1", "at", "at % 3", "at - 1")
        made = [(Column("x", types[0], MODERATE), f"v[{index}]"),
                (Column("k", types[1], MODERATE), f"m[{self.pick('0', 'at')}][1]"),
                (Column("at", "i8"), "at"), *([(flat[-1], "ts")] if timed else [])]
        body = ", ".join(f"{c.name}: {text}" for c, text in made)
        self.add(taken, f"stream {taken} = {name} |> map {{ {body} }}", [c for c, _ in made],
                 self.unit if timed else None, 1.0)

    def arrays(self) -> None:
        """An array made from fields, and taken apart again."""
        stream, name = self.any_stream(), self.fresh("s")
        values = self.expressions(stream.columns)
        pair = self.pick(f"[{values.integer(1)}, {values.integer(1)}]",
                         f"(if {values.truth(1)} then [1, 2] else [{values.integer(0)}, 4])")
        text = (f"stream {name} = {self.head(stream)} |> map {{ pair: {pair}, at: {values.integer(0)}, "
                f"s: {values.string(0)} }} "
                f"|> map {{ first: 0 + pair[0], some: 0 + pair[at], swapped: [pair[1], pair[0]], s }}")
        self.lines.append(text)
        self.lines.append(f'sink {name}_out = {name} to csv("{name}_out.csv")')
        apart = self.fresh("s")
        self.add(apart, f"stream {apart} = {name} |> map {{ first: first + swapped[0], some }}",
                 (Column("first", "i64"), Column("some", "i64")), stream.unit, stream.factor)

    # --- windows ------------------------------------------------------------------------------------

    def window(self, stream: Stream) -> tuple[str, bool, float]:
        kind = self.pick("old", "delta", "delta", "count", "time")
        if kind == "time" and stream.unit:
            return f"time {self.pick(10, 1, 7, 60)}{stream.unit} every tuple", True, 1.0
        if kind == "count":
            return f"count {self.pick(4, 1, 3, 10)} every tuple", False, 1.0
        return self.delta(stream) if kind == "delta" else super().window(stream)

    def delta(self, stream: Stream) -> tuple[str, bool, float]:
        times = [c for c in stream.columns if c.type == f"timestamp<{stream.unit}>"]
        values = self.expressions(stream.columns)
        if times and self.chance(25):
            return f"delta {self.pick(7, 0, 30)}{stream.unit} of {self.pick(*times).name}", False, 0.5
        numbers = [*values.of(*NARROW, "u64"), *values.of("f32", "f64", levels=(MODERATE, EXACT))]
        if numbers and self.chance(70):
            column = self.pick(*numbers)
            threshold = self.pick("1.5", "0.0", "40.0") if column.type.startswith("f") else self.pick(0, 1, 3)
            return f"delta {threshold} of {column.name}", False, 0.5
        if self.chance(40):
            return f"delta {self.pick('0.0', '1.5', '20.0')} of 0.0 + {values.real(1)}", False, 0.5
        if self.chance(25):
            return f"delta {self.pick(0, 2, 5)} of u64(0) + {values.unsigned(1)}", False, 0.5
        return f"delta {self.pick(0, 1, 3)} of {values.integer(1)}", False, 0.5

    def aggregate(self) -> None:
        stream, name = self.any_stream(limit=20), self.fresh("s")
        keys = self.keys(stream)
        window, bounds, factor = self.window(stream)
        body, columns = self.aggregations(stream, keys, bounds=bounds).body()
        by = f" |> by {', '.join(keys)}" if keys else ""
        self.add(name, f"stream {name} = {self.head(stream)}{by} |> window {window} |> aggregate {body}", columns,
                 stream.unit, stream.factor * factor)

    def scan(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        keys = self.keys(stream)
        body, columns = self.aggregations(stream, keys, running=True).body()
        by = f" |> by {', '.join(keys)}" if keys else ""
        self.add(name, f"stream {name} = {self.head(stream)}{by} |> scan {body}", columns, stream.unit, stream.factor)

    def expiring(self) -> None:
        stream, name = self.any_stream(limit=20), self.fresh("op")
        keys = self.keys(stream, 90)
        window, bounds, factor = self.window(stream)
        body, columns = self.aggregations(stream, keys, bounds=bounds).body()
        by = f" by {', '.join(keys)}" if keys else ""
        clauses = f"{by} window {window}{self.expiry(stream)}"
        self.add(name, f"operator {name} on {stream.name}{clauses} -> {self.record(columns)} {{\n"
                 f"  alternate one = {body}\n}}", columns, stream.unit, stream.factor * factor)

    def expiry(self, stream: Stream) -> str:
        return f" expire after {self.pick(10, 1, 40)}{stream.unit or 'ns'}"

    # --- state --------------------------------------------------------------------------------------

    def update(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        keys = self.keys(stream)
        acc, real, word = (self.fresh(part) for part in ("acc", "real", "word"))
        state = [Column(acc, "i64"), Column(real, "f64"), Column(word, self.pick("symbol", "text<4>"))]
        values = self.expressions([*stream.columns, *state])
        following = [f"{acc}: {values.integer()}", f"{real}: {values.real()}", f"{word}: {values.string()}"]
        made = self.columns(2, values)
        body = ", ".join([*(f"{c.name}: {text}" for c, text in made), acc])
        by = f" |> by {', '.join(keys)}" if keys else ""
        expire = self.expiry(stream) if self.chance(40) else ""
        self.add(name, f"stream {name} = {self.head(stream)}{by} |> update "
                 f'{{ {acc}: i64 = 3, {real}: f64 = 0.5, {word}: {state[2].type} = "ab" }} '
                 f"with {{ {', '.join(following[:self.pick(1, 2, 3)])} }} emit {{ {body} }}{expire}",
                 [*(c for c, _ in made), state[0]], stream.unit, stream.factor)

    def broadcast(self) -> None:
        left = self.any_stream()
        right = self.pick(*self.streams)
        if right.name == left.name:
            right = Stream(self.fresh("s"), left.columns, left.unit, left.factor)
            self.add(right.name, f"stream {right.name} = {self.head(left, always=True)}", right.columns, right.unit,
                     right.factor)
        self.read.add(right.name)
        name = self.fresh("s")
        both = [Column(f"{s.name}.{c.name}", c.type, c.level) for s in (left, right) for c in s.columns]
        made = [(Column(n, c.type, c.level), c.name) for n, c in
                zip(self.some_names(min(3, len(both))), self.draw(st.permutations(both))[:3], strict=True)]
        body = ", ".join(f"{c.name}: {text}" for c, text in made)
        self.add(name, f"stream {name} = {self.head(left)} |> broadcast {right.name} {{ {body} }}",
                 [c for c, _ in made], left.unit, left.factor)

    # --- C ------------------------------------------------------------------------------------------

    def calls(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        values = self.expressions(stream.columns)
        texts = [c.name for c in stream.columns if c.type in ("text<4>", "text<12>")] or ['"abc"']
        body = f"n: c_whole(0 + {values.integer(1)}, {values.literal()}), word: c_tail({self.pick(*texts)})"
        self.add(name, f"stream {name} = {self.head(stream)} |> map {{ {body} }}",
                 (Column("n", "i64"), Column("word", "text<12>")), stream.unit, stream.factor)

    def plain(self) -> tuple[Stream, str]:
        """A stream of a record that C can name: f, g, k."""
        stream, name = self.any_stream(limit=20), self.fresh("s")
        values = self.expressions(stream.columns)
        columns = (Column("f", "i64"), Column("g", "f64"), Column("k", "symbol"))
        record = self.record(columns)
        body = f"f: {values.integer()}, g: {values.real()}, k: {values.string()}"
        self.add(name, f"stream {name} = {self.head(stream)} |> map {{ {body} }} -> {record}", columns, stream.unit,
                 stream.factor)
        self.read.add(name)
        return self.streams[-1], f"{APP}_{record}"

    def c_update(self) -> None:
        (stream, record), name = self.plain(), self.fresh("s")
        by = self.pick("", " |> by k", " |> by k, f")
        expire = self.expiry(stream) if self.chance(40) else ""
        self.c.append(f"void next_{name}({APP}_{name}_state *state, const {record} *tuple)\n{{\n"
                      "    state->total = (int64_t)((uint64_t)state->total * 3 + (uint64_t)tuple->f);\n"
                      "    state->last[0] = state->last[1];\n    state->last[1] = tuple->k;\n}\n")
        state = 'total: i64 = 7, last: symbol[2] = ["", "a"]'
        self.add(name, f"stream {name} = {stream.name}{by} |> update {{ {state} }} "
                 f"with c(\"own.c\", \"next_{name}\") emit {{ f, total, word: last[0], g }}{expire}",
                 (Column("f", "i64"), Column("total", "i64"), Column("word", "symbol"), Column("g", "f64")),
                 stream.unit, stream.factor)

    def ports(self) -> None:
        (stream, record), name = self.plain(), self.fresh("op")
        good, bad = (Column("f", "i64"), Column("k", "symbol")), (Column("n", "i64"), Column("g", "f64"))
        records = self.record(good), self.record(bad)
        clauses = ""
        if self.chance(60):
            window, _, _ = self.window(stream)
            clauses = self.pick("", " by k") + f" window {window}" + (self.expiry(stream) if self.chance(30) else "")
        taken = f"const {APP}_{name}_window *window" if clauses else f"const {record} *tuple"
        first = "    const " + record + " *tuple = &window->tuples[window->count - 1];\n" if clauses else ""
        count = "(int64_t)window->count + window->times[0]" if clauses else "1"
        self.c.append(f"bool do_{name}({taken}, {APP}_{name}_outputs *result)\n{{\n{first}"
                      "    result->good.f = tuple->f;\n    result->good.k = tuple->k;\n    result->bad.g = tuple->g;\n"
                      f"    result->bad.n = {count};\n    result->has_good = tuple->f % 3 != 0;\n"
                      "    result->has_bad = tuple->f % 2 == 0;\n    return tuple->f % 5 != 4;\n}\n")
        given = f"{{ good: {records[0]}, bad: {records[1]} }}"
        self.lines.append(f"operator {name} on {stream.name}{clauses} -> {given} {{\n"
                          f"  alternate one = c(\"own.c\", \"do_{name}\")\n}}")
        for port, columns in (("good", good), ("bad", bad)):
            self.add(f"{name}_{port}", f"stream {name}_{port} = {name}.{port}", columns, stream.unit, stream.factor)

    def c_columns(self) -> None:
        """C over columns of a window, beside an alternate that reads values of its own."""
        (stream, _), name = self.plain(), self.fresh("op")
        window, _, factor = self.window(stream)
        by = self.pick("", " by k", " by k, f")
        columns = (Column("f", "i64"), Column("k", "symbol"), Column("n", "i64"), Column("g", "f64", ROUGH))
        record = self.record(columns)
        self.c.append(f"bool do_{name}(const {APP}_{name}_one_columns *window, {APP}_{record} *result)\n{{\n"
                      "    for (size_t i = 0; i < window->count; i++) {\n"
                      "        result->f = (int64_t)((uint64_t)result->f * 3 + (uint64_t)window->f[i]);\n"
                      "        result->g = 0.5 * result->g + window->g[i];\n    }\n"
                      f"    result->k = {'window->key.k' if by else 'window->k[0]'};\n"
                      "    result->n = (int64_t)window->count + window->end;\n    return result->f % 5 != 4;\n}\n")
        read = self.pick("g, f", "f, g, k") if by else self.pick("k, g, f", "f, k, g")
        other = self.pick("f: sum(7 / f), k: last(k), n: count(), g: median(g)",
                          "f: max(f), k: first(k), n: 1, g: avg(g)")
        self.add(name, f"operator {name} on {stream.name}{by} window {window} -> {record} {{\n"
                 f"  alternate one columns {read} = c(\"own.c\", \"do_{name}\")\n"
                 f"  alternate two value 0.5 = {{ {other} }}\n}}", columns, stream.unit, stream.factor * factor)

    # --- the whole ----------------------------------------------------------------------------------

    def step(self) -> None:
        kind = self.pick("aggregate", "aggregate", "aggregate", "windows", "windows", "scan", "expiring", "update",
                         "update", "broadcast", "broadcast", "calls", "c_update", "ports", "c_columns", "arrays", "old")
        super().step() if kind == "old" else getattr(self, kind)()

    def text(self) -> str:
        functions = [FUNCTIONS[name] for name in self.functions]
        return "\n".join([f"app {APP}", "use std.text", DEFINITIONS, *self.records, *functions, *self.lines,
                          "control off", ""])


def file_of(source: Source, shape: Shape) -> bytes:
    return lines_bytes(shape) if source.connector == "lines" else csv_bytes(list(source.columns), source.time, shape)


@st.composite
def more_cases(draw, most_rows: int = 120, data_sets: int = 2, sketches: bool = False) -> MoreCase:
    builder = MoreBuilder(draw, draw(st.sampled_from(UNITS)))
    more = (["sketches"], ["sketches", "statistics"]) if sketches else ()
    builder.functions = draw(st.sampled_from((*CHOICES, *more)))
    for _ in range(draw(st.sampled_from((1, 1, 2, 2, 3)))):
        getattr(builder, builder.pick("source", "source", "source", "array_source", "arriving_source"))()
    for _ in range(draw(st.sampled_from((1, 2, 3, 4, 5)))):
        builder.step()
    sinks = builder.sinks()
    inputs = tuple({f"{source.name}.csv": file_of(source, draw(shapes(most_rows, number == 0)))
                    for source in builder.sources} for number in range(data_sets))
    return MoreCase(builder.text(), tuple(sinks), tuple(builder.alternates), inputs, ((),) * data_sets,
                    "\n".join([OWN_C, *builder.c]))
