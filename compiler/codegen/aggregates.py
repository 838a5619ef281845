"""Aggregates as C: the fields of a partial value, how a tuple enters it, how two are combined, what comes out.

Equal parts are shared: `avg(x)` and `stddev(x)` count once, `first(a)` and `first(b)` look at the time once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...dsl import typed
from ...dsl.types import Float, Int, Text, Type
from .c_types import Member, c_type, declare, members_of
from .entering import Entering
from .expressions import Scope, c_slice, c_store, c_value
from .names import identifier


@dataclass
class Partial:
    """The code for one step's aggregates. `p` is the partial, `t` the tuple, `time` its time; combining
    takes `later` into `p`, everything in `later` being of later panes."""

    scope: Scope  # for the values of tuples
    program: typed.Program
    fields: dict[str, str] = field(default_factory=dict)  # name → declaration
    empty: list[str] = field(default_factory=list)
    lift: list[str] = field(default_factory=list)
    combine: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)  # statements when this tuple is the first so far
    last: list[str] = field(default_factory=list)
    first_combine: list[str] = field(default_factory=list)
    last_combine: list[str] = field(default_factory=list)
    results: dict[typed.Aggregate, str] = field(default_factory=dict)  # over `p`
    whole: list[Whole] = field(default_factory=list)
    lifted: dict[typed.Aggregate, str] = field(default_factory=dict)  # aggregates whose state of a tuple `t` has
    numbers: dict[str, int] = field(default_factory=dict)  # of the values, by their C
    compact: bool = False  # what follows from other parts is not kept
    members: list[Member] = field(default_factory=list)  # the scalars of the fields
    opaque: list[str] = field(default_factory=list)  # aggregates whose state only C knows

    def add(self, aggregate: typed.Aggregate) -> None:
        if aggregate not in self.results:
            add = _program_aggregate if aggregate.user else _ADD[aggregate.function]
            self.results[aggregate] = add(self, aggregate)

    def declare(self, name: str, declaration: str, empty: str, lift: str, combine: str,
                parts: tuple[tuple[str, Type], ...]) -> str:
        """Adds a field with its code once; answers the expression that reads it. `parts`: its scalars."""
        if name not in self.fields:
            self.fields[name] = declaration
            self.members += [member for place, type_ in parts for member in members_of(type_, place)]
            self.empty.append(f"p->{name} = {empty};")
            self.lift.append(lift)
            self.combine.append(combine)
        return f"p->{name}"


@dataclass(frozen=True)
class Whole:
    """An aggregate that needs all values of the window: which function, the value, its setting."""

    name: str
    function: str
    value: str
    setting: float


def partial_of(taken: Entering, symbols: dict[str, int], program: typed.Program,
               numbers: dict[str, int] | None = None, compact: bool = False) -> Partial:
    """Values that were computed from the tuple stand in `values`, or, where tuples are kept, beside their fields.
    Partial values with the same `numbers` have the same names for the same values."""
    partial = Partial(Scope(symbols, state="t" if taken.keeps else "values"), program, lifted=taken.lifted,
                      numbers={} if numbers is None else numbers, compact=compact)
    spreads = [one for one in taken.aggregates.values() if compact and one.function in ("stddev", "stddev_pop")]
    for aggregate in (*spreads, *taken.aggregates.values()):
        partial.add(aggregate)
    partial.results = {written: partial.results[aggregate] for written, aggregate in taken.aggregates.items()}
    return partial


def _slot(partial: Partial, aggregate: typed.Aggregate, prefix: str) -> str:
    """A field name for a value; equal values share it."""
    key = c_slice(aggregate.value, partial.scope) if isinstance(aggregate.value.type, Text) else \
        c_value(aggregate.value, partial.scope)
    number = partial.numbers.setdefault(key, len(partial.numbers))
    base = f"_{identifier(aggregate.value.name)}" if isinstance(aggregate.value, typed.FieldRef) else ""
    return f"{prefix}{base}_{number}"


def _count(partial: Partial, aggregate: typed.Aggregate | None = None) -> str:
    return partial.declare("n", "int64_t n", "0", "p->n++;", "p->n += later->n;", (("n", Int(64, True)),))


def _sum(partial: Partial, aggregate: typed.Aggregate) -> str:
    return _running_sum(partial, aggregate, c_type(aggregate.type), aggregate.type)


def _running_sum(partial: Partial, aggregate: typed.Aggregate, ctype: str, type_: Type) -> str:
    name = _slot(partial, aggregate, "sum" if isinstance(type_, Float) else "total")
    value = c_value(aggregate.value, partial.scope)
    if isinstance(type_, Int) and type_.signed:
        return partial.declare(name, f"int64_t {name}", "0", f"p->{name} = dfrt_add_i64(p->{name}, (int64_t){value});",
                               f"p->{name} = dfrt_add_i64(p->{name}, later->{name});", ((name, Int(64, True)),))
    return partial.declare(name, f"{ctype} {name}", "0", f"p->{name} += ({ctype}){value};",
                           f"p->{name} += later->{name};", ((name, type_),))


def count_by_panes(partial: Partial) -> bool:
    """Leaves the count of tuples to panes that know how long they are, if nothing asks for it at a tuple and it is not
    all there is. The count goes to the end, behind what every tuple changes."""
    tuple_ = "p->n++;"
    others = [line for line in partial.lift if line != tuple_]
    if tuple_ not in partial.lift or not others or any("p->n" in line for line in others):
        return False
    partial.lift.remove(tuple_)
    partial.fields["n"] = partial.fields.pop("n")
    return True


def _avg(partial: Partial, aggregate: typed.Aggregate) -> str:
    """Where distances from one of the values are summed up, their mean gives it too."""
    count, moments = _count(partial), _slot(partial, aggregate, "moments")
    if partial.compact and moments in partial.fields:
        return f"dfrt_moments_mean(&p->{moments}, {count})"
    return f"({_running_sum(partial, aggregate, 'double', Float(64))} / (double){count})"


def _extreme(partial: Partial, aggregate: typed.Aggregate, function: str, sign: str) -> str:
    type_, name = aggregate.type, _slot(partial, aggregate, function)
    value, here = c_value(aggregate.value, partial.scope), f"p->{name}"
    lift = f"{{ {c_type(type_)} value = {value}; {here} = {_better('value', here, type_, function, sign)}; }}"
    combine = f"{here} = {_better(f'later->{name}', here, type_, function, sign)};"
    found = partial.declare(name, f"{c_type(type_)} {name}", _worst(type_, function), lift, combine, ((name, type_),))
    # Which of two zeros stays depends on the layout: the result has one sign of zero only.
    return f"({found} + {'0.0f' if type_.bits == 32 else '0.0'})" if isinstance(type_, Float) else found


def _better(value: str, known: str, type_: Type, function: str, sign: str) -> str:
    """Without a branch: which value is better can't be predicted. NaN gives way, and of equal ones the first stays."""
    if isinstance(type_, Float):
        return f"dfrt_{function}_f{type_.bits}({known}, {value})"
    return f"{value} {sign} {known} ? {value} : {known}"


