"""Flat views of the steps for the templates: names, types and finished expressions, nothing to decide."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ...dsl import typed
from ...dsl.types import SYMBOL, Record, Symbol
from ..artifacts.graph import Graph
from ..artifacts.parts import Reduce, Windows, Work
from ..artifacts.plan import Plan
from .aggregates import Whole
from .expressions import Scope, c_slice, c_value
from .names import Names, identifier
from .statements import Statement, quoted_file, stores


@dataclass(frozen=True)
class Context:
    """What all views of a program share. `symbols` collects the symbol literals; `timed`: the build measures costs."""

    graph: Graph
    plan: Plan
    names: Names
    symbols: dict[str, int]
    timed: bool = False
    saves: bool = False  # the state of a run can be saved

    def record(self, record: Record) -> str:
        return self.names.record(record.name)

    def input(self, step: typed.Step, port: int = 0) -> Record:
        return self.graph.step(step.inputs[port]).record

    def output(self, step: typed.Step) -> str:
        """The struct that a step puts out; of an operator with ports the one with all of them."""
        body = getattr(step.body, "operator", step).body
        ports = isinstance(body, typed.Operator) and body.ports
        return self.names.ports(step.name) if ports else self.record(step.record)

    def given(self, name: str) -> str:
        """The struct that goes from a step to those that read it."""
        step = self.graph.step(name)
        match step.body:
            case Windows() | Reduce():
                return f"struct {self.names.step(name)}_task"
            case Work(partial=True):
                return f"struct {self.names.step(name)}_part"
        return self.record(step.record)

    def takers(self, steps: Iterable[typed.Step]) -> list[typed.Step]:
        """The steps that take their tuples themselves: of windows that share their panes the first does it for all."""
        shared = {name for sharing in self.plan.shared for name in sharing.others}
        return [step for step in steps if step.name not in shared]

    def store(self, name: str) -> str:
        """What has the groups of a step and takes its tuples: its own, or what it shares with others."""
        sharing = self.plan.sharing_of(name)
        return self.names.shared(sharing.first) if sharing else self.names.step(name)

    def number(self, name: str) -> int:
        return next(i for i, step in enumerate(self.graph.steps) if step.name == name)


@dataclass
class View:
    """The part that every step has; templates for one kind read the extra values too."""

    name: str
    c: str
    number: int
    kind: str
    segment: str
    push: str
    watermark: str
    input: str
    output: str
    line: int
    file: str
    title: str
    extra: dict[str, object] = field(default_factory=dict)

    def __getattr__(self, name: str) -> object:
        try:
            return self.__dict__["extra"][name]
        except KeyError:
            raise AttributeError(name) from None


def base_view(context: Context, step: typed.Step, kind: str, **extra: object) -> View:
    c = context.names.step(step.name)
    where = f"{step.name}: {kind}, line {step.span.line}"
    return View(step.name, c, context.number(step.name), kind,
                f"struct segment_{context.plan.segment_of(step.name).number}", f"{c}_push", f"{c}_watermark",
                context.record(context.input(step)) if step.inputs else "", context.output(step),
                step.span.line, quoted_file(step.span), where, extra)


@dataclass(frozen=True)
class AlternateView:
    name: str
    statements: tuple[Statement, ...]
    function: str = ""
    line: int = 0
    file: str = ""
    window: tuple[str, ...] = ()  # the view that the function takes
    merge: str = ""  # takes what the function gave for panes
    panes: tuple[str, ...] = ()  # the view that `merge` takes, of `count` panes at `given`
    folds: bool = False
    whole: tuple[Whole, ...] = ()
    computed: tuple[str, ...] = ()  # of a tuple, before aggregates read it
    twice: bool = False  # goes over the window a second time
    reduced: tuple[str, ...] = ()  # statements between the two
    second_whole: tuple[Whole, ...] = ()
    mark: str = ""  # puts the name of an alternate in C into its result


def alternate_mark(context: Context, step: typed.Step, name: str, out: str) -> str:
    """Of an alternate in C, when the record has a field for its name."""
    if step.body.ports or not step.record.names_alternate():
        return ""
    value = c_value(typed.Literal(name, SYMBOL, step.span), Scope(context.symbols))
    return f"{out}{identifier('alternate')} = {value};"


def active_alternate(context: Context, step: typed.Step) -> str:
    """Which alternate computes. A part of an operator that gives no results itself has none to choose from."""
    numbers = {one.operator: number for number, one in enumerate(context.plan.alternates)}
    if step.name not in numbers:
        return "0"
    return f"atomic_load_explicit(&s->head.alternates[{numbers[step.name]}], memory_order_relaxed)"


# --- stateless --------------------------------------------------------------------------------------


def filter_view(context: Context, step: typed.Step) -> View:
    scope = Scope(context.symbols)
    if isinstance(step.body, typed.Filter):
        condition = c_value(step.body.predicate, scope)
    else:
        parts = [f"!{c_value(before, scope)}" for before in step.body.before]
        parts += [] if step.body.predicate is None else [c_value(step.body.predicate, scope)]
        condition = " && ".join(parts) or "true"
    return base_view(context, step, "filter", condition=condition, faults="faults" in condition)


def map_view(context: Context, step: typed.Step) -> View:
    statements = stores(step.body.construct, "out->", Scope(context.symbols))
    return base_view(context, step, "map", statements=statements,
                     faults=any("faults" in statement.code for statement in statements))


def flatmap_view(context: Context, step: typed.Step) -> View:
    text, separator = step.body.sequence.args
    scope = Scope(context.symbols)
    (target,) = step.record.fields
    store = f"out.{identifier(target.name)} = dfrt_intern(piece);" if isinstance(target.type, Symbol) else \
        f"(void)dfrt_text_assign(&out.{identifier(target.name)}, {target.type.size}, piece);"
    return base_view(context, step, "flatmap", text=c_slice(text, scope), separator=c_slice(separator, scope),
                     store=store, faults="faults" in c_slice(text, scope))


def tuple_operator_view(context: Context, step: typed.Step) -> View:
    """An operator without a window: each alternate computes a result from the tuple alone."""
    def statements(alternate: typed.Alternate) -> tuple[Statement, ...]:
        if isinstance(alternate.body, typed.Construct):
            return stores(alternate.body, "out.", Scope(context.symbols))
        call = f"good = {alternate.body.name}(t, &out);"
        mark = alternate_mark(context, step, alternate.name, "out.")
        return (Statement(alternate.body.span.line, quoted_file(alternate.body.span), f"{call} {mark}".rstrip()),)

    alternates = tuple(AlternateView(a.name, statements(a)) for a in step.body.alternates)
    return base_view(context, step, "operator", active=active_alternate(context, step), alternates=alternates,
                     faults=any("faults" in s.code for a in alternates for s in a.statements))


def sink_view(context: Context, step: typed.Step, number: int) -> View:
    return base_view(context, step, "sink", sink=number, faults=False)


def late_view(context: Context, step: typed.Step) -> View:
    return base_view(context, step, "late", faults=False)


# --- sources ----------------------------------------------------------------------------------------


def source_view(context: Context, step: typed.Step) -> View:
    body = step.body
    late = context.names.step(body.late_to) if body.late_to and body.late_to in context.graph.flow else None
    rule = "processing time" if body.processing_time else "no event time" if body.event_time is None else \
        f"event time {body.event_time}, slack {'auto' if body.slack is None else body.slack}"
    return base_view(context, step, "source", timed=body.event_time is not None or body.processing_time,
                     processing=body.processing_time, slack=0 if body.processing_time else body.slack,
                     slack_from=body.slack_from, rule=rule,
                     time_field=identifier(body.event_time) if body.event_time else "",
                     late=f"{late}_push" if late else "", late_watermark=f"{late}_watermark" if late else "")
