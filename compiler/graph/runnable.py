"""What a program can say but can't run yet. The code generator and the interpreter ask the same question."""

from __future__ import annotations

from collections.abc import Iterator

from ...dsl import typed
from ...dsl.codes import Code
from ...dsl.diagnostics import Diagnostic, Diagnostics, ProgramError
from ...dsl.span import Span

RUNNABLE_CODES: dict[str, Code] = {
    "E0803": Code("a window can't have a time of its own",
                  "Processing time belongs to the source: its tuples take the clock's time when they are read, and "
                  "every window after it goes by that. A window can't choose it for a stream that has event time.",
                  "|> window time 1s processing", "source q: Quote = csv(\"-\") processing time"),
    "E0811": Code("the interpreter has no sockets",
                  "The reference interpreter reads and writes files. The compiled program runs with tcp and unix.",
                  "source q: Quote = tcp(\"localhost:9000\")", "source q: Quote = csv(\"-\")"),
    "E0812": Code("this control policy is not there yet",
                  "`pid` and `fuzzy` divide the panes of a window; no program has a part that they could act on yet.",
                  "control pid", "control auto"),
    "E0813": Code("the interpreter has no C code to call",
                  "The reference interpreter calls functions in C through a library compiled from them. Without "
                  "it, choose an alternate that is written in the language.",
                  "alternate a value 1.0 = c(\"a.c\", \"a\")", "alternate a value 1.0 = { mean: avg(x) }"),
    "E0814": Code("this state can't be saved",
                  "A stream on Spark keeps what the program remembers in checkpoints. The state of an aggregate in C "
                  "is known to C only, and with processing time what a window holds depends on when it was read. "
                  "Without `--stream` the program runs; so does it natively.",
                  "aggregate spread(x: f64) -> f64 = c(\"spread.c\", \"spread\")    // and dfc run --stream",
                  "aggregate spread(x: f64) -> f64 { … }"),
}


_NO_POLICY = ("pid", "fuzzy")


class NotRunnable(ProgramError):
    """The program is right, but says something that can't run yet."""


def unsupported(program: typed.Program) -> list[Diagnostic]:
    """Everything in a program that can't run yet, in the order it stands."""
    found = Diagnostics()
    for step in program.steps:
        for code, span, what in _of_step(program, step):
            found.add(code, span, f"{what}: {RUNNABLE_CODES[code].title}", expected=RUNNABLE_CODES[code].right)
    for control in program.controls:
        if control.policy in _NO_POLICY:
            found.add("E0812", control.span, f"`{control.policy}`: {RUNNABLE_CODES['E0812'].title}",
                      expected=RUNNABLE_CODES["E0812"].right)
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
    if not isinstance(step.body, typed.Operator):
        return
    window = step.body.window
    if getattr(window, "processing", False) and not _by_the_clock(program, step):
        yield "E0803", window.span, f"`{step.name}`"


def _by_the_clock(program: typed.Program, step: typed.Step) -> bool:
    """Whether all sources that reach the step go by processing time."""
    before = [program.step(name) for name in step.inputs]
    if isinstance(step.body, typed.Source):
        return step.body.processing_time
    return all(_by_the_clock(program, one) for one in before)