def _worst(type_: Type, function: str) -> str:
    """What every value of the type beats."""
    if isinstance(type_, Float):
        return "NAN" if type_.bits == 64 else "(float)NAN"
    bits, signed = (type_.bits, type_.signed) if isinstance(type_, Int) else (64, True)
    if function == "min":
        return f"{'' if signed else 'U'}INT{bits}_MAX"
    return f"INT{bits}_MIN" if signed else "0"


def _min(partial: Partial, aggregate: typed.Aggregate) -> str:
    return _extreme(partial, aggregate, "min", "<")


def _max(partial: Partial, aggregate: typed.Aggregate) -> str:
    return _extreme(partial, aggregate, "max", ">")


def _edge(partial: Partial, aggregate: typed.Aggregate, which: str) -> str:
    name, type_ = _slot(partial, aggregate, which), aggregate.type
    if name not in partial.fields:
        partial.fields[name] = declare(type_, name)
        partial.members += members_of(type_, name)
        partial.empty.append(f"memset(&p->{name}, 0, sizeof p->{name});")
        getattr(partial, which).append(c_store(f"p->{name}", type_, aggregate.value, partial.scope))
        getattr(partial, f"{which}_combine").append(f"memcpy(&p->{name}, &later->{name}, sizeof p->{name});")
    return f"dfrt_text_of(&p->{name})" if isinstance(type_, Text) else f"p->{name}"


