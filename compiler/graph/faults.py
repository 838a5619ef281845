"""Which expressions can count a fault: division by zero, an index outside."""

from __future__ import annotations

from ...dsl import typed
from ...dsl.typed_walk import walk
from ...dsl.types import Float


def can_fault(program: typed.Program, expr: typed.Expr) -> bool:
    """Whether something in it can."""
    return any(faults_itself(program, part) for part in walk(expr))


def faults_itself(program: typed.Program, part: typed.Expr) -> bool:
    """Whether its own operation can, whatever its operands do. A function in C has no faults."""
    match part:
        case typed.Binary(op="/" | "%", right=right):
            return not isinstance(right.type, Float) and not (isinstance(right, typed.Literal) and right.value > 0)
        case typed.Element(index=index):
            return not (isinstance(index, typed.Literal) and 0 <= index.value < part.array.type.size)
        case typed.Call(user=True):
            body = next(function.body for function in program.functions if function.name == part.function)
            return not isinstance(body, typed.CFunction) and can_fault(program, body)
    return False
