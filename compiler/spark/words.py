"""The words behind `--` that a program takes on the command line, as far as they mean something on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dfc.compiler.failure import Usage


@dataclass
class Words:
    sources: dict[str, str] = field(default_factory=dict)
    sinks: dict[str, str] = field(default_factory=dict)
    alternates: list[tuple[str, str]] = field(default_factory=list)
    report_limit: int = 10
    max_row: int = 0
    options: dict[str, dict[str, str]] = field(default_factory=dict)  # of Spark, by source; for streams


def read_words(given: Sequence[str]) -> Words:
    found, rest = Words(), list(given)
    while rest:
        option, equals, value = rest.pop(0).partition("=") if rest[0].startswith("--") else (rest.pop(0), "", "")
        if option not in ("--source", "--sink", "--alternate", "--report", "--max-row", "--option"):
            raise Usage(f"the program's option {option} means nothing with --engine spark; there are --source, --sink, "
                        "--alternate, --report, --max-row and, with --stream, --option")
        if not equals:
            if not rest:
                raise Usage(f"{option} needs a value")
            value = rest.pop(0)
        _take(found, option, value)
    return found


def _take(found: Words, option: str, value: str) -> None:
    if option in ("--report", "--max-row"):
        if not value.isascii() or not value.isdigit():
            raise Usage(f"{option}: `{value}` is not a whole number")
        if option == "--report":
            found.report_limit = int(value)
        else:
            found.max_row = int(value)
        return
    name, equals, rest = value.partition("=")
    if option == "--option":
        source, dot, key = name.partition(".")
        if not equals or not dot or not key:
            raise Usage(f"{option}: `{value}` is not SOURCE.KEY=VALUE")
        found.options.setdefault(source, {})[key] = rest
        return
    if not equals or not rest:
        raise Usage(f"{option}: `{value}` is not NAME={'ALTERNATE' if option == '--alternate' else 'CONNECTOR:PATH'}")
    if option == "--alternate":
        found.alternates.append((name, rest))
    else:
        (found.sources if option == "--source" else found.sinks)[name] = rest


def require_known(found: Words, sources: Sequence[str], sinks: Sequence[str],
                  alternates: Sequence[tuple[str, tuple[str, ...]]]) -> None:
    for what, given, known in (("source", found.sources, sources), ("sink", found.sinks, sinks)):
        for name in given:
            if name not in known:
                raise Usage(f"--{what}: the program has no {what} `{name}`; there is {', '.join(known)}")
    for operator, alternate in found.alternates:
        names = dict(alternates).get(operator, ())
        if alternate not in names:
            raise Usage(f"--alternate: there is no alternate `{alternate}` of `{operator}`"
                        + (f"; there is {', '.join(names)}" if names else ""))
