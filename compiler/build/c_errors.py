"""What the C compiler said, as diagnostics at the line of the .dfl or .c file that the user wrote.

Generated C says `#line 12 "app.dfl"` around user expressions, and the user's C is compiled from a copy, so most
messages already name a file of the user; the rest is a mistake of dfc.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dfc.compiler.artifacts.bundle import Bundle
from dfc.dsl.diagnostics import Diagnostics, Note
from dfc.dsl.span import Span

from .mentions import in_c, in_program, text_of
from .user_code import user_files

USER_C, TAKEN, INTERNAL = "E0901", "E0904", "E0999"
_MESSAGE = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? "
                      r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)$")
_UNDEFINED = re.compile(r"undefined (?:reference to|symbol:?) [`'\"]?(?P<name>\w+)")
_TWICE = re.compile(r"(?:conflicting types for|multiple definition of|redefinition of|incompatible redeclaration of "
                    r"library function|duplicate symbol:?) [`'\"]?(?P<name>\w+)|'(?P<other>\w+)' redeclared")
_OPTION = re.compile(r" \[-W[^\]]*\]$")
_WORD = re.compile(r"\w+|.")


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the compiler, with the notes that follow it."""

    file: str
    line: int
    column: int
    kind: str
    text: str
    notes: tuple[Said, ...] = ()


def add_c_errors(output: str, bundle: Bundle, diagnostics: Diagnostics, warnings_only: bool = False) -> None:
    """Adds a diagnostic for every message about the user's files; if no error was one, dfc itself is to blame.

    Beside errors warnings are left out: most of them follow from the errors.
    """
    origins, kind = _origins(bundle), "warning" if warnings_only else "error"
    for said in parse(output):
        if said.file in origins and said.kind == kind:
            _add(said, origins, diagnostics)
    if not warnings_only and not diagnostics.failed:
        _add_unplaced(output, bundle, diagnostics)


def parse(output: str) -> list[Said]:
    """The errors and warnings in order, each once: a header that two files include speaks twice."""
    found: list[Said] = []
    for match in filter(None, map(_MESSAGE.match, output.splitlines())):
        said = _said(match)
        if said.kind == "note":
            found[-1:] = [_with_note(last, said) for last in found[-1:]]
        else:
            found.append(said)
    return list(dict.fromkeys(found))


def _said(match: re.Match[str]) -> Said:
    kind = "error" if match["kind"] == "fatal error" else match["kind"]
    file = os.path.normpath(match["file"])
    return Said(file, int(match["line"]), int(match["column"] or 1), kind, _OPTION.sub("", match["text"]))


def _with_note(said: Said, note: Said) -> Said:
    return Said(said.file, said.line, said.column, said.kind, said.text, (*said.notes, note))


def _origins(bundle: Bundle) -> dict[str, str]:
    """The names that the compiler uses → the paths that the user knows."""
    texts = [path for path in bundle.inputs if path.endswith(".dfl")]
    programs = {name: path for path in texts for name in (path, os.path.basename(path))}
    return programs | {copied: os.path.relpath(path) for copied, path in user_files(bundle).items()}


def _add(said: Said, origins: Mapping[str, str], diagnostics: Diagnostics) -> None:
    notes = tuple(Note(note.text, _span(note, origins)) for note in said.notes if note.file in origins)
    diagnostics.add(USER_C, _span(said, origins), f"the C compiler says: {said.text}", notes=notes, severity=said.kind)


def _span(said: Said, origins: Mapping[str, str]) -> Span:
    """The word at the place; in a .dfl the whole line, since the column belongs to the generated C."""
    path = origins[said.file]
    line = _line(path, said.line)
    if path.endswith(".dfl"):
        start = len(line) - len(line.lstrip()) + 1
        return Span(path, said.line, start, said.line, max(start + 1, len(line.rstrip()) + 1))
    word = _WORD.match(line, said.column - 1)
    return Span(path, said.line, said.column, said.line, (word.end() if word else said.column) + 1)


def _line(path: str, number: int) -> str:
    lines = text_of(path).split("\n")
    return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


def _add_unplaced(output: str, bundle: Bundle, diagnostics: Diagnostics) -> None:
    """What the user's C calls and nobody defines, or has a name that is taken, is the user's; the rest is ours."""
    for name in dict.fromkeys(match["name"] for match in _UNDEFINED.finditer(output)):
        _add_undefined(name, bundle, diagnostics)
    for name in dict.fromkeys(match["name"] or match["other"] for match in _TWICE.finditer(output)):
        span = in_program(name, bundle) or in_c(name, bundle)
        if span:
            diagnostics.add(TAKEN, span, f"the name `{name}` is taken: something else that is compiled or linked with "
                            "the program has it", expected="another name, or `static` for what only its file calls")
    if not diagnostics.failed:
        first = next((line for line in output.splitlines() if "error" in line or "undefined" in line), output.strip())
        blame = Note("this is a mistake in dfc, not in your program; please report it with the program")
        diagnostics.add(INTERNAL, Span(_program(bundle), 1, 1, 1, 1), f"the generated C does not compile: {first}",
                        notes=(blame,))


def _add_undefined(name: str, bundle: Bundle, diagnostics: Diagnostics) -> None:
    named, used = in_program(name, bundle), in_c(name, bundle)
    if named:
        diagnostics.add(USER_C, named, f"no C file of the program defines the function `{name}`",
                        expected="a function of that name, not `static`, as the generated header declares it")
    elif used:
        diagnostics.add(USER_C, used, f"no C file of the program defines `{name}`",
                        expected="a definition in a file that the program names with `c(…)`, or one that it includes")


def _program(bundle: Bundle) -> str:
    return bundle.inputs[0] if bundle.inputs else bundle.app
