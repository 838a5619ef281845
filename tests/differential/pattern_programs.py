"""Random programs whose steps have patterns: the strategy `pattern_cases()`.

Programs are those of `more_programs.py`, with more windows that begin and end where no tuple decides it, and with
functions in C over them. Each step that could be divided gets one of the patterns that the compiler says apply, with
any settings.
"""

from __future__ import annotations

from dataclasses import dataclass

from dfc.compiler import pipeline
from dfc.compiler.patterns.forced import can_have_pattern, why_not
from dfc.compiler.patterns.function import function_of
from dfc.dsl import typed
from dfc.dsl.settings import ORDERS
from dfc.dsl.span import NOWHERE
from hypothesis import strategies as st

from tests.differential.expressions import ROUGH, Column
from tests.differential.inputs import shapes
from tests.differential.more_programs import MoreBuilder, MoreCase, file_of
from tests.differential.own_code import APP, OWN_C
from tests.differential.programs import UNITS, Builder, Stream

DEGREE = st.integers(1, 6)
SETTINGS = {
    "farm": {"workers": DEGREE},
    "key_partitioning": {"workers": DEGREE},
    "window_farming": {"workers": DEGREE, "batch": st.sampled_from((1, 2, 3, 8)),
                       "schedule": st.sampled_from(("round_robin", "on_demand")),
                       "style": st.sampled_from(("active", "agnostic"))},
    "pane_farming": {"workers": DEGREE, "merge_workers": DEGREE,
                     "schedule": st.sampled_from(("round_robin", "on_demand")),
                     "merge": st.sampled_from(("collector", "farm", "shuffled", "ring", "ring"))},
    "window_partitioning": {"workers": DEGREE, "reduce": st.sampled_from(("asynchronous", "synchronous")),
                            "partition": st.sampled_from(("round_robin", "contiguous"))},
    "nesting": {"outer": st.sampled_from(("window_farming", "key_partitioning")), "workers": st.integers(1, 3),
                "inner_workers": st.integers(1, 3)},
}


@dataclass(frozen=True, repr=False)
class PatternCase(MoreCase):
    """`layouts` are the words of the command line for each run."""

    patterns: tuple[str, ...] = ()
    layouts: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n--- patterns {' '.join(self.patterns)} layouts {self.layouts}"


def _pane_functions(name: str, record: str, given: str) -> str:
    """The order of the tuples matters, where they are cut does not. Some panes have no result, and some windows."""
    return (f"bool pane_{name}(const {APP}_{name}_window *pane, dfrt_bytes *result)\n{{\n"
            "    for (size_t i = 0; i < pane->count; i++) {\n"
            f"        const {record} *tuple = &pane->tuples[i];\n"
            "        if (tuple->f % 3 != 0) {\n"
            "            dfrt_bytes_append(result, &(int64_t){(int64_t)tuple->f}, sizeof(int64_t));\n"
            "            dfrt_bytes_append(result, &(int64_t){(int64_t)tuple->k}, sizeof(int64_t));\n        }\n    }\n"
            "    return result->size > 0;\n}\n"
            f"bool merge_{name}(const {APP}_{name}_panes *panes, {APP}_{given} *result)\n{{\n"
            "    for (size_t i = 0; i < panes->count; i++) {\n"
            "        const int64_t *values = panes->panes[i].data;\n"
            "        for (size_t j = 0; j < panes->panes[i].size / sizeof *values; j += 2) {\n"
            "            result->n = (int64_t)((uint64_t)result->n * 31 + (uint64_t)values[j]);\n"
            "            result->k = (dfrt_symbol)values[j + 1];\n            result->x += 1;\n        }\n    }\n"
            "    return result->n % 7 != 3;\n}\n")


