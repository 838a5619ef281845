"""The runtime as one file: dfrt.h holds its public headers, dfrt.c everything else.

Before: dfrt/include/dfrt/….h, dfrt/src/….c, and `#include <dfrt/record.h>` in generated code and the user's.
After:  dfrt.h, dfrt.c, and `#include "dfrt.h"`.

Names that two files keep to themselves would meet in one file; they get the file's name in front while it lasts.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping

Tree = dict[str, bytes]

_PUBLIC = "dfrt/include/"
_OWN_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([\w./-]+)[>"].*$')
_DFRT_INCLUDE = re.compile(rb'^([ \t]*#[ \t]*include[ \t]*)[<"]dfrt/\w+\.h[>"]', re.MULTILINE)
_OPENS, _CLOSES = re.compile(r"^\s*#\s*if"), re.compile(r"^\s*#\s*endif")
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_ENUM = re.compile(r"^(?:typedef )?enum(?: \w+)? \{(.*?)\}", re.MULTILINE | re.DOTALL)
_WRAPPED = re.compile(r"\b(?:_Atomic|_Alignas)\(([^()]*)\)")
_ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\s*|\b_Noreturn\s+")
_CONSTANTS = re.compile(r"^static const \w+ (\w+ = [^;{]*);", re.MULTILINE)  # several in one line
_FILE_SCOPE = (
    re.compile(r"^static [^;={(]*?\b(\w+)(?:\[[^\]]*\])*\s*(?:\(|=|;)", re.MULTILINE),
    re.compile(r"^typedef [^;{]*?\b(\w+);", re.MULTILINE),
    re.compile(r"^\} (\w+);", re.MULTILINE),
    re.compile(r"^(?:typedef )?(?:struct|union|enum) (\w+) \{", re.MULTILINE),
)


def amalgamated(tree: Mapping[str, bytes]) -> Tree:
    """The same folder with the runtime in two files."""
    runtime = {name: data.decode() for name, data in tree.items() if name.startswith("dfrt/")}
    others = {name: _DFRT_INCLUDE.sub(rb'\1"dfrt.h"', data) for name, data in tree.items() if name not in runtime}
    ours = {"dfrt.h": _header(runtime).encode(), "dfrt.c": _source(runtime).encode()}
    return dict(sorted({**others, **ours}.items()))


def _header(runtime: Mapping[str, str]) -> str:
    text = _flat(_in_order(runtime, (name for name in runtime if name.startswith(_PUBLIC))), runtime)
    return ("/* The runtime of dfc: its headers in one file. Written by dfc; changes are lost. */\n"
            f"#ifndef DFRT_H\n#define DFRT_H\n\n{text}\n#endif\n")


def _source(runtime: Mapping[str, str]) -> str:
    internal = _in_order(runtime, (n for n in runtime if n.endswith(".h") and not n.startswith(_PUBLIC)))
    files = [name for name in runtime if name.endswith(".c")]
    seen = Counter(name for file in files for name in _own_names(runtime[file]))
    system = dict.fromkeys(line for file in files for line in _system_includes(runtime[file], file, runtime))
    parts = ["/* The runtime of dfc in one file. Written by dfc; changes are lost. */\n#define _GNU_SOURCE",
             "\n".join(system), '#include "dfrt.h"', _flat(internal, runtime)]
    parts += [_part(file, runtime, sorted(n for n in _own_names(runtime[file]) if seen[n] > 1)) for file in files]
    return "\n\n".join(parts) + "\n"


def _part(file: str, runtime: Mapping[str, str], clashing: Iterable[str]) -> str:
    """One source file, its names that clash renamed, its macros forgotten at the end."""
    stem = os.path.basename(file).removesuffix(".c")
    text = "\n".join(line for line in _without_includes(runtime[file], file, runtime) if line != "#define _GNU_SOURCE")
    renamed = [f"#define {name} dfrt__{stem}_{name}" for name in clashing]
    forgotten = [f"#undef {name}" for name in (*clashing, *dict.fromkeys(_MACRO.findall(text)))]
    return "\n".join([f"/* ==== {file.removeprefix('dfrt/')} ==== */", *renamed, text.strip("\n"), *forgotten])


def _own_names(text: str) -> set[str]:
    """What a source file declares for itself at file scope, macros aside."""
    text = _ATTRIBUTE.sub("", _WRAPPED.sub(r"\1", text))
    found = {match for pattern in _FILE_SCOPE for match in pattern.findall(text)}
    for words in (*_ENUM.findall(text), *_CONSTANTS.findall(text)):
        found |= set(re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"/\*.*?\*/", "", words, flags=re.DOTALL)))
    return {name for name in found if not name.startswith(("dfrt_", "_"))}


# --- includes ---------------------------------------------------------------------------------------


def _found(name: str, file: str, runtime: Mapping[str, str]) -> str | None:
    """The runtime's file that `file` includes by this name; None: a header of the system."""
    places = (os.path.normpath(os.path.join(os.path.dirname(file), name)), f"{_PUBLIC}{name}", f"dfrt/{name}")
    return next((place for place in places if place in runtime), None)


def _in_order(runtime: Mapping[str, str], wanted: Iterable[str]) -> list[str]:
    """Headers so that each stands behind those that it includes."""
    wanted, done = list(wanted), []

    def visit(file: str) -> None:
        if file in done or file not in wanted:
            return
        for line in runtime[file].splitlines():
            match = _OWN_INCLUDE.match(line)
            if match and (other := _found(match[1], file, runtime)):
                visit(other)
        done.append(file)

    for file in wanted:
        visit(file)
    return done


def _flat(files: Iterable[str], runtime: Mapping[str, str]) -> str:
    """Headers one after the other; what they include of the runtime stands before them already."""
    return "\n".join("\n".join(line for line in runtime[file].splitlines() if not _is_own(line, file, runtime))
                     for file in files)


def _is_own(line: str, file: str, runtime: Mapping[str, str]) -> bool:
    match = _OWN_INCLUDE.match(line)
    return match is not None and _found(match[1], file, runtime) is not None


def _unconditional(text: str) -> list[tuple[str, bool]]:
    """Each line, and whether no #if surrounds it."""
    depth, found = 0, []
    for line in text.splitlines():
        depth -= bool(_CLOSES.match(line))
        found.append((line, depth == 0))
        depth += bool(_OPENS.match(line))
    return found


def _system_includes(text: str, file: str, runtime: Mapping[str, str]) -> list[str]:
    """They stand before everything: no name of ours may be a macro when a system header is read."""
    return [line for line, always in _unconditional(text)
            if always and _OWN_INCLUDE.match(line) and not _is_own(line, file, runtime)]


def _without_includes(text: str, file: str, runtime: Mapping[str, str]) -> list[str]:
    return [line for line, always in _unconditional(text)
            if not (_OWN_INCLUDE.match(line) and (always or _is_own(line, file, runtime)))]