def _edge_time(partial: Partial, name: str) -> None:
    if name not in partial.fields:
        partial.fields[name] = f"int64_t {name}"
        partial.members += members_of(Int(64, True), name)


def _first(partial: Partial, aggregate: typed.Aggregate) -> str:
    _edge_time(partial, "first_time")
    return _edge(partial, aggregate, "first")


def _last(partial: Partial, aggregate: typed.Aggregate) -> str:
    _edge_time(partial, "last_time")
    return _edge(partial, aggregate, "last")


def _moments(partial: Partial, aggregate: typed.Aggregate) -> str:
    """The sum of squared distances from the mean (dfrt_moments)."""
    _count(partial)
    name, value = _slot(partial, aggregate, "moments"), c_value(aggregate.value, partial.scope)
    partial.declare(name, f"dfrt_moments {name}", "DFRT_NO_MOMENTS",
                    f"dfrt_moments_add(&p->{name}, (double){value});",
                    f"dfrt_moments_combine(&p->{name}, before, &later->{name}, later->n);",
                    tuple((f"{name}.{part}", Float(64)) for part in ("shift", "distance", "square")))
    return f"dfrt_moments_squares(&p->{name}, p->n)"


def _stddev(partial: Partial, aggregate: typed.Aggregate) -> str:
    return f"(p->n > 1 ? sqrt({_moments(partial, aggregate)} / (double)(p->n - 1)) : (double)NAN)"


def _stddev_pop(partial: Partial, aggregate: typed.Aggregate) -> str:
    return f"sqrt({_moments(partial, aggregate)} / (double)p->n)"


def _whole(partial: Partial, aggregate: typed.Aggregate) -> str:
    name = f"whole_{len(partial.whole)}"
    setting = aggregate.settings[0] if aggregate.settings else 0.5
    function = "ewma" if aggregate.function == "ewma" else "quantile"
    partial.whole.append(Whole(name, function, c_value(aggregate.value, partial.scope), setting))
    return name


def _program_aggregate(partial: Partial, aggregate: typed.Aggregate) -> str:
    """An `aggregate` of the program: its functions stand in the generated file (see program_functions.py)."""
    _count(partial)
    c = f"aggregate_{identifier(aggregate.function)}"
    args = "".join(f", {c_value(arg, partial.scope)}" for arg in arguments_of(aggregate))
    name = f"own_{partial.numbers.setdefault(f'{c}{args}', len(partial.numbers))}"
    if name in partial.fields:
        return f"{c}_lower(faults, &p->{name})"
    partial.fields[name] = f"struct {c} {name}"
    _save_own(partial, aggregate, name)
    partial.empty.append(f"memset(&p->{name}, 0, sizeof p->{name});")
    if aggregate in partial.lifted:
        partial.lift.append(f"{c}_combine(&p->{name}, p->n == 1, &t->{partial.lifted[aggregate]});")
    else:
        partial.lift.append(f"{c}_add(faults, &p->{name}, p->n == 1{args});")
    partial.combine.append(f"if (later->n > 0) {c}_combine(&p->{name}, before == 0, &later->{name});")
    return f"{c}_lower(faults, &p->{name})"


def _save_own(partial: Partial, aggregate: typed.Aggregate, name: str) -> None:
    definition = next(d for d in partial.program.aggregates if d.name == aggregate.function)
    if definition.c is not None:
        partial.opaque.append(aggregate.function)
        return
    partial.members += [member for f in definition.state.fields
                        for member in members_of(f.type, f"{name}.{identifier(f.name)}")]


def arguments_of(aggregate: typed.Aggregate) -> tuple[typed.Expr, ...]:
    return () if aggregate.value is None else (aggregate.value, *aggregate.more)


_ADD = {"count": _count, "sum": _sum, "avg": _avg, "min": _min, "max": _max, "first": _first, "last": _last,
        "stddev": _stddev, "stddev_pop": _stddev_pop, "median": _whole, "quantile": _whole, "ewma": _whole}
