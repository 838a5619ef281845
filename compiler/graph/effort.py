"""Whether an expression is worth giving to another thread, as far as its text tells.

A few operations take about as long as putting a value away. A function that is no instruction of the processor takes
more, and of one in C nobody knows how much.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.typed_walk import walk

_FEW = 8
_QUICK = {"abs", "least", "greatest", "floor", "ceil", "round", "trunc", "sqrt", "is_nan", "length"}


def takes_long(program: typed.Program, *exprs: typed.Expr) -> bool:
    """Whether they are more than a few operations together, or call something."""
    left = _FEW
    for operations in (one for expr in exprs for one in _operations(program, expr)):
        left -= operations
        if left < 0:
            return True
    return False


def _operations(program: typed.Program, expr: typed.Expr) -> Iterator[int]:
    for part in walk(expr):
        match part:
            case typed.Literal() | typed.FieldRef() | typed.LocalRef():
                continue
            case typed.Call(user=True):
                body = next(function.body for function in program.functions if function.name == part.function)
                yield _FEW + 1 if isinstance(body, typed.CFunction) else 1
                if not isinstance(body, typed.CFunction):
                    yield from _operations(program, body)
            case typed.Call() if part.function not in _QUICK:
                yield _FEW + 1
            case _:
                yield 1