class PatternBuilder(MoreBuilder):
    def window(self, stream: Stream) -> tuple[str, bool, float]:
        return Builder.window(self, stream) if self.chance(85) else super().window(stream)

    def c_windows(self) -> None:
        """Alternates in C that take tuples, columns and panes, and one in the language."""
        (stream, record), name = self.plain(), self.fresh("op")
        window, _, factor = self.window(stream)
        columns = (Column("n", "i64"), Column("x", "f64", ROUGH), Column("k", "symbol"))
        given = self.record(columns)
        functions = (f"bool tuples_{name}(const {APP}_{name}_window *window, {APP}_{given} *result)\n{{\n"
                     "    for (size_t i = 0; i < window->count; i++) {\n"
                     f"        const {record} *tuple = &window->tuples[i];\n"
                     "        result->n = (int64_t)((uint64_t)result->n * 31 + (uint64_t)tuple->f);\n"
                     "        result->x = tuple->g;\n        result->k = tuple->k;\n    }\n"
                     "    return result->n % 7 != 3;\n}\n",
                     f"bool columns_{name}(const {APP}_{name}_two_columns *window, {APP}_{given} *result)\n{{\n"
                     "    for (size_t i = 0; i < window->count; i++) {\n"
                     "        result->n = (int64_t)((uint64_t)result->n * 17 + (uint64_t)window->f[i]);\n"
                     "        result->k = window->k[i];\n    }\n    result->x = (double)window->count;\n"
                     "    return true;\n}\n", "", _pane_functions(name, record, given))
        alternates = [f'alternate one value 0.{self.pick(3, 8)} = c("own.c", "tuples_{name}")',
                      f'alternate two value 0.{self.pick(4, 9)} columns f, k = c("own.c", "columns_{name}")',
                      "alternate three value 0.5 = { n: digits(f), x: median(g), k: last(k) }",
                      f'alternate four value 0.{self.pick(4, 9)} = c("own.c", "pane_{name}", "merge_{name}")']
        chosen = self.pick((0, 1, 2), (0, 1), (2, 1), (1,), (0,), (2,), (3,), (3,), (3,), (2, 3))
        self.c += [functions[i] for i in chosen]
        by = self.pick("", " by k", " by f, k")
        self.add(name, f"operator {name} on {stream.name}{by} window {window}{self.order(by)} -> {given} {{\n  "
                 + "\n  ".join(alternates[i] for i in chosen) + "\n}", columns, stream.unit, stream.factor * factor)
        if len(chosen) > 1:
            self.alternates.append((name, tuple(("one", "two", "three", "four")[i] for i in chosen)))

    def order(self, by: str) -> str:
        found = [order for order in ORDERS if by or order != "key"]
        return f" order {self.pick(*found)}" if self.chance(40) else ""

    def step(self) -> None:
        kind = self.pick("aggregate", "aggregate", "aggregate", "operator", "operator", "c_windows", "c_windows",
                         "ports", "expiring", "scan", "update", "join", "filter", "map", "flatmap", "old", "more")
        match kind:
            case "old":
                Builder.step(self)
            case "more":
                super().step()
            case _:
                getattr(self, kind)()


# --- patterns ---------------------------------------------------------------------------------------


def _pattern(draw, program: typed.Program, step: typed.Step) -> str | None:
    """A pattern that applies to the operator, as a word for --pattern."""
    function, fitting = function_of(program, step), []
    for name, settings in SETTINGS.items():
        chosen = {key: draw(values) for key, values in settings.items() if draw(st.integers(0, 9)) < 7}
        pattern = typed.Pattern(name, NOWHERE, **chosen)
        if why_not(function, pattern) is None:
            words = ",".join(f"{key}={value}" for key, value in chosen.items())
            fitting.append(f"{step.name}={name}" + (f":{words}" if words else ""))
    own = [word for word in fitting if "=key_partitioning" not in word]  # that one other tests have too
    fitting = own if own and draw(st.integers(0, 9)) < 9 else fitting
    return draw(st.sampled_from(fitting)) if fitting and draw(st.integers(0, 9)) < 9 else None


def _patterns(draw, text: str) -> tuple[str, ...]:
    program = pipeline.check(text, "program.dfl", {})
    words = (_pattern(draw, program, step) for step in program.steps if can_have_pattern(step))
    return tuple(word for word in words if word is not None)


def _layouts(draw) -> tuple[tuple[str, ...], ...]:
    return (), ("--layout", "fused"), ("--workers", str(draw(DEGREE)), "--layout", "staged")


@st.composite
def pattern_cases(draw, most_rows: int = 120, data_sets: int = 2) -> PatternCase:
    builder = PatternBuilder(draw, draw(st.sampled_from(UNITS)))
    builder.functions = draw(st.sampled_from(([], ["whole", "scaled"])))
    for _ in range(draw(st.sampled_from((1, 1, 2)))):
        builder.source()
    for _ in range(draw(st.sampled_from((1, 2, 3, 4)))):
        builder.step()
    sinks, text = builder.sinks(), builder.text()
    inputs = tuple({f"{source.name}.csv": file_of(source, draw(shapes(most_rows, number == 0)))
                    for source in builder.sources} for number in range(data_sets))
    choices = tuple(tuple((name, draw(st.sampled_from(options))) for name, options in builder.alternates)
                    if draw(st.booleans()) else () for _ in range(data_sets))
    return PatternCase(text, tuple(sinks), tuple(builder.alternates), inputs, choices, "\n".join([OWN_C, *builder.c]),
                       _patterns(draw, text), _layouts(draw))
