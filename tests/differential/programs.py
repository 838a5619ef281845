"""Random programs that type-check, with random input: the strategy `cases()`.

A program grows stream by stream. Each step takes one of the streams so far and adds one, so that chains,
diamonds, splits that meet again, joins of a stream with itself and windows of windows all come up.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from dfc.dsl.settings import ORDERS
from hypothesis import strategies as st

from tests.differential.aggregations import Aggregations
from tests.differential.expressions import EXACT, MODERATE, NARROW, ROUGH, Column, Expressions
from tests.differential.inputs import Shape, binary_bytes, csv_bytes, jsonl_bytes, lines_bytes, shapes

UNITS = ("ms", "s", "us", "ns", "min")
FIELD_NAMES = ("value", "text", "end", "late", "left", "step", "int", "double", "for", "t", "x", "s", "k", "p", "out",
               "faults", "time", "key", "main", "symbols", "NULL", "errno", "count", "window")
TYPES = (*NARROW, "u64", "f32", "f64", "f64", "bool", "symbol", "symbol", "text<4>", "text<12>")
FUNCTIONS = {"whole": "fn whole(a: i64, b: i64) -> i64 = if a < b then a * 3 + b else b - a",
             "scaled": "fn scaled(x: f64, n: i64) -> f64 = x * n / 4.0",
             "many": "param many: int = 7", "share": "param share: float = 0.75",
             "calendar": "use std.time", "statistics": "use std.stats", "sketches": "use std.sketch"}
CHOICES = ([], ["whole", "scaled"], ["many", "share", "calendar"], ["calendar", "statistics", "many", "scaled"])
STEPS = ("aggregate", "aggregate", "aggregate", "filter", "map", "map", "flatmap", "split", "union", "union", "scan",
         "scan", "join", "join", "operator", "windows", "windows")
MOST_COLUMNS = 7


@dataclass(frozen=True)
class Stream:
    """`factor` is a guess at how many tuples there are for one of a source: what multiplies them is kept rare."""

    name: str
    columns: tuple[Column, ...]
    unit: str | None
    factor: float = 1.0


@dataclass(frozen=True)
class Source:
    name: str
    columns: tuple[Column, ...]
    time: str | None
    connector: str


@dataclass(frozen=True)
class Case:
    """A program, the names of its sinks and alternates, and one or more sets of input files."""

    text: str
    sinks: tuple[str, ...]
    alternates: tuple[tuple[str, tuple[str, ...]], ...]
    inputs: tuple[dict[str, bytes], ...]
    choices: tuple[tuple[tuple[str, str], ...], ...]
    imported: str = field(default="", kw_only=True)  # parts.dfl

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        """How Hypothesis shows it."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        files = [{name: data.decode(errors="backslashreplace") for name, data in one.items()} for one in self.inputs]
        shown = "\n".join(f"--- {name}\n{text}" for one in files for name, text in one.items())
        return f"Case\n{self.text}--- parts.dfl\n{self.imported}{shown}\n--- alternates {self.choices}"


