"""What a program can say but can't run yet. The code generator and the interpreter ask the same question."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.codes import Code
from ...dsl.diagnostics import Diagnostic, Diagnostics, ProgramError
from ...dsl.span import Span
from ...dsl.types import Array
from .walk import called_functions, expressions_of, walk

RUNNABLE_CODES: dict[str, Code] = {
    "E0801": Code("delta windows do not run yet",
                  "A delta window closes when a value has moved by a threshold. The checker knows it, the "
                  "compiler can't run it yet.",
                  "|> window delta 0.5 of price", "|> window time 1s"),
    "E0802": Code("windows on every tuple do not run yet",
                  "A window `every tuple` gives a result at each tuple. For counts, `slide 1 partial` gives the same.",
                  "|> window count 100 every tuple", "|> window count 100 slide 1 partial"),
    "E0803": Code("processing time does not run yet",
                  "Windows and sources go by event time only, so that a run can be repeated.",
                  "source q: Quote = csv(\"q.csv\") processing time", "source q: Quote = csv(\"q.csv\") event time ts"),
    "E0804": Code("aggregates of the program do not run yet",
                  "An `aggregate` with lift, combine and lower is checked, but only built-in aggregates run.",
                  "|> aggregate { g: geomean(price) }", "|> aggregate { g: avg(log(price)) } |> map { g: exp(g) }"),
    "E0805": Code("update does not run yet",
                  "User-defined state is checked but can't run yet. Running aggregates are what `scan` computes.",
                  "|> update { n: i64 = 0 } with { n: n + 1 } emit { n }", "|> scan { n: count() }"),
    "E0806": Code("broadcast does not run yet",
                  "A slow stream can't be given to every tuple of a fast one yet.",
                  "|> broadcast rates { … }", "|> join rates by currency within 1h { … }"),
    "E0807": Code("operators with ports do not run yet",
                  "An operator has one output when it runs. `split` divides a stream by predicates.",
                  "operator route on s -> { good: A, bad: B } { … }", "split s into good when ok, bad otherwise"),
    "E0808": Code("arrays do not run yet",
                  "Fields of fixed arrays are checked but can't run yet.",
                  "record R { v: f64[2] }", "record R { v0: f64, v1: f64 }"),
    "E0809": Code("functions in C do not run yet",
                  "A `fn` with a C body is checked but can't be called yet; an alternate of an operator can be in C.",
                  "fn f(x: f64) -> f64 = c(\"f.c\", \"f\")", "fn f(x: f64) -> f64 = x * 2.0"),
    "E0810": Code("patterns can't be forced yet",
                  "The compiler chooses the pattern; `pattern auto` says so.",
                  "operator a on s … pattern farm -> R { … }", "operator a on s … pattern auto -> R { … }"),
    "E0811": Code("the interpreter has no sockets",
                  "The reference interpreter reads and writes files. The compiled program runs with tcp and unix.",
                  "source q: Quote = tcp(\"localhost:9000\")", "source q: Quote = csv(\"-\")"),
    "E0812": Code("expiry of idle keys does not run yet",
                  "The state of a key is kept as long as its windows need it.",
                  "operator a on s by k … expire after 10min -> R { … }", "operator a on s by k … -> R { … }"),
    "E0813": Code("the interpreter has no C code to call",
                  "The reference interpreter calls functions in C through a library compiled from them. Without "
                  "it, choose an alternate that is written in the language.",
                  "alternate a value 1.0 = c(\"a.c\", \"a\")", "alternate a value 1.0 = { mean: avg(x) }"),
}


class NotRunnable(ProgramError):
    """The program is right, but says something that can't run yet."""


def unsupported(program: typed.Program) -> list[Diagnostic]:
    """Everything in a program that can't run yet, in the order it stands."""
    found = Diagnostics()
    for step in program.steps:
        for code, span, what in _of_step(program, step):
            found.add(code, span, f"{what}: {RUNNABLE_CODES[code].title}", expected=RUNNABLE_CODES[code].right)
    return found.sorted()


def require_runnable(program: typed.Program) -> None:
    diagnostics = Diagnostics(unsupported(program))
    if diagnostics.items:
        raise NotRunnable(diagnostics)


def no_user_c(what: str, span: Span) -> NotRunnable:
    """For the interpreter, when it was given no compiled C."""
    found = Diagnostics()
    found.add("E0813", span, f"{what}: {RUNNABLE_CODES['E0813'].title}",
              expected=RUNNABLE_CODES["E0813"].right)
    return NotRunnable(found)


def no_sockets(connector: typed.Connector) -> NotRunnable:
    """For the interpreter, which works on files."""
    found = Diagnostics()
    found.add("E0811", connector.span, f"`{connector.kind}`: {RUNNABLE_CODES['E0811'].title}",
              expected=RUNNABLE_CODES["E0811"].right)
    return NotRunnable(found)


def _of_step(program: typed.Program, step: typed.Step) -> Iterator[tuple]:
    """(code, span, what it is about) for each thing in a step that can't run."""
    body = step.body
    if isinstance(body, typed.Source) and body.processing_time:
        yield "E0803", step.span, f"`{step.name}`"
    if isinstance(body, typed.Operator):
        yield from _of_operator(step)
    if isinstance(body, typed.Update):
        yield "E0805", step.span, f"`{step.name}`"
    if isinstance(body, typed.Broadcast):
        yield "E0806", step.span, f"`{step.name}`"
    if isinstance(body, typed.Source) and any(isinstance(one.type, Array) for one in step.record.fields):
        yield "E0808", step.span, f"record {step.record}"
    yield from _of_expressions(program, step)


def _of_operator(step: typed.Step) -> Iterator[tuple]:
    body, window, name = step.body, step.body.window, f"`{step.name}`"
    if isinstance(window, typed.DeltaWindow):
        yield "E0801", window.span, name
    elif window is not None and getattr(window, "every_tuple", False):
        yield "E0802", window.span, name
    elif window is not None and getattr(window, "processing", False):
        yield "E0803", window.span, name
    if body.ports:
        yield "E0807", step.span, name
    if body.pattern is not None and body.pattern[0] != "auto":
        yield "E0810", step.span, f"`{body.pattern[0]}`"
    if body.expire_after is not None:
        yield "E0812", step.span, name


def _of_expressions(program: typed.Program, step: typed.Step) -> Iterator[tuple]:
    for expr in expressions_of(step.body):
        for node in walk(expr):
            if isinstance(node, typed.Aggregate) and node.user:
                yield "E0804", node.span, f"`{node.function}`"
            elif isinstance(node, typed.Element | typed.ArrayOf):
                yield "E0808", node.span, "this array"
    bodies = {function.name: function.body for function in program.functions}
    for name, call in called_functions(program, step).items():
        if isinstance(bodies[name], typed.CFunction):
            yield "E0809", call.span, f"`{name}`"
