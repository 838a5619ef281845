"""The functions every program has: scalar ones and aggregates, with the properties that later stages ask for.

The checker reads the signatures; the selector asks whether an aggregate can be combined from panes, and the
code generator which of them need the tuples of the window, or their order.
"""

from __future__ import annotations

from dataclasses import dataclass

# What a parameter takes: `number` any Int or Float as it is, `real` a number as f64, `int` an integer as
# i64, `string` a symbol or text, `any` everything, `ordered` numbers and times, `moment` a timestamp as whole
# seconds, `hashed` what can be a key (numbers as u64).


@dataclass(frozen=True, slots=True)
class ScalarSignature:
    """A function of values. `result` is a kind: `real`, `int`, `hash` (u64), `bool`, `same` (the unified type of the
    arguments), `keep` (the first argument's type) or `pieces` (a sequence of the first argument's type).
    `module` is what has to be in use."""

    name: str
    params: tuple[tuple[str, str], ...]
    result: str
    module: str = ""
    variadic: bool = False
    doc: str = ""

    def __str__(self) -> str:
        more = ", …" if self.variadic else ""
        return f"{self.name}({', '.join(name for name, _ in self.params)}{more})"


@dataclass(frozen=True, slots=True)
class AggregateSignature:
    """A function of the tuples of a window.

    `takes` is what the value must be (`none`: there is no value). `settings` are constants with their
    bounds: (name, low, high, whether low itself is allowed). `result` is `int`, `real`, `keep` or `sum`.
    """

    name: str
    takes: str
    result: str
    settings: tuple[tuple[str, float, float, bool], ...] = ()
    combinable: bool = True  # a window's value can be merged from those of its panes
    order_dependent: bool = False  # the order of the tuples decides (event time, ties by arrival)
    whole_window: bool = False  # needs the tuples of the window, not only a summary of them

    def __str__(self) -> str:
        names = ([] if self.takes == "none" else ["x"]) + [setting[0] for setting in self.settings]
        return f"{self.name}({', '.join(names)})"


def _reals(*names: str) -> list[ScalarSignature]:
    return [ScalarSignature(name, (("x", "real"),), "real") for name in names]


def _text(name: str, result: str, *more: str, doc: str) -> ScalarSignature:
    params = (("t", "string"), *((name, "string") for name in more))
    return ScalarSignature(name, params, result, "std.text", doc=doc)


# Parts of a moment, in UTC and the Gregorian calendar.
_CALENDAR = {
    "year": "The year; years before 1 are 0, -1, …", "month": "The month, 1 to 12.",
    "day": "The day of the month, from 1.",
    "hour": "The hour, 0 to 23.", "minute": "The minute, 0 to 59.", "second": "The second, 0 to 59.",
    "weekday": "The day of the week, 1 Monday to 7 Sunday.", "day_of_year": "The day of the year, from 1.",
}

_SCALARS = [
    ScalarSignature("abs", (("x", "number"),), "same"),
    *_reals("floor", "ceil", "round", "trunc", "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan"),
    ScalarSignature("pow", (("x", "real"), ("y", "real")), "real"),
    ScalarSignature("is_nan", (("x", "real"),), "bool"),
    ScalarSignature("least", (("a", "ordered"), ("b", "ordered")), "same", variadic=True),
    ScalarSignature("greatest", (("a", "ordered"), ("b", "ordered")), "same", variadic=True),
    ScalarSignature("length", (("t", "string"),), "int"),
    _text("split", "pieces", "separator", doc="The pieces between separators, empty ones included; for `flatmap`."),
    _text("lower", "keep", doc="ASCII letters in lower case; other characters stay."),
    _text("upper", "keep", doc="ASCII letters in upper case; other characters stay."),
    _text("trim", "keep", doc="Without ASCII white space at both ends."),
    _text("contains", "bool", "part", doc="Whether the part occurs; the empty text always does."),
    _text("starts_with", "bool", "start", doc="Whether the text begins so."),
    _text("ends_with", "bool", "end", doc="Whether the text ends so."),
    ScalarSignature("hash", (("x", "hashed"),), "hash", "std.text",
                    doc="64 bits that depend on every byte of a string, or on a number; the same on every machine."),
    *(ScalarSignature(name, (("t", "moment"),), "int", "std.time", doc=doc) for name, doc in _CALENDAR.items()),
]

SCALAR_FUNCTIONS: dict[str, ScalarSignature] = {signature.name: signature for signature in _SCALARS}

BUILT_IN_MODULES = frozenset(signature.module for signature in _SCALARS if signature.module)

_AGGREGATES = [
    AggregateSignature("count", "none", "int"),
    AggregateSignature("sum", "number", "sum"),
    AggregateSignature("avg", "number", "real"),
    AggregateSignature("min", "ordered", "keep"),
    AggregateSignature("max", "ordered", "keep"),
    AggregateSignature("first", "any", "keep", order_dependent=True),
    AggregateSignature("last", "any", "keep", order_dependent=True),
    AggregateSignature("median", "number", "real", combinable=False, whole_window=True),
    AggregateSignature("quantile", "number", "real", (("q", 0.0, 1.0, True),), combinable=False, whole_window=True),
    AggregateSignature("stddev", "number", "real"),
    AggregateSignature("stddev_pop", "number", "real"),
    AggregateSignature("ewma", "number", "real", (("alpha", 0.0, 1.0, False),), combinable=False,
                       order_dependent=True, whole_window=True),
]

AGGREGATES: dict[str, AggregateSignature] = {signature.name: signature for signature in _AGGREGATES}

# Conversions are written as calls of the type's name.
CASTS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "int", "f32", "f64", "float", "symbol")