@dataclass
class Builder:
    """The program so far."""

    draw: object
    unit: str
    streams: list[Stream] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    records: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    alternates: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    names: int = 0
    formats: tuple[str, ...] = ("csv",)  # of sources and sinks

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def chance(self, percent: int) -> bool:
        return self.draw(st.sampled_from(range(100))) >= 100 - percent

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def record(self, columns: list[Column] | tuple[Column, ...]) -> str:
        name = self.fresh("R")
        self.records.append(f"record {name} {{ {', '.join(f'{c.name}: {c.type}' for c in columns)} }}")
        return name

    def expressions(self, columns, faulty: bool = True) -> Expressions:
        return Expressions(self.draw, list(columns), self.functions, faulty)

    def add(self, name: str, text: str, columns, unit: str | None, factor: float) -> None:
        self.lines.append(text)
        self.streams.append(Stream(name, tuple(columns), unit, factor))

    def any_stream(self, timed: bool = False, limit: float = 1e9) -> Stream | None:
        """Mostly one that nobody has read yet, so that programs get deep."""
        found = [s for s in self.streams if (s.unit or not timed) and s.factor <= limit]
        unread = [s for s in found if s.name not in self.read]
        if unread and self.chance(70):
            found = unread
        if not found:
            return None
        chosen = self.pick(*found)
        self.read.add(chosen.name)
        return chosen

    def head(self, stream: Stream, always: bool = False) -> str:
        """The beginning of a pipeline; sometimes with a filter before what follows."""
        if always or self.chance(20):
            return f"{stream.name} |> filter {self.expressions(stream.columns).mild()}"
        return stream.name

    def columns(self, names: int, values: Expressions) -> list[tuple[Column, str]]:
        """New fields with the expressions that compute them."""
        made = []
        for name in self.some_names(names):
            kind = self.pick("i64", "i64", "i64", "calendar", "u64", "exact", "rough", "moderate", "bool", "symbol")
            text, type_, level = {
                "i64": lambda: (f"0 + {values.integer()}", "i64", EXACT),
                "calendar": lambda: (f"0 + {values.calendar() or values.literal()}", "i64", EXACT),
                "u64": lambda: (f"u64(0) + {values.unsigned()}", "u64", EXACT),
                "exact": lambda: (f"0.0 + {values.real()}", "f64", EXACT),
                "rough": lambda: (f"0.0 + {values.rough()}", "f64", ROUGH),
                "moderate": lambda: (f"0.0 + {values.moderate()}", "f64", ROUGH),
                "bool": lambda: (values.truth(), "bool", EXACT),
                "symbol": lambda: (f"symbol({values.string()})", "symbol", EXACT)}[kind]()
            made.append((Column(name, type_, level), text))
        return made

    def some_names(self, count: int) -> list[str]:
        return self.draw(st.lists(st.sampled_from(FIELD_NAMES), min_size=count, max_size=count, unique=True))

    # --- sources ------------------------------------------------------------------------------------

    def source(self) -> None:
        name, timed = self.fresh("in"), self.chance(80)
        if not timed and self.chance(30):
            return self.lines_source(name)
        fields = [Column(n, self.pick(*TYPES), MODERATE) for n in self.some_names(self.draw(st.integers(1, 4)))]
        if timed:
            unit = self.unit if self.chance(90) else self.pick(*UNITS)
            fields.insert(self.draw(st.integers(0, len(fields))), Column("ts", f"timestamp<{unit}>"))
        record = self.record(fields)
        clauses = [f"  event time ts{self.slack(unit)}"] if timed else []
        late = self.fresh("late") if timed and self.chance(30) else ""
        clauses += [f"  late to {late}"] if late else []
        kind = self.pick(*self.formats)
        self.sources.append(Source(name, tuple(fields), "ts" if timed else None, kind))
        text = "\n".join([f'source {name}: {record} = {kind}("{name}.{kind}")', *clauses])
        self.add(name, text, fields, unit if timed else None, 1.0)
        if late:
            self.streams.append(Stream(late, tuple(fields), unit, 0.2))
        return None

    def lines_source(self, name: str) -> None:
        fields = (Column("text", self.pick("text<40>", "symbol")),)
        self.sources.append(Source(name, fields, None, "lines"))
        self.add(name, f'source {name}: {self.record(fields)} = lines("{name}.csv")', fields, None, 1.0)

    def slack(self, unit: str) -> str:
        return self.pick("", " slack auto", f" slack 6{unit}", f" slack 50{unit}")

    # --- stateless steps ----------------------------------------------------------------------------

    def filter(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        self.add(name, f"stream {name} = {self.head(stream, always=True)}", stream.columns, stream.unit, stream.factor)

    def map(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        made = self.columns(self.draw(st.integers(1, 3)), self.expressions(stream.columns))
        taken = {column.name for column, _ in made}
        kept = [c for c in stream.columns if c.name not in taken and self.chance(70)][:MOST_COLUMNS - len(made)]
        body = ", ".join([*(c.name for c in kept), *(f"{c.name}: {text}" for c, text in made)])
        columns, arrow = [*kept, *(c for c, _ in made)], ""
        if self.chance(30):
            columns = [self.narrowed(c) for c in columns]
            arrow = f" -> {self.record(columns)}"
        self.add(name, f"stream {name} = {self.head(stream)} |> map {{ {body} }}{arrow}", columns, stream.unit,
                 stream.factor)

    def narrowed(self, column: Column) -> Column:
        """The field as a declared record might have it: storing converts."""
        if column.type in NARROW or column.type == "u64":
            return Column(column.name, self.pick(column.type, *NARROW, "u64", "f64"), EXACT)
        if column.type in ("symbol", "text<4>", "text<12>"):
            return Column(column.name, self.pick("symbol", "text<4>", "text<12>", "text<1>"))
        if column.type == "f64" and column.level == EXACT:
            return Column(column.name, self.pick("f64", "f32", "i32", "u8"), EXACT)
        return column

    def flatmap(self) -> None:
        stream = self.any_stream(limit=8)
        texts = [c for c in stream.columns if c.type == "symbol" or c.type.startswith("text")]
        if not texts:
            return self.map()
        name, separator = self.fresh("s"), self.pick(" ", "", "a", "b b")
        columns = (Column("word", self.pick("symbol", "text<3>", "text<12>")),)
        text = f'split({self.pick(*texts).name}, "{separator}") -> {self.record(columns)}'
        self.add(name, f"stream {name} = {self.head(stream)} |> flatmap {text}", columns, stream.unit,
                 stream.factor * 2)
        return None

    def split(self) -> None:
        stream = self.any_stream()
        values = self.expressions(stream.columns)
        names = [self.fresh("s") for _ in range(self.draw(st.integers(2, 3)))]
        outlets = [f"{name} when {values.mild()}" for name in names[:-1]]
        last = f"{names[-1]} otherwise" if self.chance(70) else f"{names[-1]} when {values.truth()}"
        self.lines.append(f"split {self.head(stream)} into {', '.join([*outlets, last])}")
        self.streams += [Stream(name, stream.columns, stream.unit, stream.factor / 2) for name in names]

    def union(self) -> None:
        """Of streams that fit; a branch of the same stream is made when there is none."""
        stream, name = self.any_stream(limit=8), self.fresh("s")
        fields = {(c.name, c.type) for c in stream.columns}
        fitting = [s for s in self.streams if s.name != stream.name and s.unit == stream.unit
                   and {(c.name, c.type) for c in s.columns} == fields and s.factor <= 8]
        if not fitting:
            other = self.fresh("s")
            self.add(other, f"stream {other} = {self.head(stream, always=self.chance(70))}", stream.columns,
                     stream.unit, stream.factor)
            fitting = [self.streams[-1]]
        others = self.draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=2, unique=True))
        self.read.update(s.name for s in others)
        columns = [c if all(c in s.columns for s in others) else Column(c.name, c.type, ROUGH) for c in stream.columns]
        self.add(name, f"stream {name} = {self.head(stream)} |> union {', '.join(s.name for s in others)}", columns,
                 stream.unit, stream.factor + sum(s.factor for s in others))

    # --- steps with state ---------------------------------------------------------------------------

    def keys(self, stream: Stream, percent: int = 75) -> list[str]:
        found = [c.name for c in stream.columns if c.is_key]
        return self.draw(st.lists(st.sampled_from(found), min_size=1, max_size=2, unique=True)) \
            if found and self.chance(percent) else []

    def scan(self) -> None:
        stream, name = self.any_stream(), self.fresh("s")
        keys = self.keys(stream)
        body, columns = Aggregations(self, stream, keys, running=True).body()
        by = f" |> by {', '.join(keys)}" if keys else ""
        self.add(name, f"stream {name} = {self.head(stream)}{by} |> scan {body}", columns, stream.unit, stream.factor)

    def window(self, stream: Stream) -> tuple[str, bool, float]:
        """A window, whether it has bounds, and how much it multiplies."""
        kind = self.pick("time", "time", "count", "session") if stream.unit else "count"
        if kind == "session":
            return f"session gap {self.pick(10, 1, 40, 3)}{stream.unit}", True, 1.0
        return self.sliding(stream, kind, self.pick(10, 1, 7, 25, 60) if kind == "time" else
                            self.pick(4, 1, 2, 3, 7, 10))

    def sliding(self, stream: Stream, kind: str, size: int) -> tuple[str, bool, float]:
        slide = self.pick(*(s for s in (size, 1, 2, 3, 4, 7, 15, 30) if size <= 8 * s))
        unit = stream.unit if kind == "time" else ""
        partial = " partial" if kind == "count" and self.chance(40) else ""
        sliding = f" slide {slide}{unit}" if slide != size else ""
        more = size / slide if kind == "time" else 1 / slide
        return f"{kind} {size}{unit}{sliding}{partial}", kind == "time", max(1.0, more)

    def aggregate(self) -> None:
        stream, name = self.any_stream(limit=20), self.fresh("s")
        keys = self.keys(stream)
        window, bounds, factor = self.window(stream)
        body, columns = Aggregations(self, stream, keys, bounds=bounds).body()
        by = f" |> by {', '.join(keys)}" if keys else ""
        self.add(name, f"stream {name} = {self.head(stream)}{by} |> window {window} |> aggregate {body}", columns,
                 stream.unit, stream.factor * factor)

    def windows(self) -> None:
        """Several over one stream with one key, so that they can share their panes."""
        stream = self.any_stream(limit=8)
        keys, kind = self.keys(stream), self.pick("time", "time", "count") if stream.unit else "count"
        expire = f" expire after {self.pick(10, 1, 40)}{stream.unit or 'ns'}" if self.chance(15) else ""
        for _ in range(self.draw(st.integers(2, 4))):
            window, bounds, factor = self.sliding(stream, kind, self.pick(10, 4, 7, 1, 12, 16, 24))
            how = self.aggregations(stream, keys, bounds=bounds, combined=self.chance(90))
            body, columns = how.body()
            name = self.fresh("op")
            alternates = [f"  alternate one value 0.5 = {body}"]
            if self.chance(25):
                alternates.append(f"  alternate two value 1.0 = {how.body_for(columns)}")
                self.alternates.append((name, ("one", "two")))
            by = f" by {', '.join(keys)}" if keys else ""
            self.add(name, f"operator {name} on {stream.name}{by} window {window}{expire} -> "
                     f"{self.record(columns)} {{\n"
                     + "\n".join(alternates) + "\n}", columns, stream.unit, stream.factor * factor)

    def aggregations(self, stream: Stream, keys: list[str], **how) -> Aggregations:
        return Aggregations(self, stream, keys, **how)

    def join(self) -> None:
        left = self.any_stream(timed=True, limit=2)
        fitting = [s for s in self.streams if left and s.unit == left.unit and s.factor <= 2
                   and {c.type for c in s.columns if c.is_key} & {c.type for c in left.columns if c.is_key}]
        if not fitting:
            return self.aggregate()
        right = self.pick(*fitting)
        if right.name == left.name:
            right = Stream(self.fresh("s"), left.columns, left.unit, left.factor)
            self.add(right.name, f"stream {right.name} = {left.name}", right.columns, right.unit, right.factor)
        self.read.add(right.name)
        name = self.fresh("s")
        by = ", ".join(self.join_keys(left, right))
        both = [Column(f"{s.name}.{c.name}", c.type, c.level) for s in (left, right) for c in s.columns]
        made = [(Column(n, c.type, c.level), c.name) for n, c in
                zip(self.some_names(min(3, len(both))), self.draw(st.permutations(both))[:3], strict=True)]
        taken = {c.name for c, _ in made}
        made += [pair for pair in self.columns(1, self.expressions(both)) if pair[0].name not in taken]
        body = ", ".join(f"{c.name}: {text}" for c, text in made)
        within = f"{self.pick(5, 0, 1, 20)}{left.unit}"
        self.add(name, f"stream {name} = {self.head(left)} |> join {right.name} by {by} within {within} {{ {body} }}",
                 [c for c, _ in made], left.unit, left.factor * right.factor * 6)
        return None

    def join_keys(self, left: Stream, right: Stream) -> list[str]:
        pairs = [(a.name, b.name) for a in left.columns for b in right.columns if a.is_key and a.type == b.type]
        chosen = self.draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2, unique_by=lambda pair: pair[0]))
        return [a if a == b else f"{a} = {b}" for a, b in chosen]

    def operator(self) -> None:
        """With two alternates that build one record, with or without a window."""
        stream, name = self.any_stream(limit=20), self.fresh("op")
        windowed = self.chance(70)
        keys = self.keys(stream) if windowed else []
        window, bounds, factor = self.window(stream) if windowed else ("", False, 1.0)
        if windowed:
            first, columns = Aggregations(self, stream, keys, bounds=bounds).body()
            second = Aggregations(self, stream, keys, bounds=bounds).body_for(columns)
        else:
            made = self.columns(2, self.expressions(stream.columns))
            columns = [c for c, _ in made]
            entries = [f"{c.name}: {text}" for c, text in made]
            first, second = f"{{ {', '.join(entries)} }}", f"{{ {', '.join(reversed(entries))} }}"
        clauses = (f" by {', '.join(keys)}" if keys else "") + (f" window {window}" if window else "")
        values = self.pick((1.0, 0.5), (0.5, 1.0), (1.0, 1.0))
        self.add(name, f"operator {name} on {stream.name}{clauses} -> {self.record(columns)} {{\n"
                 f"  alternate one value {values[0]} = {first}\n  alternate two value {values[1]} = {second}\n}}",
                 columns, stream.unit, stream.factor * factor)
        self.alternates.append((name, ("one", "two")))

    # --- the whole ----------------------------------------------------------------------------------

    def step(self) -> None:
        getattr(self, self.pick(*STEPS))()

    def sinks(self) -> list[str]:
        """One for every stream that nobody reads, and some for others."""
        names, words = [], Counter(re.findall(r"\w+", re.sub(r'"[^"]*"', "", "\n".join(self.lines))))
        for stream in self.streams:
            if words[stream.name] == 1 or self.chance(15):
                names.append(self.fresh("out"))
                kind = self.pick(*self.formats)
                order = f" order {self.pick(*ORDERS)}" if self.chance(40) else ""
                self.lines.append(f'sink {names[-1]} = {self.head(stream)} to {kind}("{names[-1]}.{kind}"){order}')
        return names

    def text(self) -> str:
        return "\n".join(["app random_program", "use std.text", *self.declarations(), *self.lines, "control off", ""])

    def text_with_import(self) -> tuple[str, str]:
        """What is declared first is in a file of its own."""
        parts = [line for line in self.declarations() if line.startswith(("record", "fn"))]
        others = [line for line in self.declarations() if line not in parts]
        head = ["app random_program", "use std.text", 'import "parts.dfl"', *others]
        return "\n".join([*head, *self.lines, "control off", ""]), "\n".join([*parts, ""])

    def declarations(self) -> list[str]:
        return [*self.records, *(FUNCTIONS[name] for name in self.functions)]


