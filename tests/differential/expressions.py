"""Random expressions that type-check, by what they give.

A float is `moderate` (a small multiple of 1/8, or an infinity or NaN: sums of them are exact in any order),
`exact` (the same bits in every layout) or `rough` (an aggregate: the same to 1e-9). Nothing branches on what is
rough: it only meets sums, products with a literal, and aggregates.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

MODERATE, EXACT, ROUGH = "moderate", "exact", "rough"
NARROW = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")
STRINGS = ("", "a", "b", "ab", "B", "é", "a,b", "zz z", "b b")
EDGES = (0, 1, 2, 3, 7, 10, 100, 255, 1000, 1 << 31, (1 << 63) - 1)
REALS = ("0.0", "0.5", "1.0", "2.0", "10.25", "1000.0", "1e300", "0.1")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Column:
    """A field as an expression may name it; `level` says how reproducible a float is."""

    name: str
    type: str
    level: str = EXACT

    @property
    def is_key(self) -> bool:
        return not self.type.startswith("f")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Expressions:
    """Draws expressions over some columns. `faulty` allows integer division, which can count faults."""

    def __init__(self, draw, columns: list[Column], functions: list[str], faulty: bool = True):
        self.draw, self.columns, self.functions, self.faulty = draw, columns, functions, faulty

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def of(self, *types: str, levels: tuple[str, ...] = (MODERATE, EXACT, ROUGH)) -> list[Column]:
        return [c for c in self.columns if c.type.split("<")[0] in types and c.level in levels]

    def column(self, columns: list[Column], otherwise: str) -> str:
        return self.draw(st.sampled_from(columns)).name if columns else otherwise

    # --- integers -----------------------------------------------------------------------------------

    def literal(self) -> str:
        if "many" in self.functions and self.pick(False, False, True):
            return "many"
        value = self.pick(*EDGES)
        return str(value) if self.draw(st.booleans()) else f"(-{value})"

    def integer(self, depth: int = 2) -> str:
        kinds = ["column", "column", "literal"]
        if depth > 0:
            kinds += ["sum", "sum", "minus", "if", "cast", "extreme", "length", "real", "time", "call", "abs"]
            kinds += ["quotient", "quotient"] if self.faulty else []
        kind, less = self.pick(*kinds), depth - 1
        match kind:
            case "column":
                return self.column(self.of(*NARROW), self.literal())
            case "literal":
                return self.literal()
            case "sum":
                return f"({self.integer(less)} {self.pick('+', '-', '*')} {self.integer(less)})"
            case "quotient":
                return f"({self.integer(less)} {self.pick('/', '%')} {self.integer(less)})"
            case "minus":
                return f"(-{self.integer(less)})"
            case "if":
                return self.choice(less, self.integer)
            case "cast":
                return f"{self.pick(*NARROW)}({self.integer(less)})"
            case "real":
                return f"{self.pick('i64', 'i8', 'u32', 'i32')}({self.real(less)})"
            case "extreme":
                return f"{self.pick('least', 'greatest')}({self.integer(less)}, {self.integer(less)})"
            case "length":
                return f"length({self.string(less)})"
            case "abs":
                return f"abs({self.integer(less)})"
            case "time":
                return self.time_as_integer(less)
        return self.call("whole", self.integer(less), self.integer(less)) or self.literal()

    def time_as_integer(self, depth: int) -> str:
        times = self.of("timestamp", "duration")
        if not times:
            return f"i64({self.unsigned(depth)})"
        one = self.pick(*times)
        divisor = self.pick("3", "1000", "(-7)")
        if "calendar" in self.functions and one.type.startswith("timestamp") and self.pick(False, True):
            return self.calendar()
        return self.pick(f"i64({one.name})", f"i64({one.name} / {divisor})", f"i64({one.name} % {divisor})")

    def calendar(self) -> str:
        """A part of the date or of the time of day; "" without a time."""
        times = self.of("timestamp")
        function = self.pick("year", "month", "day", "hour", "minute", "second", "weekday", "day_of_year")
        return f"{function}({self.pick(*times).name})" if times and "calendar" in self.functions else ""

    def unsigned(self, depth: int = 2) -> str:
        kinds = ["column", "column", "cast"] + (["sum", "if", "extreme", "hash"] if depth > 0 else [])
        kinds += ["quotient"] if self.faulty and depth > 0 else []
        kind, less = self.pick(*kinds), depth - 1
        match kind:
            case "column":
                return self.column(self.of("u64"), f"u64({self.integer(0)})")
            case "sum":
                return f"({self.unsigned(less)} {self.pick('+', '-', '*')} {self.unsigned(less)})"
            case "quotient":
                return f"({self.unsigned(less)} {self.pick('/', '%')} {self.unsigned(less)})"
            case "if":
                return self.choice(less, self.unsigned)
            case "hash":
                return f"hash({self.string(less)})"
            case "extreme":
                return f"{self.pick('least', 'greatest')}({self.unsigned(less)}, {self.unsigned(less)})"
        return f"u64({self.pick(self.integer(max(less, 0)), self.real(max(less, 0)))})"

    # --- floats -------------------------------------------------------------------------------------

    def real(self, depth: int = 2) -> str:
        """Whose bits are the same everywhere."""
        kinds = ["column", "column", "literal"]
        kinds += ["sum", "quotient", "round", "if", "extreme", "integer", "minus", "cast", "call"] if depth > 0 else []
        kind, less = self.pick(*kinds), depth - 1
        match kind:
            case "column":
                return self.column(self.of("f32", "f64", levels=(MODERATE, EXACT)), self.real_literal())
            case "literal":
                return self.real_literal()
            case "sum":
                return f"({self.real(less)} {self.pick('+', '-', '*')} {self.real(less)})"
            case "quotient":
                return f"({self.real(less)} {self.pick('/', '%')} {self.real(less)})"
            case "round":
                return f"{self.pick('floor', 'ceil', 'round', 'trunc', 'sqrt', 'abs')}({self.real(less)})"
            case "if":
                return self.choice(less, self.real)
            case "extreme":
                return f"{self.pick('least', 'greatest')}({self.real(less)}, {self.real(less)})"
            case "integer":
                return f"f64({self.pick(self.integer(less), self.unsigned(less))})"
            case "minus":
                return f"(-{self.real(less)})"
            case "cast":
                return f"f32({self.real(less)})"
        return self.call("scaled", self.real(less), self.integer(less)) or self.pick(*REALS)

    def real_literal(self) -> str:
        return "share" if "share" in self.functions and self.pick(False, True) else self.pick(*REALS)

    def moderate(self, depth: int = 1) -> str:
        """A small multiple of 1/8: what float aggregates take. Rough values of that size count too."""
        kind = self.pick("column", "column", "column", "integer", *(["sum", "if"] if depth > 0 else []))
        less = depth - 1
        match kind:
            case "sum":
                return f"({self.moderate(less)} {self.pick('+ 1.5', '- 20.0', '* 0.5', '* (-1.0)')})"
            case "if":
                return self.choice(less, self.moderate)
            case "column":
                return self.column(self.of("f32", "f64", levels=(MODERATE, ROUGH)), self.small_integer())
        return f"f64({self.small_integer()})"

    def small_integer(self) -> str:
        return self.column(self.of("i8", "u8"), f"i8({self.column(self.of(*NARROW), '5')})")

    def rough(self, depth: int = 1) -> str:
        """Anything of type f64, to be written and never looked at."""
        columns = self.of("f32", "f64", levels=(ROUGH,))
        kind = self.pick("column", "sum", "times", "function") if depth > 0 else "column"
        less = depth - 1
        match kind:
            case "sum":
                return f"({self.rough(less)} {self.pick('+', '-')} {self.moderate(0)})"
            case "times":
                return f"({self.rough(less)} * {self.pick('0.1', '3.0', '(-0.5)')})"
            case "function":
                function = self.pick("sin", "cos", "exp", "log", "log2", "log10", "tan")
                return f"{function}({self.column(self.of('f64', 'f32', levels=(MODERATE,)), '0.3')} * 0.01)"
        return self.column(columns, self.moderate(0))

    # --- the rest -----------------------------------------------------------------------------------

    def truth(self, depth: int = 2) -> str:
        kinds = ["integer", "string", "real", "column", "unsigned", "time"]
        kinds += ["and", "or", "not", "nan", "text"] if depth > 0 else []
        kind, less = self.pick(*kinds), max(depth - 1, 0)
        sign = self.pick(*COMPARISONS)
        match kind:
            case "integer":
                return f"({self.integer(less)} {sign} {self.integer(less)})"
            case "unsigned":
                return f"({self.unsigned(less)} {sign} {self.unsigned(less)})"
            case "string":
                return f"({self.string(less)} {sign} {self.string(less)})"
            case "real":
                return f"({self.real(less)} {sign} {self.real(less)})"
            case "column":
                return self.column(self.of("bool"), "(1 < 2)")
            case "time":
                return self.compared_times(sign)
            case "and" | "or":
                return f"({self.truth(less)} {kind} {self.truth(less)})"
            case "not":
                return f"(not {self.truth(less)})"
            case "nan":
                return f"is_nan({self.real(less)})"
        function = self.pick("contains", "starts_with", "ends_with")
        return f"{function}({self.string(less)}, {self.string(less)})"

    def mild(self) -> str:
        """True for many tuples, so that something is left for the steps after a filter."""
        numbers, strings, truths = self.of(*NARROW), self.of("symbol", "text"), self.of("bool")
        choices = [lambda: f"(not ({self.truth(1)} and {self.truth(1)}))",
                   lambda: f"({self.truth(1)} or {self.truth(1)})", lambda: self.truth()]
        choices += [lambda: f"({self.pick(*numbers).name} % {self.pick(2, 3)} != {self.pick(0, 1)})"] * bool(numbers)
        choices += [lambda: f"({self.pick(*strings).name} != {quoted(self.pick(*STRINGS))})"] * bool(strings)
        choices += [lambda: self.pick(*truths).name] * bool(truths)
        return self.pick(*choices)()

    def compared_times(self, sign: str) -> str:
        times = self.of("timestamp")
        one = self.draw(st.sampled_from(times)) if times else None
        if one is None:
            return f"({self.integer(0)} {sign} {self.integer(0)})"
        other = self.draw(st.sampled_from([c for c in times if c.type == one.type]))
        return f"({one.name} {sign} {self.pick(other.name, '250')})"

    def string(self, depth: int = 1) -> str:
        kinds = ["column", "column", "literal"] + (["if", "case"] if depth > 0 else [])
        kind, less = self.pick(*kinds), depth - 1
        match kind:
            case "column":
                return self.column(self.of("symbol", "text"), quoted(self.pick(*STRINGS)))
            case "if":
                return self.choice(less, self.string)
            case "case":
                return f"{self.pick('lower', 'upper', 'trim', 'symbol')}({self.string(less)})"
        return quoted(self.pick(*STRINGS))

    def choice(self, depth: int, branch) -> str:
        return f"(if {self.truth(depth)} then {branch(depth)} else {branch(depth)})"

    def call(self, function: str, *args: str) -> str:
        return f"{function}({', '.join(args)})" if function in self.functions else ""
