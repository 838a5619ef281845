"""Typed expressions as C. Strings have two forms: a symbol is its number, a text is a slice."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from ...dsl import typed
from ...dsl.types import I64, UNIT_NS, Array, Bool, Float, Int, Symbol, Text, Type, is_string, is_time
from .c_types import c_type, declare
from .names import c_string, identifier, parameter


@dataclass(frozen=True)
class Scope:
    """What an expression may mention: the tuples at hand, where faults are counted, the aggregates' values."""

    symbols: dict[str, int]  # symbol literal → number in the program's table; grows
    tuples: tuple[str, ...] = ("t",)  # C pointers, by side
    faults: str = "faults"
    aggregates: dict[typed.Aggregate, str] = field(default_factory=dict)
    start: str = "start"
    end: str = "end"
    state: str = ""  # C pointer to the state whose parts are named; without it names are parameters

    def with_tuples(self, *tuples: str) -> Scope:
        return replace(self, tuples=tuples)


def c_value(expr: typed.Expr, scope: Scope) -> str:
    """The value: a number, bool, symbol number, or the slice of a text."""
    match expr:
        case typed.Literal():
            return _literal(expr, scope)
        case typed.FieldRef():
            place = f"{scope.tuples[expr.side]}->{identifier(expr.name)}"
            return f"dfrt_text_of(&{place})" if isinstance(expr.type, Text) else place
        case typed.LocalRef():
            return _local(expr, scope)
        case typed.Unary(op="not"):
            return f"(!{c_value(expr.operand, scope)})"
        case typed.Unary():
            inner = c_value(expr.operand, scope)
            return f"(-{inner})" if isinstance(expr.type, Float) else f"dfrt_neg_i64({inner})"
        case typed.Binary():
            return _binary(expr, scope)
        case typed.If():
            parts = [c_value(part, scope) for part in (expr.condition, expr.then, expr.otherwise)]
            return "({} ? {} : {})".format(*parts)
        case typed.Cast():
            return _cast(expr, scope)
        case typed.Call():
            return _call(expr, scope)
        case typed.Aggregate():
            return scope.aggregates[expr]
        case typed.WindowBound():
            return scope.start if expr.bound == "start" else scope.end
        case typed.Element():
            return _element(expr, scope)
        case typed.ArrayOf():
            return f"(const {declare(expr.type, '')}){_braced(expr, scope)}"
    raise TypeError(f"{type(expr).__name__} has no C form")


def c_slice(expr: typed.Expr, scope: Scope) -> str:
    """A string as slice, whatever its type."""
    if isinstance(expr, typed.Literal):
        return f"(dfrt_slice){{{c_string(expr.value)}, {len(expr.value.encode())}}}"
    if isinstance(expr, typed.Cast) and is_string(expr.operand.type) and isinstance(expr.type, Symbol):
        return c_slice(expr.operand, scope)
    value = c_value(expr, scope)
    return value if isinstance(expr.type, Text) else f"dfrt_symbol_text({value})"


def c_store(target: str, type_: Type, expr: typed.Expr, scope: Scope) -> str:
    """The statement that stores a value into a field of this type."""
    if isinstance(type_, Array):
        return _store_array(target, type_, expr, scope)
    if not isinstance(type_, Text):
        return f"{target} = {c_value(expr, scope)};"
    return f"(void)dfrt_text_assign(&{target}, {type_.size}, {c_slice(expr, scope)});"


def _store_array(target: str, type_: Array, expr: typed.Expr, scope: Scope) -> str:
    """What is written out is stored element by element, since texts have no value that C could initialise with."""
    if isinstance(expr, typed.ArrayOf):
        return " ".join(c_store(f"{target}[{i}]", type_.element, element, scope)
                        for i, element in enumerate(expr.elements))
    if isinstance(expr, typed.If):
        then, otherwise = (c_store(target, type_, branch, scope) for branch in (expr.then, expr.otherwise))
        return f"if ({c_value(expr.condition, scope)}) {{ {then} }} else {{ {otherwise} }}"
    return f"memcpy({target}, {c_value(expr, scope)}, sizeof {target});"


def _braced(expr: typed.Expr, scope: Scope) -> str:
    """The elements of an array as an initialiser; an array inside that is not written out is taken apart."""
    if not isinstance(expr.type, Array):
        return c_value(expr, scope)
    numbers = (typed.Literal(i, I64, expr.span) for i in range(expr.type.size))
    elements = expr.elements if isinstance(expr, typed.ArrayOf) else \
        [typed.Element(expr, number, expr.type.element, expr.span) for number in numbers]
    return f"{{{', '.join(_braced(element, scope) for element in elements)}}}"


