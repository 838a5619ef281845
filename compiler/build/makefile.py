"""The Makefile of the output folder, with which the program is built where there is no dfc."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable

from .depfile import escape
from .toolchain import CHOSEN_FLAGS, INCLUDES, LINK_FLAGS, NEEDED_FLAGS, target_flags

_TEXT = """\
# Builds {app} from the C in this folder: a C compiler and make are enough.
CC ?= cc
CFLAGS ?= {chosen}
NEEDED = {needed}
OBJECTS = {objects}
HEADERS = {headers}

{app}: $(OBJECTS)
\t$(CC) $(NEEDED) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) {link}

%.o: %.c $(HEADERS)
\t$(CC) $(NEEDED) $(CFLAGS) $(CPPFLAGS) {includes} -c -o $@ $<

{rules}clean:
\trm -f $(OBJECTS) {app}

.PHONY: clean
"""


def makefile(app: str, names: Iterable[str], target: str) -> str:
    """`names` are the files of the folder; a native build says so in CFLAGS, where whoever runs make can change it."""
    names = tuple(names)
    chosen = (*CHOSEN_FLAGS, *target_flags(target))
    sources = [name for name in names if name.endswith(".c")]
    odd = {name: f"odd_{number}.o" for number, name in enumerate(filter(_is_odd, sources), 1)}
    objects = (odd.get(name) or name.removesuffix(".c") + ".o" for name in sources)
    headers = (escape(name) for name in names if name.endswith(".h") and not set(name) & set("\n;%"))
    return _TEXT.format(app=app, objects=_list(objects), headers=_list(headers), chosen=" ".join(chosen),
                        needed=" ".join(NEEDED_FLAGS), link=" ".join(LINK_FLAGS), includes=" ".join(INCLUDES),
                        rules="".join(_rule(name, made) for name, made in odd.items()))


def _is_odd(name: str) -> bool:
    """Whether a name means something to make or to the shell; the user's C may be called anything."""
    return re.search(r"[^\w./+-]", name, re.ASCII) is not None


def _rule(name: str, made: str) -> str:
    """make can't depend on a name with a line end or `;`, but the shell can hand it to the compiler."""
    if "\n" in name:
        text = shlex.quote(name.replace("\\", "\\\\").replace("\n", "\\n"))
        needs, word = "", f'"$(printf %b {text})"'
    else:
        needs, word = "" if ";" in name else f" {escape(name)}", shlex.quote(name)
    compile_ = f"$(CC) $(NEEDED) $(CFLAGS) $(CPPFLAGS) {' '.join(INCLUDES)} -c -o $@"
    return f"{made}:{needs} $(HEADERS)\n\t{compile_} {word.replace('$', '$$')}\n\n"


def _list(names: Iterable[str]) -> str:
    return " \\\n  ".join(names)
