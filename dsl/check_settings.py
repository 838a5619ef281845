"""Settings blocks: known names, values of the right kind, folded to plain Python values.

Durations become nanoseconds, rates per second, frequencies hertz, sizes bytes; a range becomes a pair, or a
triple when it has a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from . import ast, typed
from .check_expressions import check_expression
from .check_paths import check_path
from .context import Context, unknown
from .conversions import nanoseconds
from .diagnostics import Note
from .mistake import Mistake, is_wrong
from .scope import Scope
from .settings import Setting
from .suggest import listing, nearest
from .types import BOOL, SYMBOL, UNIT_NS, Duration, is_number

Value = int | float | bool | str | tuple

# kind → (what it is called, an example of the unit to add)
_MEASURES = {"duration": ("a length of time", "ms"), "rate": ("a rate", "/s"), "frequency": ("a frequency", "GHz"),
             "size": ("a size", "MiB"), "bandwidth": ("a bandwidth", "MB/s")}
_MEASURE_OF = {"time": "duration"}
_WORDS = {"int": "a whole number", "number": "a number", "ratio": "a number from 0 to 1", "bool": "true or false",
          "text": "a string"}


def check_settings(context: Context, settings: Iterable[ast.Setting], known: Mapping[str, Setting],
                   where: str) -> tuple[tuple[str, object], ...]:
    """The settings that are right, in the order they were written."""
    first: dict[str, ast.Setting] = {}
    result: list[tuple[str, object]] = []
    for setting in settings:
        with context.reporting():
            _once(setting, first)
            if setting.name.text not in known:
                raise unknown("E0400", setting.name.span, "setting", setting.name.text, sorted(known), where=where)
            value = setting_value(context, setting.value, known[setting.name.text], f"`{setting.name}`")
            if value is not None:
                result.append((setting.name.text, value))
    return tuple(result)


def _once(setting: ast.Setting, first: dict[str, ast.Setting]) -> None:
    before = first.setdefault(setting.name.text, setting)
    if before is not setting:
        raise Mistake("E0401", setting.name.span, f"`{setting.name}` is set twice",
                      notes=(Note("first here", before.name.span),))


def setting_value(context: Context, node: ast.Expr | ast.Range, setting: Setting, what: str) -> Value | None:
    """The value of a setting; None after a mistake in it was reported."""
    if isinstance(node, ast.Range):
        return _range(context, node, setting, what)
    if setting.kind == "word":
        return _word(node, setting, what)
    return _single(context, node, setting, what)


def _word(node: ast.Expr, setting: Setting, what: str) -> str:
    if isinstance(node, ast.Name | ast.StringLiteral):
        word = node.name if isinstance(node, ast.Name) else node.value
        if not setting.choices or word in setting.choices:
            return word
        raise Mistake("E0402", node.span, f"{what} has no choice `{word}`", expected=listing(setting.choices),
                      fix=nearest(word, setting.choices))
    raise Mistake("E0402", node.span, f"{what} is a word", expected=listing(setting.choices) or "a name")


def _range(context: Context, node: ast.Range, setting: Setting, what: str) -> Value | None:
    if not setting.span:
        raise Mistake("E0402", node.span, f"{what} is one value, not a range", expected=_describe(setting))
    ends = [_single(context, end, setting, what) for end in (node.low, node.high, node.step) if end is not None]
    if None in ends:
        return None
    if ends[0] > ends[1]:
        raise Mistake("E0409", node.span, f"{what} goes from high to low", expected="low..high")
    if node.step is not None and not ends[2] > 0:
        raise Mistake("E0409", node.step.span, f"the step of {what} is {ends[2]}", expected="a step above 0")
    return tuple(ends)


def _single(context: Context, node: ast.Expr, setting: Setting, what: str) -> Value | None:
    if isinstance(node, ast.Measure):
        return _measure(node, setting, what)
    value = check_expression(context, Scope({}), node)
    if is_wrong(value):
        return None
    if not isinstance(value, typed.Literal):
        raise Mistake("E0309", node.span, f"{what} must be known when the program is compiled",
                      expected="a literal, a parameter, or arithmetic on them")
    return _literal(value, node, setting, what)


def _measure(node: ast.Measure, setting: Setting, what: str) -> Value:
    kind = _MEASURE_OF.get(node.kind, node.kind)
    if kind != setting.kind:
        raise Mistake("E0402", node.span, f"{what} is {_describe(setting)}, this is {_MEASURES[kind][0]}",
                      expected=_describe(setting))
    if kind in ("duration", "size") and node.base.denominator != 1:
        unit = "ns" if kind == "duration" else "bytes"
        raise Mistake("E0206", node.span, f"{node.text} is no whole number of {unit}",
                      expected=f"a multiple of 1 {unit}")
    value = _plain(node.base)
    _in_bounds(value, node.text, node, setting, what)
    return value


def _plain(base: Fraction) -> int | float:
    return int(base) if base.denominator == 1 else float(base)


def _literal(value: typed.Literal, node: ast.Expr, setting: Setting, what: str) -> Value:
    if isinstance(value.type, Duration) and setting.kind == "duration":
        length = nanoseconds(value)
        _in_bounds(length, _amount(length, "duration"), node, setting, what)
        return length
    if setting.kind in _MEASURES:
        return _without_unit(value, node, setting, what)
    number = is_number(value.type)
    fits = {"bool": value.type == BOOL, "text": value.type == SYMBOL,
            "int": number and not isinstance(value.value, float)}.get(setting.kind, number)
    if not fits:
        raise Mistake("E0402", node.span, f"{what} is {_describe(setting)}, this is {value.type}",
                      expected=_describe(setting))
    if setting.kind == "text":  # every one of them is a path
        return check_path(value.value, node.span)
    _in_bounds(value.value, str(value.value), node, setting, what)
    return value.value


def _without_unit(value: typed.Literal, node: ast.Expr, setting: Setting, what: str) -> Value:
    """A parameter can't have a unit other than time's, so its number counts as it is; a literal needs its unit."""
    kind, unit = _MEASURES[setting.kind]
    if setting.kind != "duration" and isinstance(node, ast.Name) and is_number(value.type):
        _in_bounds(value.value, str(value.value), node, setting, what)
        return value.value
    literal = isinstance(node, ast.IntLiteral | ast.FloatLiteral) and value.value != 0  # a size of 0 is none
    raise Mistake("E0414", node.span, f"{what} is {kind}, this is {value.type}",
                  expected=f"a number with a unit, such as 1{unit}", around=f"{{}}{unit}" if literal else "")


def _in_bounds(value: float, text: str, node: ast.Expr, setting: Setting, what: str) -> None:
    if setting.kind == "ratio" and not 0 <= value <= 1:
        raise Mistake("E0409", node.span, f"{what} is {text}", expected="a number from 0 to 1")
    for word, bound, kept in (("least", setting.least, setting.least is None or value >= setting.least),
                              ("most", setting.most, setting.most is None or value <= setting.most)):
        if not kept:
            raise Mistake("E0409", node.span, f"{what} is {text}", expected=f"at {word} {_amount(bound, setting.kind)}")


def _amount(value: float, kind: str) -> str:
    """A bound as it would be written, durations in the largest unit in which they are whole."""
    if kind != "duration":
        return f"{value:.12g}" + "Hz" * (kind == "frequency")
    unit = max((name for name, size in UNIT_NS.items() if value % size == 0), key=UNIT_NS.__getitem__)
    return f"{value // UNIT_NS[unit]}{unit}" if value else "0s"


def _describe(setting: Setting) -> str:
    if setting.kind == "word":
        return listing(setting.choices) or "a word"
    return _MEASURES[setting.kind][0] if setting.kind in _MEASURES else _WORDS[setting.kind]