def _local(expr: typed.LocalRef, scope: Scope) -> str:
    """`left.total` of a combination, a part of the state, or a parameter (texts are passed as slices)."""
    owner, _, part = expr.name.rpartition(".")
    owner = owner or scope.state
    if not owner:
        return parameter(part)
    place = f"{owner}->{identifier(part)}"
    return f"dfrt_text_of(&{place})" if isinstance(expr.type, Text) else place


def _element(expr: typed.Element, scope: Scope) -> str:
    """An index outside the array counts a fault and gives zero."""
    size, index = expr.array.type.size, c_value(expr.index, scope)
    if isinstance(expr.array, typed.ArrayOf) and isinstance(expr.type, Text):
        slices = ", ".join(c_slice(element, scope) for element in expr.array.elements)
        return (f"(*(const dfrt_slice *)dfrt_at((dfrt_slice[]){{{slices}}}, &(dfrt_slice){{\"\", 0}}, "
                f"sizeof(dfrt_slice), {index}, {size}, {scope.faults}))")
    array = c_value(expr.array, scope)
    if isinstance(expr.index, typed.Literal) and 0 <= expr.index.value < size:
        place = f"{array}[{index}]"
    else:  # texts are structs without a name
        own = f"__typeof__({array}[0])" if isinstance(expr.type, Array | Text) else c_type(expr.type)
        place = f"(*(const {own} *)dfrt_at({array}, &({own}){{0}}, sizeof({own}), {index}, {size}, {scope.faults}))"
    return f"dfrt_text_of(&{place})" if isinstance(expr.type, Text) else place


# --- literals ---------------------------------------------------------------------------------------


def _literal(expr: typed.Literal, scope: Scope) -> str:
    match expr.type:
        case Symbol():
            return f"symbol_table[{scope.symbols.setdefault(expr.value, len(scope.symbols))}]"
        case Text():
            return c_slice(expr, scope)
        case Bool():
            return "true" if expr.value else "false"
        case Float(bits):
            return _float(float(expr.value)) if bits == 64 else f"(float){_float(float(expr.value))}"
        case Int(signed=False):
            return f"UINT64_C({expr.value})"
    return _integer(expr.value)


def _float(value: float) -> str:
    if math.isnan(value):
        return "(double)NAN"
    if math.isinf(value):
        return "(double)INFINITY" if value > 0 else "(-(double)INFINITY)"
    return repr(value) if value >= 0 and math.copysign(1, value) > 0 else f"({value!r})"


def _integer(value: int) -> str:
    if value == -(1 << 63):
        return "INT64_MIN"
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"


# --- operators --------------------------------------------------------------------------------------

_ARITHMETIC = {"+": "add", "-": "sub", "*": "mul"}
_FAULTY = {"/": "div", "%": "mod"}
_LOGIC = {"and": "&&", "or": "||"}


def _binary(expr: typed.Binary, scope: Scope) -> str:
    if is_string(expr.left.type):
        return _compare_strings(expr, scope)
    left, right = c_value(expr.left, scope), c_value(expr.right, scope)
    if expr.op in _LOGIC:
        return f"({left} {_LOGIC[expr.op]} {right})"
    if expr.op not in _ARITHMETIC and expr.op not in _FAULTY:
        return f"({left} {expr.op} {right})"
    if isinstance(expr.left.type, Float):
        return f"fmod({left}, {right})" if expr.op == "%" else f"({left} {expr.op} {right})"
    unsigned = isinstance(expr.left.type, Int) and not expr.left.type.signed
    if expr.op in _FAULTY:
        return f"dfrt_{_FAULTY[expr.op]}_{'u64' if unsigned else 'i64'}({left}, {right}, {scope.faults})"
    return f"({left} {expr.op} {right})" if unsigned else f"dfrt_{_ARITHMETIC[expr.op]}_i64({left}, {right})"


def _compare_strings(expr: typed.Binary, scope: Scope) -> str:
    """Two symbols are equal when their numbers are; everything else looks at the bytes."""
    if isinstance(expr.left.type, Symbol) and isinstance(expr.right.type, Symbol):
        left, right = c_value(expr.left, scope), c_value(expr.right, scope)
        return f"({left} {expr.op} {right})" if expr.op in ("==", "!=") else \
            f"(dfrt_symbol_compare({left}, {right}) {expr.op} 0)"
    return f"(dfrt_text_compare({c_slice(expr.left, scope)}, {c_slice(expr.right, scope)}) {expr.op} 0)"


# --- conversions ------------------------------------------------------------------------------------


