"""Patterns that the program or the command line asks for: read, and compared with what applies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...dsl import typed
from ...dsl.diagnostics import Diagnostics
from ...dsl.settings import PATTERNS as SETTINGS
from ...dsl.span import Span
from ...dsl.suggest import listing, nearest
from ..artifacts.step_text import kind_of
from . import PATTERNS
from .function import Function, function_of

OPTION = "--pattern"  # the name under which messages show the words of the command line
_DIVISIBLE = (typed.Operator, typed.Scan, typed.Update, typed.Join, typed.Filter, typed.Map, typed.FlatMap,
              typed.Branch)
_DEGREES = {"pane_farming": ("workers", "merge_workers"), "nesting": ("workers", "inner_workers")}


class _Wrong(Exception):
    """Message, what was expected, a fix."""


def forced_patterns(program: typed.Program, words: Iterable[str], diagnostics: Diagnostics) -> dict[str, typed.Pattern]:
    """Which step must have which pattern; the command line counts more than the program. `auto` forces nothing."""
    found = {step.name: step.body.pattern for step in program.steps
             if isinstance(step.body, typed.Operator) and step.body.pattern is not None}
    for line, word in enumerate(words, 1):
        span = Span(OPTION, line, 1, line, len(word) + 1)
        try:
            operator, pattern = _read(word, span, program)
            found[operator] = pattern
        except _Wrong as wrong:
            message, expected, fix = wrong.args
            diagnostics.add("E0502", span, message, expected=expected, fix=fix)
    return {name: pattern for name, pattern in found.items() if pattern.name != "auto"}


def can_have_pattern(step: typed.Step) -> bool:
    """Whether its tuples, keys or windows could be divided among workers at all."""
    return isinstance(step.body, _DIVISIBLE)


def _read(word: str, span: Span, program: typed.Program) -> tuple[str, typed.Pattern]:
    """`predict=pane_farming:3,2`."""
    operator, equals, rest = word.partition("=")
    name, _, settings = rest.partition(":")
    if not equals:
        raise _Wrong(f"`{word}` is not OPERATOR=PATTERN", "predict=pane_farming:3,2", "")
    names = [step.name for step in program.steps if can_have_pattern(step)]
    if operator not in names:
        other = next((step for step in program.steps if step.name == operator), None)
        what = f"there is no operator or step `{operator}`" if other is None else \
            f"`{operator}` can't have a pattern: it is a {kind_of(other.body)}"
        raise _Wrong(what, listing(names) or "an operator of the program", nearest(operator, names) or "")
    if name not in SETTINGS:
        raise _Wrong(f"there is no pattern `{name}`", listing(list(SETTINGS)), nearest(name, list(SETTINGS)) or "")
    values: dict[str, object] = {}
    for setting, value in _settings(name, settings.split(",")) if settings else ():
        if setting in values:
            raise _Wrong(f"`{setting}` is given twice: {values[setting]} and {value}",
                         "each setting once, by its place or by its name", "")
        values[setting] = value
    return operator, typed.Pattern(name, span, **values)


def _settings(pattern: str, words: list[str]) -> Iterator[tuple[str, object]]:
    degrees = iter(_DEGREES.get(pattern, ("workers",)))
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            name, value = next(degrees, ""), word
        if name not in SETTINGS[pattern]:
            known = listing(sorted(SETTINGS[pattern])) or "no settings"
            raise _Wrong(f"{pattern} has no setting for `{word}`", known, "")
        yield name, _value(name, value, SETTINGS[pattern][name])


def _value(name: str, text: str, setting) -> object:
    if setting.kind == "word":
        if text not in setting.choices:
            raise _Wrong(f"`{name}` has no choice `{text}`", listing(setting.choices),
                         nearest(text, setting.choices) or "")
        return text
    if not text.isascii() or not text.isdigit() or not setting.least <= int(text) <= setting.most:
        raise _Wrong(f"`{name}` is {text}", f"a whole number from {int(setting.least)} to {int(setting.most)}", "")
    return int(text)


# --- what applies -----------------------------------------------------------------------------------


def why_not(function: Function, pattern: typed.Pattern) -> str | None:
    """Why the pattern, with these settings, can't be used for the function; None when it can."""
    module = PATTERNS[pattern.name]
    refused = module.applies(function)
    if refused is None and hasattr(module, "setting_applies"):
        refused = module.setting_applies(function, pattern)
    return refused


def check_forced(program: typed.Program, forced: Mapping[str, typed.Pattern], diagnostics: Diagnostics) -> None:
    """Reports every forced pattern that does not apply, be it only with its settings."""
    for name, pattern in forced.items():
        function = function_of(program, program.step(name))
        refused, settings = why_not(function, pattern), PATTERNS[pattern.name].applies(function) is None
        if refused is not None:
            one_tuple = pattern.name == "pane_farming" and function.decomposable and function.pane_tuples == 1
            diagnostics.add("E0501" if one_tuple else "E0500", pattern.span,
                            f"`{pattern.name}`{' with these settings' if settings else ''} does not apply to `{name}`: "
                            f"{refused}", expected="other settings, or none: they are chosen then" if settings else
                            f"one of {listing(applicable(function))}, or auto")


def applicable(function: Function) -> list[str]:
    return [name for name, module in PATTERNS.items() if module.applies(function) is None]
