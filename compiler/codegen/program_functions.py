"""Functions and aggregates of the program as C functions of the generated file."""

from __future__ import annotations

from ...dsl import typed
from ...dsl.types import Array, Text, Type
from .c_types import c_type, declare
from .expressions import Scope, c_store, c_value
from .names import identifier, parameter


def value_type(type_: Type) -> str:
    """The type of a parameter or result; texts are passed as slices."""
    return "dfrt_slice" if isinstance(type_, Text) else c_type(type_)


def parameters(params: tuple[tuple[str, Type], ...]) -> list[str]:
    return [f"const {declare(type_, parameter(name))}" if isinstance(type_, Array) else
            f"{value_type(type_)} {parameter(name)}" for name, type_ in params]


def function_code(function: typed.Function, symbols: dict[str, int]) -> str:
    """A `fn` of the program. One in C is called from here, so that callers need not know."""
    words = "".join(f", {word}" for word in parameters(function.params))
    if isinstance(function.body, typed.CFunction):
        value = f"{function.body.name}({', '.join(parameter(name) for name, _ in function.params)})"
        value = f"dfrt_text_cut({value}, {function.result.size})" if isinstance(function.result, Text) else value
    else:
        value = c_value(function.body, Scope(symbols))
    return (f"DFRT_INLINE {value_type(function.result)} fn_{identifier(function.name)}(uint64_t *faults{words})\n"
            f"{{\n    (void)faults;\n    return {value};\n}}")


def aggregate_code(aggregate: typed.AggregateDef, symbols: dict[str, int]) -> str:
    """An `aggregate` of the program: its state, and how a tuple enters it, two are combined, the result leaves."""
    if aggregate.c is not None:
        return _opaque(aggregate)
    c = f"aggregate_{identifier(aggregate.name)}"
    words = "".join(f", {word}" for word in parameters(aggregate.params))
    parts = [(identifier(f.name), f.type) for f in aggregate.state.fields]
    lift = [c_store(f"right->{name}", type_, value, Scope(symbols))
            for (name, type_), value in zip(parts, aggregate.lift, strict=True)]
    combine = [c_store(f"both.{name}", type_, value, Scope(symbols))
               for (name, type_), value in zip(parts, aggregate.combine, strict=True)]
    return "\n\n".join((
        _block(f"struct {c}", [f"{declare(type_, name)};" for name, type_ in parts], end=";"),
        _block(f"DFRT_INLINE void {c}_merge(struct {c} *left, const struct {c} *right)",
               ["uint64_t uncounted = 0, *faults = &uncounted; /* how often this runs is no matter of the program */",
                "(void)faults;", f"struct {c} both;", "memset(&both, 0, sizeof both);", *combine, "*left = both;"]),
        _block(f"DFRT_INLINE void {c}_add(uint64_t *faults, struct {c} *left, bool first{words})",
               ["(void)faults;", f"struct {c} lifted, *right = &lifted;", "memset(right, 0, sizeof *right);", *lift,
                "if (first) {", "    *left = lifted;", "} else {", f"    {c}_merge(left, right);", "}"]),
        _block(f"DFRT_INLINE void {c}_combine(struct {c} *left, bool first, const struct {c} *right)",
               ["if (first) {", "    *left = *right;", "} else {", f"    {c}_merge(left, right);", "}"]),
        _block(f"DFRT_INLINE {value_type(aggregate.result)} {c}_lower(uint64_t *faults, const struct {c} *state)",
               ["(void)faults;", "(void)state;",
                f"return {c_value(aggregate.lower, Scope(symbols, state='state'))};"])))


def _opaque(aggregate: typed.AggregateDef) -> str:
    """State in C: zeroed bytes are the state of no tuple."""
    c, own = f"aggregate_{identifier(aggregate.name)}", aggregate.c.name
    words = "".join(f", {word}" for word in parameters(aggregate.params))
    names = "".join(f", {parameter(name)}" for name, _ in aggregate.params)
    size = aggregate.state.fields[0].type.size if aggregate.state.fields else 8
    return "\n\n".join((
        _block(f"struct {c}", [f"_Alignas(16) unsigned char bytes[{size}];"], end=";"),
        _block(f"DFRT_INLINE void {c}_add(uint64_t *faults, struct {c} *state, bool first{words})",
               ["(void)faults;", "(void)first;", f"{own}_add(state->bytes{names});"]),
        _block(f"DFRT_INLINE void {c}_combine(struct {c} *left, bool first, const struct {c} *right)",
               ["(void)first;", f"{own}_combine(left->bytes, right->bytes);"]),
        _block(f"DFRT_INLINE {value_type(aggregate.result)} {c}_lower(uint64_t *faults, const struct {c} *state)",
               ["(void)faults;", f"return {own}_lower(state->bytes);"])))


def _block(head: str, lines: list[str], end: str = "") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    gap = " " if end else "\n"
    return f"{head}{gap}{{\n{body}\n}}{end}"