def _cast(expr: typed.Cast, scope: Scope) -> str:
    source, target = expr.operand.type, expr.type
    if isinstance(target, Symbol):
        return c_value(expr.operand, scope) if isinstance(source, Symbol) else \
            f"dfrt_intern({c_slice(expr.operand, scope)})"
    if isinstance(target, Text):
        return _cut(expr, scope)
    value = c_value(expr.operand, scope)
    if isinstance(target, Float):
        return f"({c_type(target)}){value}"
    if is_time(source) and is_time(target):
        return _change_unit(value, UNIT_NS[source.unit], UNIT_NS[target.unit])
    return _to_integer(value, source, target)


def _cut(expr: typed.Cast, scope: Scope) -> str:
    """A text that is only passed on keeps its bytes; it is cut where it is stored."""
    return f"dfrt_text_cut({c_slice(expr.operand, scope)}, {expr.type.size})"


def _change_unit(value: str, source: int, target: int) -> str:
    if source >= target:
        return value if source == target else f"dfrt_mul_i64({value}, INT64_C({source // target}))"
    return f"dfrt_floor_div({value}, INT64_C({target // source}))"


def _to_integer(value: str, source: Type, target: Type) -> str:
    bits, signed = (target.bits, target.signed) if isinstance(target, Int) else (64, True)
    if isinstance(source, Float):
        return _saturate(value, bits, signed)
    if bits == 64:
        return f"({c_type(target)}){value}"
    return f"dfrt_wrap_i{bits}((uint64_t){value})" if signed else f"(uint{bits}_t)(uint64_t){value}"


def _saturate(value: str, bits: int, signed: bool) -> str:
    if bits == 64:
        return f"dfrt_f64_to_{'i' if signed else 'u'}64({value})"
    if signed:
        return f"(int{bits}_t)dfrt_clamp_i64(dfrt_f64_to_i64({value}), INT{bits}_MIN, INT{bits}_MAX)"
    return f"(uint{bits}_t)dfrt_clamp_i64(dfrt_f64_to_i64({value}), 0, UINT{bits}_MAX)"


# --- calls ------------------------------------------------------------------------------------------

_MATH = {"floor", "ceil", "round", "trunc", "sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "pow"}
_ON_TEXT = {"length": "dfrt_text_length", "contains": "dfrt_text_contains", "starts_with": "dfrt_text_starts_with",
            "ends_with": "dfrt_text_ends_with"}
_NEW_TEXT = {"lower": "dfrt_text_lower", "upper": "dfrt_text_upper", "trim": "dfrt_text_trim"}


_CALENDAR = {"year", "month", "day", "hour", "minute", "second", "weekday", "day_of_year"}


def _call(expr: typed.Call, scope: Scope) -> str:
    if expr.user:
        args = "".join(f", {c_value(arg, scope)}" for arg in expr.args)
        return f"fn_{identifier(expr.function)}({scope.faults}{args})"
    if expr.function in _ON_TEXT:
        return f"{_ON_TEXT[expr.function]}({', '.join(c_slice(arg, scope) for arg in expr.args)})"
    if expr.function in _NEW_TEXT:
        made = f"{_NEW_TEXT[expr.function]}({c_slice(expr.args[0], scope)})"
        return f"dfrt_intern({made})" if isinstance(expr.type, Symbol) else made
    if expr.function == "hash":
        return f"dfrt_hash_text({c_slice(expr.args[0], scope)})" if is_string(expr.args[0].type) else \
            f"dfrt_hash_u64({c_value(expr.args[0], scope)})"
    args = [c_value(arg, scope) for arg in expr.args]
    if expr.function in _CALENDAR:
        return f"dfrt_time_{expr.function}({args[0]})"
    if expr.function in ("least", "greatest"):
        return _fold(f"dfrt_{expr.function}_{_machine(expr.type)}", args)
    if expr.function == "abs":
        return f"fabs({args[0]})" if isinstance(expr.type, Float) else \
            f"dfrt_abs_i64({args[0]})" if _machine(expr.type) == "i64" else args[0]
    if expr.function == "is_nan":
        return f"(isnan({args[0]}) != 0)"
    if expr.function in _MATH:
        return f"{expr.function}({', '.join(args)})"
    raise TypeError(f"the function {expr.function} has no C form")


def _fold(function: str, args: list[str]) -> str:
    folded = args[0]
    for arg in args[1:]:
        folded = f"{function}({folded}, {arg})"
    return folded


def _machine(type_: Type) -> str:
    if isinstance(type_, Float):
        return "f64"
    return "u64" if isinstance(type_, Int) and not type_.signed else "i64"
