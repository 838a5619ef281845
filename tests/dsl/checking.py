"""What the tests of the checker share: a program from a few lines, and expressions as short text."""

from __future__ import annotations

from dfc.dsl import typed
from dfc.dsl.codes import PRELUDE
from dfc.dsl.diagnostics import Diagnostics
from dfc.dsl.typecheck import check


def program(text: str, *, prelude: str = PRELUDE, **options) -> typed.Program:
    """The checked program; fails when it has errors."""
    diagnostics = Diagnostics()
    result = check(prelude + text, "program.dfl", diagnostics, **options)
    assert result is not None, [f"{item.code} {item.span} {item.message}" for item in diagnostics.items]
    return result


def codes(text: str, *, prelude: str = PRELUDE, **options) -> list[str]:
    """The codes of the errors, in the order of their places."""
    diagnostics = Diagnostics()
    result = check(prelude + text, "program.dfl", diagnostics, **options)
    assert (result is None) == diagnostics.failed
    return [item.code for item in diagnostics.sorted() if item.severity == "error"]


def shown(node: typed.Expr) -> str:
    """An expression with its casts: `price + f64(size)`."""
    match node:
        case typed.Literal():
            return f"{node.value!r}:{node.type}"
        case typed.FieldRef():
            return node.name if not node.side else f"right.{node.name}"
        case typed.LocalRef():
            return f"${node.name}"
        case typed.Unary():
            return f"({node.op} {shown(node.operand)})"
        case typed.Binary():
            return f"({shown(node.left)} {node.op} {shown(node.right)})"
        case typed.If():
            return f"(if {shown(node.condition)} then {shown(node.then)} else {shown(node.otherwise)})"
        case typed.Cast():
            return f"{node.type}({shown(node.operand)})"
        case typed.Call():
            return f"{node.function}({', '.join(map(shown, node.args))})"
        case typed.Aggregate():
            parts = ([] if node.value is None else [shown(node.value)]) + [str(s) for s in node.settings]
            return f"{node.function}({', '.join([*parts, *map(shown, node.more)])})"
        case typed.WindowBound():
            return f"window_{node.bound}"
        case typed.Element():
            return f"{shown(node.array)}[{shown(node.index)}]"
        case typed.ArrayOf():
            return f"[{', '.join(map(shown, node.elements))}]"
    raise AssertionError(node)


def value(expression: str, *, prelude: str = PRELUDE, before: str = "") -> str:
    """An expression over `quotes` with its casts and its type, as a `map` sees it."""
    step = program(f"{before}\nstream s = quotes |> map {{ x: {expression} }}", prelude=prelude).step("s")
    expr = step.body.construct.values[0]
    return f"{shown(expr)} : {expr.type}"