@st.composite
def cases(draw, most_rows: int = 120, data_sets: int = 2, formats: tuple[str, ...] = ("csv",),
          imports: int = 0) -> Case:
    """`imports`: of a hundred programs so many have a part in another file."""
    builder = Builder(draw, draw(st.sampled_from(UNITS)), formats=formats)
    builder.functions = draw(st.sampled_from(CHOICES))
    for _ in range(draw(st.sampled_from((1, 1, 2, 2, 3)))):
        builder.source()
    for _ in range(draw(st.sampled_from((1, 2, 3, 4, 5, 6, 7)))):
        builder.step()
    sinks = builder.sinks()
    inputs = tuple({name: data for source in builder.sources
                    for name, data in _files(source, draw(shapes(most_rows, usual=number == 0))).items()}
                   for number in range(data_sets))
    choices = tuple(_choice(draw, builder) if draw(st.booleans()) else () for _ in range(data_sets))
    text, imported = builder.text_with_import() if builder.chance(imports) else (builder.text(), "")
    return Case(text, tuple(sinks), tuple(builder.alternates), inputs, choices, imported=imported)


def _files(source: Source, shape: Shape) -> dict[str, bytes]:
    """The file that the source reads, and of a packed one that of its symbols."""
    columns = list(source.columns)
    match source.connector:
        case "lines":
            return {f"{source.name}.csv": lines_bytes(shape)}
        case "jsonl":
            return {f"{source.name}.jsonl": jsonl_bytes(columns, source.time, shape)}
        case "binary":
            packed, symbols = binary_bytes(columns, source.time, shape)
            return {f"{source.name}.binary": packed, f"{source.name}.binary.symbols": symbols}
    return {f"{source.name}.csv": csv_bytes(columns, source.time, shape)}


def _choice(draw, builder: Builder) -> tuple[tuple[str, str], ...]:
    """An alternate for every operator that has several."""
    return tuple((name, draw(st.sampled_from(options))) for name, options in builder.alternates)
