"""The fields of tuples, column by column, by the recipe of dfrt/generate.h: the same draws, the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...dsl.types import UNIT_NS, Array, Bool, Field, Float, Int, Record, Text, Timestamp, is_number, is_string, is_time
from ..interpret.arrays import flat_record
from .keys import Keys
from .settings import WrongSetting
from .splitmix import below, draws, fractions


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a source's fields are made of; `ranges` has (low, high) of those that are drawn from one. `delayed`: a draw
    of every tuple is for its delay."""

    record: Record
    event_time: str | None
    keys: Keys
    ranges: Mapping[str, tuple]
    seed: int
    delayed: bool

    @property
    def columns(self) -> tuple[Field, ...]:
        return flat_record(self.record).fields

    def is_time(self, field: Field) -> bool:
        return field.name == self.event_time or isinstance(field.type, Timestamp) and self.range(field) is None

    def range(self, field: Field) -> tuple | None:
        """The range of an array is that of each of its elements."""
        return self.ranges.get(field.name.partition("[")[0])

    @property
    def draws(self) -> int:
        return self.delayed + sum(not self.is_time(field) for field in self.columns)


def check_keys(recipe: Recipe) -> None:
    """Every key must fit into the fields that are keys."""
    last = recipe.keys.count - 1
    for field in recipe.columns:
        of_keys = not (recipe.is_time(field) or recipe.range(field) or isinstance(field.type, Float | Bool))
        if isinstance(field.type, Text):
            fits = len(f"k{last}") <= field.type.size
        else:
            fits = not isinstance(field.type, Int) or last <= field.type.high
        if of_keys and not fits:
            raise WrongSetting(f"{recipe.keys.count} keys do not fit into field `{field.name}`; give it a range")


def parse_range(record: Record, event_time: str | None, word: str) -> tuple[str, tuple]:
    """`bid=100.0..200.0`: a field that is a number, and its range."""
    name, equals, text = word.partition("=")
    low, dots, high = text.partition("..")
    field = record.field(name)
    element = field and field.type
    while isinstance(element, Array):
        element = element.element
    if not equals or not dots:
        raise WrongSetting(f"`{word}` is not FIELD=LOW..HIGH")
    if field is None or name == event_time or not (is_number(element) or is_time(element)):
        raise WrongSetting(f"`{name}` is no field of {record.name} that is drawn from a range")
    try:
        ends = tuple((float if isinstance(element, Float) else int)(one) for one in (low, high))
    except ValueError:
        raise WrongSetting(f"`{text}` is no range of {element}") from None
    bounds = (element.low, element.high) if isinstance(element, Int) else (-(1 << 63), (1 << 63) - 1)
    if not ends[0] <= ends[1] or not isinstance(element, Float) and not bounds[0] <= ends[0] <= ends[1] <= bounds[1]:
        raise WrongSetting(f"`{text}` is no range of {element}")
    return name, ends


def delay_draws(recipe: Recipe, first: int, count: int) -> np.ndarray:
    return draws(recipe.seed, first * recipe.draws, recipe.draws, count)


def columns(recipe: Recipe, first: int, times: np.ndarray) -> list[np.ndarray]:
    """An array a column, of the tuples from number `first` on, whose times in nanoseconds are these. Strings are their
    keys' numbers."""
    made, draw = [], int(recipe.delayed)
    for field in recipe.columns:
        if recipe.is_time(field):
            made.append(times // UNIT_NS[field.type.unit])
            continue
        drawn = draws(recipe.seed, first * recipe.draws + draw, recipe.draws, len(times))
        made.append(_column(recipe, field, drawn))
        draw += 1
    return made


def _column(recipe: Recipe, field: Field, drawn: np.ndarray) -> np.ndarray:
    span = recipe.range(field)
    if isinstance(field.type, Float):
        low, high = map(float, span or (0.0, 1.0))
        values = low + (high - low) * fractions(drawn)
        return values.astype(np.float32) if field.type.bits == 32 else values
    if isinstance(field.type, Bool):
        return drawn >> np.uint64(63)
    if span and not is_string(field.type):
        low, high = map(int, span)
        return _as(np.uint64(low & (1 << 64) - 1) + below(drawn, high - low + 1), field)
    return _as(recipe.keys.of(drawn), field)


def _as(values: np.ndarray, field: Field) -> np.ndarray:
    """In the field's own type; 64-bit arithmetic wraps."""
    unsigned = isinstance(field.type, Int) and not field.type.signed or is_string(field.type)
    return values if unsigned else values.view(np.int64)
